"""How large rows are, in all that bounds a batch, and which rows make the next batch.

Rows of one length that are `enough` by themselves go without shorter company: nothing is computed in vain, and the sums
inside the model run in the same order whatever the other texts are, so that scores agree the more closely.

Where the model writes logits over a whole vocabulary, a batch has also no more places than `most_places`: at one place
BERT's are 122 KB, many times the states of all its layers there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.models.base import TextModel
from assay.questions.base import Question
from assay.statistics.arrays import Ints


@dataclass(frozen=True)
class RowSizes:
    """Of each row the tokens of a sequence, the sequences, and the places over a vocabulary, where there are any."""

    lengths: Ints
    sequences: Ints
    places: Ints | None
    enough: int
    widening: int
    most_rows: int | None
    most_places: int

    @classmethod
    def of(cls, model: TextModel, kind: type[Question], encoded: Sequence[Any]) -> RowSizes:
        count, sequences = len(encoded), model.sequences(kind, encoded)
        places = model.vocabulary_places(kind, encoded)
        return cls(
            np.fromiter(model.lengths(kind, encoded), np.int64, count),
            np.ones(count, np.int64) if sequences is None else np.fromiter(sequences, np.int64, count),
            None if places is None else np.fromiter(places, np.int64, count),
            model.enough_for(kind),
            model.widening_for(kind),
            model.most_rows,
            0 if places is None else model.most_places,
        )

    def padded(self, batch: Ints) -> Ints:
        """The tokens of each row of a batch, padding included."""
        tokens: Ints = max(1, int(self.lengths[batch[0]])) * self.sequences[batch]
        return tokens

    def next_batch(self, waiting: Ints, budget: int) -> Ints:
        """The rows of the next batch, longest first: as many as fit, at least one."""
        longest = int(self.lengths[waiting[0]])
        size = max(1, self.widening * budget // max(1, longest))
        batch = waiting[: min(size, self.most_rows or size)]
        batch = _within(batch, self.sequences, size)
        if self.places is not None:
            batch = _within(batch, self.places, self.most_places)
        equal = batch[self.lengths[batch] == longest]
        return equal if int(self.sequences[equal].sum()) * longest >= self.enough else batch


def _within(batch: Ints, numbers: Ints, most: int) -> Ints:
    """The first rows whose numbers come to no more than this, at least one."""
    return batch[: max(1, int(np.searchsorted(np.cumsum(numbers[batch]), most, side="right")))]

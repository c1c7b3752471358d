"""What corrected labels change: models trained on the given and on the corrected labels, on the same held-out rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from assay.errors import BadInput
from assay.questions.answers import Predictions
from assay.questions.base import Conversation
from assay.questions.facts import KnownFacts, ModelFacts
from assay.questions.predict import Predict
from assay.questions.train import Train
from assay.statistics.intervals import Estimate, estimate_over_seeds, mean_over_seeds, over_seeds
from assay.text.example import Example
from assay.text.labelled import LabelledTexts
from assay.text.sample import Sample
from assay.text.text import Text
from assay.training.recipes import Recipe


@dataclass(frozen=True)
class Correction:
    """How many rows were looked at, how many labels changed, and whether each held-out row is read rightly.

    `before` and `after` [seeds][rows] are of models trained on the given and on the corrected labels.
    """

    looked_at: int
    changed: int
    as_suggested: int
    before: tuple[tuple[bool, ...], ...]
    after: tuple[tuple[bool, ...], ...]
    model: str  # where the corrected model of the first seed lies

    @property
    def accuracies(self) -> tuple[Estimate, Estimate]:
        """Before and after."""
        return mean_over_seeds(np.array(self.before, dtype=float)), mean_over_seeds(np.array(self.after, dtype=float))

    @property
    def change(self) -> Estimate:
        """After less before, on the same rows; rows and seeds are resampled together."""
        table = np.array(self.after, dtype=float) - np.array(self.before, dtype=float)
        rows = table.shape[1]
        return estimate_over_seeds(rows, len(table), lambda counts, seeds: over_seeds(counts @ table.T / rows, seeds))

    def sentences(self) -> Iterator[str]:
        before, after = self.accuracies
        of = f"Of {self.looked_at:,} rows that were looked at, {self.changed:,} got another label"
        yield f"{of}, {self.as_suggested:,} of them the suggested one."
        shown = f"{after.value:.3f} instead of {before.value:.3f} ({self.change.shown(3, '+')})"
        yield f"Trained with the corrections, accuracy on {before.n:,} held-out rows is {shown}: {self._direction()}."

    def _direction(self) -> str:
        if self.change.few:
            return "too few rows to say"
        return {1: "better", -1: "worse", 0: "no clear change"}[self.change.sign]

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back, with the estimates for who only looks."""
        before, after = map(asdict, self.accuracies)
        return {**asdict(self), "accuracy": {"before": before, "after": after, "change": asdict(self.change)}}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        read: dict[str, Any] = {name: tuple(map(tuple, data[name])) for name in ("before", "after")}
        return cls(**{name: data[name] for name in ("looked_at", "changed", "as_suggested", "model")}, **read)


def corrected(data: LabelledTexts, rows: Sequence[int], labels: Mapping[int, str]) -> Sample:
    """The training set with the corrections; `rows` are the numbers of its texts."""
    if all(labels.get(row, label) == label for row, label in zip(rows, data.labels, strict=True)):
        raise BadInput("every corrected label is the one that was given: there is nothing to train again.")
    changed = zip(data.strings, rows, data.labels, strict=True)
    return sample_of([(strings, labels.get(row, label)) for strings, row, label in changed], "the corrected rows")


def sample_of(rows: Sequence[tuple[tuple[str, ...], str]], name: str) -> Sample:
    """Labelled texts as a sample; two with the same rows train the same model."""
    return Sample.of(
        [Example(str(i), strings, label, position=i) for i, (strings, label) in enumerate(rows)], name=name
    )


def read_rightly(
    how: Recipe, train: Sample, dev: LabelledTexts, seeds: Sequence[int]
) -> Conversation[tuple[list[str], tuple[tuple[bool, ...], ...]]]:
    """The names of the models, one a seed, and which of the held-out rows each reads as they are labelled."""
    names, right = [], []
    for seed in seeds:
        name: str = yield Train(how, train, seed=seed)
        facts: KnownFacts = yield ModelFacts().sent_to(name)
        answers: Predictions = yield Predict(*map(Text.of, dev.texts)).sent_to(name)
        found = [facts.labels[i] for i in answers.argmax().tolist()]
        right.append(tuple(one == label for one, label in zip(found, dev.labels, strict=True)))
        names.append(name)
    return names, tuple(right)

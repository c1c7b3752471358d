"""Some words of a text for themselves, while the rest of the text stays as it is.

    excerpt.within(method.explain(case_of_these_words))

A method or a check speaks of the words of the excerpt only; what it asks about versions of the excerpt is asked about
the same versions of the whole text. Only predictions can be asked so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from assay.errors import Unanswerable
from assay.questions.base import Conversation, Inquiry, changed
from assay.questions.predict import Predict
from assay.text.text import Text
from assay.text.variants import Variants

T = TypeVar("T")


@dataclass(frozen=True)
class Excerpt:
    """The words that are explained, the text that the model reads, and where the words stand among its parts."""

    text: Text
    whole: Text
    places: Sequence[int]

    def within(self, conversation: Conversation[T]) -> Conversation[T]:
        """The same conversation about the words of the excerpt, with the rest of the text around them."""
        return changed(conversation, self._in_whole)

    def _in_whole(self, inquiry: Inquiry) -> Inquiry:
        if not isinstance(inquiry, Predict):
            asked = type(inquiry).__name__
            raise Unanswerable(f"{asked} cannot be asked of some words of a text alone; only predictions can.")
        moved = Predict(*map(self._moved, inquiry.inputs))
        return moved if inquiry.model is None else moved.sent_to(inquiry.model)

    def _moved(self, version: Text | Variants) -> Text | Variants:
        if isinstance(version, Variants) and version.text == self.text:
            fill = version.fill
            filled = self._widened(fill, None) if isinstance(fill, np.ndarray) else fill
            return Variants(self.whole, self._widened(version.keep, True), filled)
        if version == self.text:
            return self.whole
        raise Unanswerable("a text of its own cannot replace some words of another.")

    def _widened(self, table: np.ndarray[Any, Any], elsewhere: object) -> np.ndarray[Any, Any]:
        """Columns for the words of the excerpt as columns for all parts of the text."""
        wide = np.full((len(table), len(self.whole)), elsewhere, dtype=table.dtype)
        wide[:, list(self.places)] = table
        return wide

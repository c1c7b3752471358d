"""Minimality: the share of the words that had to change until the model said something else.

    mean over versions x' of  d(x, x') / |x|,   1 where x' does not change the label

d is the edit distance in words (Levenshtein), as in Ross, Marasovic and Peters (2021), MiCE, section 4,
arXiv:2012.13985. Lower is better. Random edits of the same size have the same distance: they lose where they do not
change the label, for then no change as small as that does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.explanations.edits import Edit, Edits
from assay.explanations.flips import fresh_flips
from assay.questions.base import Conversation
from assay.questions.predict import Predict
from assay.registry.cards import check
from assay.text.distance import edit_distance
from assay.text.text import Text


@check(
    title="Minimality",
    better="lower",
    paper="arXiv:2012.13985",
    needs=(Predict,),
    sensitive_to="the length of the text: one word of four is a quarter",
    reads=Edits,
)
@dataclass(frozen=True, kw_only=True)
class Minimality:
    """How much of the text the versions change, if they flip."""

    def examine(self, e: Edits) -> Conversation[float]:
        flipped = yield from fresh_flips(e)
        sizes = [_size(e, edit) if ok else 1.0 for edit, ok in zip(e.edits, flipped, strict=True)]
        return float(np.mean(sizes)) if sizes else 1.0


def _size(e: Edits, edit: Edit) -> float:
    before, after = (Text.of(strings[edit.edited]).words for strings in (e.text.read.strings, edit.strings))
    return min(1.0, edit_distance(before, after) / max(1, len(before)))

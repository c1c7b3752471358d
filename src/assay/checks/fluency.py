"""Fluency: how much likelier or less likely the words of an edit are, where it was made, than those that stood there.

    | L(x') - L(x) |,    L(x) = - mean over words i near the edit of  log p(x_i | all other words of x)

The logarithm of a ratio of pseudo-perplexities, edited over original (Ross, Marasovic and Peters 2021, MiCE,
arXiv:2012.13985; pseudo-perplexity: Salazar et al. 2020, arXiv:1910.14659). It is that of the best version, or where
none was found of the nearest attempt, over the changed words and `near` words on both sides of them, as words farther
away hardly move. 0 is as fluent as the text was. Lower is better. The fact `ratio` is the ratio itself: above 1, the
version is less fluent than the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

import numpy as np

from assay.explanations.edits import Edits
from assay.questions.base import Conversation
from assay.questions.likelihoods import Place, word_likelihoods, words_near
from assay.registry.cards import check
from assay.registry.measured import Measured


@check(
    title="Fluency",
    better="lower",
    paper="arXiv:2012.13985",
    needs=(),
    sensitive_to="texts that the masked language model finds unlikely already; very short texts",
    reads=Edits,
)
@dataclass(frozen=True, kw_only=True)
class Fluency:
    """How far the best version is from the fluency of the text."""

    model: str = "mlm"
    near: int = 3

    def examine(self, e: Edits) -> Conversation[Measured]:
        before, after = self._places(e)
        likely = yield from word_likelihoods([*before, *after], self.model)
        old, new = (part[np.isfinite(part)] for part in (likely[: len(before)], likely[len(before) :]))
        if not len(old) or not len(new):  # nothing was changed, or nothing that the model could judge
            return Measured(0.0, {"ratio": 1.0})
        change = float(old.mean() - new.mean())
        return Measured(abs(change), {"ratio": exp(change)})

    def _places(self, e: Edits) -> tuple[list[Place], list[Place]]:
        """The words near the edit, of the text and of the version."""
        edit = e.edits[0] if e.edits else e.nearest
        return ([], []) if edit is None else words_near(e.text.read.strings[edit.edited], edit.text, self.near)

"""Completeness: whether the scores add up to what is explained.

    | sum_i a_i - (f_c(x) - f_c(baseline)) | / | f_c(x) - f_c(baseline) |

An axiom of Sundararajan, Taly and Yan (2017), arXiv:1703.01365, and of SHAP (Lundberg and Lee 2017, arXiv:1705.07874).
Lower is better. The baseline is the method's own where it has one (the fact `baseline`), else the text with all words
erased. Methods that make no such promise (gradient, leave-one-out) may fail it and still rank words well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.explanations.token_scores import TokenScores
from assay.questions.base import Conversation
from assay.questions.erasers import Delete, Eraser
from assay.questions.predict import Predict
from assay.registry.cards import check

# A difference smaller than this is taken as this: a gap relative to nothing says nothing.
_SMALLEST = 1e-6


@check(
    title="Completeness",
    better="lower",
    paper="arXiv:1703.01365",
    needs=(Predict,),
    sensitive_to="the baseline; texts whose value is close to that of the baseline",
)
@dataclass(frozen=True, kw_only=True)
class Completeness:
    """The relative gap between the sum of the scores and what they should sum to."""

    eraser: Eraser = Delete()

    def examine(self, e: TokenScores) -> Conversation[float]:
        nothing = yield from self.eraser.erase(e.text, np.zeros((1, len(e.text)), dtype=bool))
        whole, empty = e.case.value((yield Predict(e.text, nothing)))
        promised = whole - e.facts.get("baseline", empty)
        return float(abs(e.scores.sum() - promised) / max(abs(promised), _SMALLEST))

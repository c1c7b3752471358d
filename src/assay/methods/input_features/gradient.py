"""Gradient: how fast the prediction changes when the embedding of a word is moved.

    a_i = || d f_c(x) / d x_i ||      over all embedding dimensions of all pieces of word i

Simonyan, Vedaldi and Zisserman (2014), arXiv:1312.6034; for text Li et al. (2016), arXiv:1506.01066; survey, section
6.1. The norm has no sign: a high score says that a word matters, not which way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.questions.base import Conversation
from assay.questions.gradients import InputGradient
from assay.registry.cards import method
from assay.registry.survey import Row, Uses


@method(
    title="Gradient",
    row=Row.INPUT_FEATURES,
    uses=Uses.GRADIENT,
    paper="arXiv:1312.6034",
    section="6.1",
    needs=(InputGradient,),
)
@dataclass(frozen=True, kw_only=True)
class Gradient:
    """The norm of the gradient at each word."""

    norm: Literal["l1", "l2", "linf"] = "l2"

    def explain(self, case: Case) -> Conversation[TokenScores]:
        (gradient,) = yield InputGradient(case.text, aim=case.aim, reduce=self.norm)
        return TokenScores(case, gradient.scores[0], facts={"signed": False})

"""Input x gradient: the gradient at a word, multiplied with the word's own embedding.

    a_i = x_i . d f_c(x) / d x_i      summed over the pieces of word i

Shrikumar et al. (2016), Not Just a Black Box, arXiv:1605.01713; for text Denil et al. (2014), arXiv:1412.6815; survey,
section 6.1.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.questions.base import Conversation
from assay.questions.gradients import InputGradient
from assay.registry.cards import method
from assay.registry.survey import Row, Uses


@method(
    title="Input x gradient",
    row=Row.INPUT_FEATURES,
    uses=Uses.GRADIENT,
    paper="arXiv:1605.01713",
    section="6.1",
    needs=(InputGradient,),
)
@dataclass(frozen=True, kw_only=True)
class InputXGradient:
    """The first-order effect of each word, with its sign."""

    def explain(self, case: Case) -> Conversation[TokenScores]:
        (gradient,) = yield InputGradient(case.text, aim=case.aim, reduce="dot")
        return TokenScores(case, gradient.scores[0])

"""Leave-one-out: the change of the prediction when a word, a phrase or a sentence is taken away.

    a_i = f_c(x) - f_c(x without word i)

Li, Monroe and Jurafsky (2016), arXiv:1612.08220; in log-odds, the default here, as in Pham et al. (2022), eq. 1,
but with the natural logarithm where they take base 2.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.questions.base import Conversation
from assay.questions.erasers import Delete, Eraser, each
from assay.questions.predict import Predict
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.text.splitting import Unit


@method(title="Leave-one-out", row=Row.INPUT_FEATURES, uses=Uses.BLACK_BOX, paper="arXiv:1612.08220", needs=(Predict,))
@dataclass(frozen=True, kw_only=True)
class LeaveOneOut:
    """What the absence of each word, or of each larger unit as a whole, does to the prediction."""

    eraser: Eraser = Delete()
    unit: Unit = "words"

    def explain(self, case: Case) -> Conversation[TokenScores]:
        case = case.by(self.unit)
        without = yield from self.eraser.erase(case.text, each(len(case.text)))
        values = case.value((yield Predict(case.text, without)))
        return TokenScores(case, values[0] - values[1:])

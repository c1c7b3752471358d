"""Value zeroing: how far each word's value vectors turn what the layers give, followed through all layers.

    C_l[i, j] = 1 - cos(x_i, x_i without v_j)  /  its sum over j     R = C_L ... C_1     a_i = R[reader -> pieces of i]

x_i is what layer l gives for piece i; without v_j, the value vector of piece j is zero in all heads of the layer's
attention, whose weights stay as they are, like everything below. Mohebbi, Zuidema, Chrupała and Alishahi (2023),
Quantifying Context Mixing in Transformers, arXiv:2301.12971. As there, the residual connections are a part of the
layer that is measured, and the rollout does not add them again. A model that answers from the mean of its pieces has
the mean of their rows. A piece that nothing turns keeps to itself. It has no
sign and knows nothing of the label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.questions.base import Conversation
from assay.questions.inside import ValueZeroing
from assay.registry.cards import method
from assay.registry.survey import Row, Uses


@method(
    title="Value zeroing",
    row=Row.INPUT_FEATURES,
    uses=Uses.WHITE_BOX,
    paper="arXiv:2301.12971",
    needs=(ValueZeroing,),
)
@dataclass(frozen=True, kw_only=True)
class ZeroedValues:
    """How much of each word is mixed into the answer, layer by layer."""

    def explain(self, case: Case) -> Conversation[TokenScores]:
        maps = yield ValueZeroing(case.text)
        scores = maps.rolled(maps.weights[:, 0].astype(np.float64))
        return TokenScores(case, scores, facts={"signed": False, "layers": len(maps.weights), **maps.facts})

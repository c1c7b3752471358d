"""Attention rollout: attention followed through all layers, with the residual connections.

    A_l = (mean over heads of W_l + I) / 2        R = A_L ... A_2 A_1        a_i = R[reader -> pieces of word i]

Abnar and Zuidema (2020), Quantifying Attention Flow in Transformers, arXiv:2005.00928. It has no sign and knows
nothing of the label. A model that answers from the mean of its pieces has the mean of their rows. Where only the answer
attends, in one step and past no residual connection (attentive models), there is nothing to follow and the rollout is
the attention.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.questions.base import Conversation
from assay.questions.inside import Attention
from assay.registry.cards import method
from assay.registry.survey import Row, Uses


@method(
    title="Attention rollout",
    row=Row.INPUT_FEATURES,
    uses=Uses.MODEL_SPECIFIC,
    paper="arXiv:2005.00928",
    needs=(Attention,),
)
@dataclass(frozen=True, kw_only=True)
class AttentionRollout:
    """How much of each word reaches the answer if attention is all that moves it."""

    residual: float = 0.5

    def explain(self, case: Case) -> Conversation[TokenScores]:
        maps = yield Attention(case.text)
        heads = maps.weights.mean(axis=1).astype(np.float64)
        if heads.shape[1] == 1 < heads.shape[2]:
            return TokenScores(case, maps.owners.per_word(heads[-1, 0]), facts={"signed": False})
        layers = (1 - self.residual) * heads + self.residual * np.eye(heads.shape[-1])
        return TokenScores(case, maps.rolled(layers), facts={"signed": False, **maps.facts})

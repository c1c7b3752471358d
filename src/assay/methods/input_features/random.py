"""Random: scores that know nothing of the model, the floor under every other method.

    a_i ~ N(0, 1), from the run's seed and the text

The baseline of Hooker et al. (2019), A Benchmark for Interpretability Methods in Deep Neural Networks,
arXiv:1806.10758.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.questions.base import Conversation, now
from assay.registry.cards import method
from assay.registry.survey import Row, Uses


@method(title="Random", row=Row.INPUT_FEATURES, uses=Uses.BLACK_BOX, paper="arXiv:1806.10758", needs=())
@dataclass(frozen=True, kw_only=True)
class Random:
    """Scores drawn without looking at the model."""

    def explain(self, case: Case) -> Conversation[TokenScores]:
        return now(TokenScores(case, case.generator().standard_normal(len(case.text))))

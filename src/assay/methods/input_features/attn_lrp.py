"""AttnLRP: the explained number, handed down layer by layer to the words it came from.

    a_i = x_i . g_i      g the gradient of f_c with these rules on the way back (pieces of word i summed)

    A V, Q K^T and other products of two signals: half of the relevance to each      softmax: its Taylor expansion
    activations s(x) = x (s(x)/x) with s(x)/x constant      LayerNorm: divisor constant      linear: epsilon -> 0

Achtibat et al. (2024), AttnLRP: Attention-Aware Layer-wise Relevance Propagation for Transformers, arXiv:2402.05602.
Relevance is neither made nor lost: f_c is the sum over the words, over the `other_pieces` (special tokens, fields that
are not explained), over `constants` (position and type embeddings), `biases` and `softmax` (what its expansion leaves
over). A logit and a contrast are handed down whole. Log-odds of more than two labels and probabilities are handed down
as the logits times their gradients; `scale` is the rest. What is still missing is `gap`: the model does something for
which there is no rule, and a warning says so.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.questions.answers import Relevances
from assay.questions.base import Conversation
from assay.questions.inside import Relevance
from assay.registry.cards import method
from assay.registry.survey import Row, Uses

_TOLERANCE = 0.01  # of the largest part; rounding is far below


@method(
    title="AttnLRP",
    row=Row.INPUT_FEATURES,
    uses=Uses.WHITE_BOX,
    paper="arXiv:2402.05602",
    needs=(Relevance,),
)
@dataclass(frozen=True, kw_only=True)
class AttnLRP:
    """Each word's part of the prediction, with its sign."""

    def explain(self, case: Case) -> Conversation[TokenScores]:
        told: Relevances = yield Relevance(case.text, case.aim)
        parts = {"words": float(told.scores.sum()), **told.taken}
        gap = told.value - sum(parts.values())
        lost = abs(gap) / max(1e-6, abs(told.value), *map(abs, parts.values()))
        warning = f"unconserved: relevance is lost or made where AttnLRP has no rule, {lost:.0%} of the largest part"
        warnings = (warning,) if lost > _TOLERANCE else ()
        return TokenScores(case, told.scores, facts={"value": told.value, **parts, "gap": gap}, warnings=warnings)

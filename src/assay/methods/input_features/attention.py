"""Attention: the weights that the model's own attention gives to each word.

    a_i = mean over heads of  w[layer, head, reader -> pieces of word i]

The reader is the piece whose state becomes the answer ([CLS], or the last one of a decoder); where a model answers from
the mean of its pieces it is the mean over these, and `facts["readers"]` says so. Bahdanau, Cho and Bengio
(2015), arXiv:1409.0473; an intrinsic explanation in the survey's table, and one whose worth is disputed: Jain and
Wallace (2019), arXiv:1902.10186, Wiegreffe and Pinter (2019), arXiv:1908.04626. It has no sign and knows nothing of
the label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from assay.errors import BadInput
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.questions.base import Conversation
from assay.questions.inside import Attention
from assay.registry.cards import method
from assay.registry.survey import Row, Uses

Weights: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]


@method(
    title="Attention",
    row=Row.INPUT_FEATURES,
    uses=Uses.MODEL_SPECIFIC,
    paper="arXiv:1409.0473",
    needs=(Attention,),
)
@dataclass(frozen=True, kw_only=True)
class AttentionWeights:
    """How much the model looked at each word, in one layer."""

    layer: int = -1
    head: int | None = None
    reader: Literal["answer", "all"] = "answer"

    def explain(self, case: Case) -> Conversation[TokenScores]:
        maps = yield Attention(case.text)
        heads = _pick(maps.weights, self.layer, "layer")
        weights = heads.mean(axis=0) if self.head is None else _pick(heads, self.head, "head")
        by_answer = self.reader == "answer"
        looked = maps.looked(weights) if by_answer else weights.mean(axis=0)
        facts = {"signed": False, **(maps.facts if by_answer else {})}
        return TokenScores(case, maps.owners.per_word(looked), facts=facts)


def _pick(weights: Weights, i: int, what: str) -> Weights:
    if not -len(weights) <= i < len(weights):
        raise BadInput(f"there is no {what} {i}: there are {len(weights)}, counted from 0.")
    return np.asarray(weights[i])

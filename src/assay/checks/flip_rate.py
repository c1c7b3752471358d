"""Flip rate: the share of the returned versions that get another label, asked anew.

    mean over versions x' of  [argmax f(x') is the label that was looked for]

The success rate of Ebrahimi et al. (2018), arXiv:1712.06751, and of all searches since. Where no version was found, it
is 0. Higher is better. Random edits change as many words of the same text, at random
places, to random words of the vocabulary; a model that they flip as often is one that any change flips.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.explanations.edits import Edits
from assay.explanations.flips import fresh_flips
from assay.questions.base import Conversation
from assay.questions.predict import Predict
from assay.registry.cards import check


@check(
    title="Flip rate",
    better="higher",
    paper="arXiv:1712.06751",
    needs=(Predict,),
    sensitive_to="how many words may change; models that any change flips",
    reads=Edits,
)
@dataclass(frozen=True, kw_only=True)
class FlipRate:
    """How many of the versions change what the model says."""

    def examine(self, e: Edits) -> Conversation[float]:
        flipped = yield from fresh_flips(e)
        return float(flipped.mean()) if len(flipped) else 0.0

"""ROAR: how well a model still learns when the words that an explanation ranks highest are gone everywhere.

    accuracy on dev without its first q of the words, of models trained on train without its first q of the words

Hooker et al. (2019), RemOve And Retrain, arXiv:1806.10758; for text Pham et al. (2022), section 3, arXiv:2110.04947,
with q = 10, 20, 30 % and five models each. Lower is better. The words are ranked once, by explanations of the label
that the model predicts; as it learns without them again, it does not meet texts that look like nothing it has seen.
With eraser="resample" a masked language model fills the holes, all at once: ROAR_BERT; here never with the word that
stood there, while the released code lets that happen. A text of n words loses max(1, ceil(q n)); in the released code
(variant="released") max(1, ceil(q (n - 1))). A check of a dataset: assay.roar(model, train, dev, methods).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from assay.errors import BadInput
from assay.explanations.token_scores import TokenScores
from assay.questions.base import Conversation
from assay.questions.erasers import Delete, Eraser
from assay.questions.predict import Predict
from assay.registry.cards import check
from assay.statistics.curves import Variant
from assay.text.text import Masks
from assay.text.variants import Variants


@check(
    title="ROAR",
    better="lower",
    paper="arXiv:1806.10758",
    needs=(Predict,),
    sensitive_to="words that say the same as the removed ones; removals that give the label away; how models train",
    level="dataset",
)
@dataclass(frozen=True, kw_only=True)
class Roar:
    """The accuracy of models that learned without the best words."""

    shares: tuple[float, ...] = (0.1, 0.2, 0.3)
    eraser: Eraser = Delete()
    seeds: int = 5
    variant: Variant = "paper"

    def __post_init__(self) -> None:
        if not self.shares or len(set(self.shares)) < len(self.shares) or not all(0 < q <= 1 for q in self.shares):
            raise BadInput(f"shares are different numbers above 0 and up to 1, not {self.shares}.")
        if self.seeds < 2:
            raise BadInput(f"seeds is how many models are trained each time, 2 or more, not {self.seeds}.")

    def reduce(self, e: TokenScores) -> Conversation[Variants]:
        """The text without its best words, once for every share."""
        return self.eraser.erase(e.text, self.keep(e))

    def keep(self, e: TokenScores) -> Masks:
        """The words that stay [shares, words]."""
        place = np.empty(len(e.text), dtype=np.int64)
        place[e.ranking] = np.arange(len(e.text))
        return np.array([place >= self.how_many(len(e.text), share) for share in self.shares])

    def how_many(self, n: int, share: float) -> int:
        """Rounded up, but not because of the last bit of a product such as 0.07 * 100."""
        return max(1, ceil(share * (n if self.variant == "paper" else n - 1) - 1e-9))

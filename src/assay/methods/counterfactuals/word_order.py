"""In which order MiCE hides the words of a text: the most important first, or at random.

    gradient    | d logit / d e_i |_1, the largest first                                (Ross et al., 2021, section 3.2)
    random      any order: what they compare the gradient with, in their section 5; an order for each text and seed

Punctuation is never hidden. Words behind the end of the model's window are no words of the text that is explained.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from assay.questions.base import Aim, Conversation
from assay.questions.gradients import InputGradient
from assay.text.text import Text

Mask: TypeAlias = Literal["gradient", "random"]


@dataclass(frozen=True)
class WordOrder:
    """How words are ordered: by the gradient of the logit of `target`, or by chance."""

    mask: Mask
    target: int
    seed: int

    def __call__(self, text: Text) -> Conversation[list[int]]:
        """The places of the words that may be hidden."""
        if self.mask == "random":
            ranked = np.random.default_rng([self.seed, text.seed]).permutation(len(text)).tolist()
        else:
            (gradients,) = yield InputGradient(text, aim=Aim(self.target, "logit"), reduce="l1")
            ranked = np.argsort(-gradients.scores[0], kind="stable").tolist()
        return [i for i in ranked if any(map(str.isalnum, text.words[i]))]

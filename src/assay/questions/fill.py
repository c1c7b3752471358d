"""What a masked language model would put in the place of erased words.

fills = yield Fill(variants, model="mlm")            -> for every variant, candidates for each erased word
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import NamedTuple

import numpy as np

from assay.questions.answers import Fills
from assay.questions.base import Question, Speaker
from assay.questions.portions import large, portions, weight
from assay.text.text import Masks, Text
from assay.text.variants import Symbol, Variants


class FillRow(NamedTuple):
    """A text with holes: the words that are kept, and None where a candidate is wanted."""

    text: Text
    keep: tuple[bool, ...]
    k: int | None
    whole_words: bool
    threshold: float | None = None


class Fill(Question):
    """What a masked language model would put in the place of the erased words, all holes of a variant at once.

    The `k` likeliest words (10 if nobody says), or with `threshold` all words that are at least so likely, and not more
    than k where k is given; the likeliest in any case. Variants that hold words for some holes, and None for the
    others, are filled one hole further: only the next one is answered, those behind it are masked, and so are those
    that hold Symbol.MASK.
    """

    def __init__(
        self,
        variants: Variants,
        *,
        model: str,
        k: int | None = None,
        threshold: float | None = None,
        whole_words: bool = True,
    ) -> None:
        self.variants, self.model, self.threshold, self.whole_words = variants, model, threshold, whole_words
        self.k = 10 if k is None and threshold is None else k
        self._is_part = False

    def parts(self) -> Iterator[Question] | None:
        return None if self._is_part or not large(self.variants) else map(self._part, portions(self.variants))

    def _part(self, inputs: tuple[Text | Variants, ...]) -> Fill:
        part = copy(self)
        (part.variants,), part.weight, part._is_part = inputs, weight(*inputs), True  # type: ignore[assignment]
        return part

    def joined(self, answer: list[Fills], following: list[Fills]) -> list[Fills]:
        return answer + following

    def rows(self, model: Speaker) -> Sequence[FillRow]:
        text, wanted = self.variants.text, (self.k, self.whole_words, self.threshold)
        if isinstance(self.variants.fill, np.ndarray):
            mask, filled = model.spelling[Symbol.MASK], zip(self.variants.keep, self.variants.fill, strict=True)
            holed = (_next_hole(text, kept, words, mask) for kept, words in filled)
            return [FillRow(version, keep, *wanted) for version, keep in holed]
        return [FillRow(text, tuple(keep), *wanted) for keep in self.variants.keep.tolist()]


def _next_hole(text: Text, kept: Masks, filled: Sequence[str | None], mask: str) -> tuple[Text, tuple[bool, ...]]:
    """The text with the words that were put in and with masks for those to come; all is kept but the first of these."""
    put_in = (mask if new is Symbol.MASK else new for new in filled)
    words = [word if k else new for word, k, new in zip(text.words, kept, put_in, strict=True)]
    keep = [True] * len(words)
    if None in words:
        hole = words.index(None)
        words[hole], keep[hole] = text.words[hole], False
    return text.with_words([mask if word is None else word for word in words]), tuple(keep)

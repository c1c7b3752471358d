"""BLEU of many sentences together, with its interval: the counts of each sentence, and what their means come to.

    BLEU = 100 exp( min(0, 1 - r / c) + (1/4) sum over n = 1..4 of  log( m_n / t_n ) )

m_n are the n-grams of all sentences that stand in one of their references, each at most as often as in the one that has
it most; t_n all n-grams; c the words of all sentences, r those of the references, of each sentence the one nearest in
length (the shorter of two). Papineni et al. (2002), without smoothing: 0 where no n-gram of some length is found. Words
are those of `words_of`, in small letters and without punctuation, so that spelling and blanks make no difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from assay.explanations.word_overlap import words_of
from assay.statistics.arrays import Floats

MOST = 4


def counts(sentence: str, references: Sequence[str]) -> list[int]:
    """Of one sentence the found n-grams for n = 1 to 4, all n-grams, its words, and those of the nearest reference."""
    words, others = words_of(sentence), [words_of(one) for one in references]
    found, every = zip(*(_found(words, others, n) for n in range(1, MOST + 1)), strict=True)
    nearest = min(map(len, others), key=lambda size: (abs(size - len(words)), size), default=0)
    return [*found, *every, len(words), nearest]


def corpus_bleu(means: Floats) -> Floats:
    """BLEU of the mean (or summed) counts of sentences [..., 10]: it is the same, as only ratios enter it."""
    found, every, own, nearest = means[..., :MOST], means[..., MOST : 2 * MOST], means[..., -2], means[..., -1]
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.log(found / every).mean(axis=-1)
        brevity = np.minimum(0.0, 1 - nearest / own)
    return np.asarray(np.where(found.min(axis=-1) > 0, 100 * np.exp(brevity + precision), 0.0))


def _found(words: Sequence[str], references: Sequence[Sequence[str]], n: int) -> tuple[int, int]:
    own, most = Counter(_grams(words, n)), Counter[tuple[str, ...]]()
    for reference in references:
        most |= Counter(_grams(reference, n))
    return (own & most).total(), own.total()


def _grams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]

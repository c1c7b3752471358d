"""Diversity: how different the versions of a text are from each other.

    1 - self-BLEU,    self-BLEU = mean over versions x' of  BLEU(x' | the other versions)

Self-BLEU is that of Zhu et al. (2018), Texygen, arXiv:1802.01886, as Wu et al. (2021), Polyjuice, arXiv:2101.00288,
report it: n-grams up to 4 (of shorter texts fewer), with one added to the counts of every order but the first (Lin and
Och 2004) so that short texts are not 0. Higher is more diverse. A single version has no diversity: 0.
Random edits differ in places and words alike, so that few methods are more diverse: this says how alike a method's
versions are, rather than whether they are right; a method passes unless it is less diverse than random.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np

from assay.explanations.edits import Edits
from assay.questions.base import Conversation, now
from assay.registry.cards import check
from assay.text.text import Text

_MOST = 4


@check(
    title="Diversity",
    better="higher",
    paper="arXiv:2101.00288",
    needs=(),
    sensitive_to="the number of versions; short edits of long texts, which are all alike",
    reads=Edits,
    chance="reach",
)
@dataclass(frozen=True, kw_only=True)
class Diversity:
    """One minus self-BLEU among the versions."""

    def examine(self, e: Edits) -> Conversation[float]:
        if len(e.edits) < 2:
            return now(0.0)
        versions = [Text.of(edit.text).words for edit in e.edits]
        scores = [bleu(one, versions[:i] + versions[i + 1 :]) for i, one in enumerate(versions)]
        return now(1 - float(np.mean(scores)))


def bleu(words: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """BLEU of one text against others: clipped n-gram precision, brevity penalty, smoothed from bigrams on."""
    if not words or not any(references):
        return 0.0
    logs = [_precision(words, references, n) for n in range(1, min(_MOST, len(words)) + 1)]
    if any(value == 0 for value in logs):
        return 0.0
    nearest = min((len(one) for one in references), key=lambda size: (abs(size - len(words)), size))
    penalty = min(0.0, 1 - nearest / len(words))
    return exp(penalty + sum(map(log, logs)) / len(logs))


def _precision(words: Sequence[str], references: Sequence[Sequence[str]], n: int) -> float:
    own = Counter(_grams(words, n))
    most = Counter[tuple[str, ...]]()
    for reference in references:
        most |= Counter(_grams(reference, n))
    added = int(n > 1)
    return (sum((own & most).values()) + added) / (sum(own.values()) + added)


def _grams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]

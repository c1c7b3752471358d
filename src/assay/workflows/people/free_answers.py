"""Answers in people's own words, compared as SQuAD compares them (Rajpurkar et al. 2016): F1 of the words in common.

Small letters; without punctuation and without the articles a, an and the.
"""

from __future__ import annotations

import re
import string
from collections import Counter

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_MARKS = str.maketrans("", "", string.punctuation)


def plain(answer: str) -> str:
    """The answer with nothing left that does not count."""
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_MARKS)).split())


def f1(answer: str, right: str) -> float:
    """The harmonic mean of precision (words of the answer that are right) and recall (right words that it has)."""
    one, other = plain(answer).split(), plain(right).split()
    if not one or not other:
        return float(one == other)
    common = (Counter(one) & Counter(other)).total()
    return 2 * common / (len(one) + len(other))

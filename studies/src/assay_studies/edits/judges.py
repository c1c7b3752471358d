"""Judges: second models that share no weights with the explained ones, and say which label an edited text has.

A logistic regression on words and pairs of words (tf-idf; Jones 1972). Of a pair, the words of the hypothesis are told
apart by whether they stand in the premise, and go together with each word of it: so it can learn that "sleeping" does
not fit "running". A judge is right less often than the explained model: it is asked of texts alone of which it finds
the same label as that model, before the edit; what it then says of the edited text is a second opinion, not the truth.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from assay.models import TextModel, load
from assay.statistics.arrays import Floats
from assay.text.text import Row
from assay_studies.edits.texts import LabelledText
from assay_studies.samples import spread

_WORD = re.compile(r"[\w']+")
_COMMON = frozenset("a an and are at for her his in is it of on their the to with".split())
_MOST = 8


def terms(strings: Row) -> list[str]:
    """What a text is made of, to a judge."""
    *given, own = (_WORD.findall(string.lower()) for string in strings)
    found = [*own, *(f"{a} {b}" for a, b in pairwise(own))]
    return [*found, *_beside(set(given[0]), own)] if given else found


def _beside(premise: set[str], hypothesis: Sequence[str]) -> Iterator[str]:
    new = [word for word in hypothesis if word not in premise]
    yield from (f"new: {word}" for word in new)
    yield from (f"{word} | {other}" for word in set(new) - _COMMON for other in premise - _COMMON)
    yield f"{min(_MOST, len(set(new) - _COMMON))} new words"


class Judge:
    """A classifier of strings, as `assay.load` takes it."""

    def __init__(self, texts: Sequence[LabelledText], labels: Sequence[str]) -> None:
        self.labels = tuple(labels)
        rows = [one for one in texts if one.label in self.labels]
        vectors = TfidfVectorizer(analyzer=terms, sublinear_tf=True, min_df=2)
        self.fitted: Any = make_pipeline(vectors, LogisticRegression(C=10.0, max_iter=100, tol=1e-3))
        self.fitted.fit([one.strings for one in rows], [self.labels.index(one.label) for one in rows])

    def __call__(self, texts: Sequence[Any]) -> Floats:
        """Probabilities [texts, labels]; a pair is a tuple."""
        found: Floats = self.fitted.predict_proba([(text,) if isinstance(text, str) else tuple(text) for text in texts])
        return found

    def model(self) -> TextModel:
        return load(self, labels=self.labels)


def judge_of(texts: Sequence[LabelledText], labels: Sequence[str], most: int) -> Judge:
    """Taught by at most so many of these texts."""
    return Judge(spread(texts, most), labels)

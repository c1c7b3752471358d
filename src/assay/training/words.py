"""Logistic regression on tf-idf of words (scikit-learn): a second a model, for tests and sketches.

Saved as arrays in one file, `words.npz`, from which the same pipeline is put together again: nothing is unpickled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from assay.errors import BadFile, BadInput
from assay.models import BlackBox, TextModel
from assay.statistics.arrays import Floats
from assay.storage.durable import write_whole
from assay.text.text import Row
from assay.training.recipes import Labelled

_FILE = "words.npz"


@dataclass(frozen=True)
class Words:
    """Logistic regression on tf-idf of words, and of word pairs with ngrams=2.

    A linear model has no random start, so each seed learns from another bootstrap sample of the texts, drawn label by
    label: the spread over seeds is that of training sets. With bootstrap=False all seeds give the same model.
    """

    ngrams: int = 1
    strength: float = 10.0
    bootstrap: bool = True

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"trainer": "words", **asdict(self)}

    def train(self, texts: Sequence[Row], labels: Sequence[str], seed: int) -> TextModel:
        return _wrapped(self._fitted(texts, labels, seed))

    def make(
        self, texts: Sequence[Row], labels: Sequence[str], seed: int, out: Path, *, dev: Labelled | None = None
    ) -> None:
        """Train, and save the arrays; there is no epoch to choose on dev."""
        words, regression = (step for _, step in self._fitted(texts, labels, seed).steps)
        terms = sorted(words.vocabulary_, key=words.vocabulary_.get)
        arrays = {"terms": np.array(terms), "idf": words.idf_, "classes": regression.classes_}
        learned = {"coef": regression.coef_, "intercept": regression.intercept_}
        packed = BytesIO()
        np.savez(packed, allow_pickle=False, **arrays, **learned)
        try:
            out.mkdir(parents=True, exist_ok=True)
            write_whole(out / _FILE, packed.getvalue())
        except OSError as error:
            raise BadFile(f"the model cannot be saved in {out}: {error.strerror or error}.") from error

    def is_made(self, out: Path) -> bool:
        return (out / _FILE).is_file()

    def open(self, out: Path) -> TextModel:
        with np.load(out / _FILE, allow_pickle=False) as arrays:
            pipeline = self._pipeline({term: i for i, term in enumerate(arrays["terms"].tolist())})
            words, regression = (step for _, step in pipeline.steps)
            words.idf_ = arrays["idf"]
            regression.classes_ = arrays["classes"]
            regression.coef_, regression.intercept_ = arrays["coef"], arrays["intercept"]
        return _wrapped(pipeline)

    def _pipeline(self, vocabulary: Mapping[str, int] | None = None) -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer  # slow to import, and only wanted here
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        words = TfidfVectorizer(token_pattern=r"\w+|[^\w\s]", ngram_range=(1, self.ngrams), vocabulary=vocabulary)
        return make_pipeline(words, LogisticRegression(C=self.strength, max_iter=1000))

    def _fitted(self, texts: Sequence[Row], labels: Sequence[str], seed: int) -> Any:
        rows = _bootstrap(labels, seed) if self.bootstrap else range(len(labels))
        pipeline = self._pipeline()
        try:
            with threadpool_limits(limits=1, user_api="blas"):  # small vectors: more threads only wait for each other
                pipeline.fit([_joined(texts[i]) for i in rows], [labels[i] for i in rows])
        except ValueError as error:
            raise BadInput(f"there is nothing to learn from these texts: {error}.") from error
        return pipeline


@dataclass(frozen=True)
class _Joined:
    """A pipeline for single texts that takes pairs too."""

    pipeline: Any

    def __call__(self, texts: Sequence[str | Row]) -> Floats:
        strings = [text if isinstance(text, str) else _joined(text) for text in texts]
        return np.asarray(self.pipeline.predict_proba(strings))


def _wrapped(pipeline: Any) -> TextModel:
    return BlackBox(_Joined(pipeline), labels=pipeline.classes_.tolist(), name="words", of=pipeline)


def _joined(row: Row) -> str:
    return "\n".join(row)


def _bootstrap(labels: Sequence[str], seed: int) -> list[int]:
    """As many rows of each label as there are, drawn with replacement."""
    rng, named = np.random.default_rng(seed), np.array(labels)
    places = (np.flatnonzero(named == label) for label in sorted(set(labels)))
    return [int(i) for rows in places for i in rng.choice(rows, len(rows))]

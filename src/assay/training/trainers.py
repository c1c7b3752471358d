"""Trainers: whatever makes a model out of labelled texts. ROAR retrains by one of them, many times.

    Words()              logistic regression on tf-idf of words (scikit-learn): a second a model, for tests and sketches
    Attend("lstm")       an encoder with one attention, see assay.training.attentive: a minute or two a model
    FineTune("mlm")      a Hugging Face encoder under a new head, see assay.training.finetune

Any object with `settings` and `train` is a trainer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from threadpoolctl import threadpool_limits

from assay.errors import BadInput, UnknownName
from assay.models import BlackBox, TextModel
from assay.statistics.arrays import Floats
from assay.text.text import Row


@runtime_checkable
class Trainer(Protocol):
    """Makes models that are alike but for the seed."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """All that decides the models besides texts, labels and seed, as plain data."""

    def train(self, texts: Sequence[Row], labels: Sequence[str], seed: int) -> TextModel:
        """A model whose labels are the given ones; a text is a tuple of one string, or of two."""


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
        from sklearn.feature_extraction.text import TfidfVectorizer  # slow to import, and only wanted here
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        rows = _bootstrap(labels, seed) if self.bootstrap else range(len(labels))
        words = TfidfVectorizer(token_pattern=r"\w+|[^\w\s]", ngram_range=(1, self.ngrams))
        pipeline = make_pipeline(words, LogisticRegression(C=self.strength, max_iter=1000))
        try:
            with threadpool_limits(limits=1, user_api="blas"):  # small vectors: more threads only wait for each other
                pipeline.fit([_joined(texts[i]) for i in rows], [labels[i] for i in rows])
        except ValueError as error:
            raise BadInput(f"there is nothing to learn from these texts: {error}.") from error
        return BlackBox(_Joined(pipeline), labels=pipeline.classes_.tolist(), name="words", of=pipeline)


@dataclass(frozen=True)
class _Joined:
    """A pipeline for single texts that takes pairs too."""

    pipeline: Any

    def __call__(self, texts: Sequence[str | Row]) -> Floats:
        strings = [text if isinstance(text, str) else _joined(text) for text in texts]
        return np.asarray(self.pipeline.predict_proba(strings))


def trainer(given: str | Trainer) -> Trainer:
    """A trainer by its name: words, attentive, attentive:ENCODER, finetune, or finetune:MODEL (where to start)."""
    if not isinstance(given, str):
        if isinstance(given, Trainer):
            return given
        raise BadInput(f"a trainer has `settings` and `train(texts, labels, seed)`; {given!r:.60} has not.")
    name, _, start = given.partition(":")
    if name == "words" and not start:
        return Words()
    if name == "finetune":
        from assay.training.finetune import FineTune  # torch is slow to import

        return FineTune(start) if start else FineTune()
    if name == "attentive":
        from assay.training.attentive import Attend

        return Attend(encoder=start) if start else Attend()  # type: ignore[arg-type]
    names = ("words", "finetune", "finetune:MODEL", "attentive", "attentive:ENCODER")
    raise UnknownName.of("trainer", given, names)


def _joined(row: Row) -> str:
    return "\n".join(row)


def _bootstrap(labels: Sequence[str], seed: int) -> list[int]:
    """As many rows of each label as there are, drawn with replacement."""
    rng, named = np.random.default_rng(seed), np.array(labels)
    places = (np.flatnonzero(named == label) for label in sorted(set(labels)))
    return [int(i) for rows in places for i in rng.choice(rows, len(rows))]

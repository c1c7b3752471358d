"""Bag of words: logistic regression on word counts, fitted to its optimum or by plain gradient descent.

    minimise over W, b:   1/n sum_i loss(W x_i + b, y_i) + decay (|W|^2 + |b|^2)

The optimum is unique and does not depend on a seed, so leaving a text out and training again shows what that text did.
With `steps` it is descended to from zero instead, and `checkpoints` of the way are kept (`@checkpoint:1` and so on).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from assay.errors import BadInput
from assay.models import TextModel
from assay.statistics.arrays import Floats
from assay.text.text import Row
from assay.training.place import KeptInPlace, Place, opened
from assay.training.recipes import Labelled


@dataclass(frozen=True)
class Bag(KeptInPlace):
    """How a bag of words is fitted; `words` is the most that its vocabulary holds, the most frequent first."""

    decay: float = 0.01
    words: int = 2000
    steps: int = 0
    rate: float = 0.5
    checkpoints: int = 0

    def __post_init__(self) -> None:
        if self.decay <= 0 or self.words < 1 or self.rate <= 0:
            raise BadInput("decay and rate are above 0, and words is 1 or more.")
        if self.checkpoints and (self.checkpoints > self.steps or self.steps % self.checkpoints):
            raise BadInput(f"{self.steps} steps cannot be cut into {self.checkpoints} equal parts.")

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"trainer": "bag", **asdict(self)}

    def make(
        self, texts: Sequence[Row], labels: Sequence[str], seed: int, out: Path, *, dev: Labelled | None = None
    ) -> None:
        """Fit, and save; there is no epoch to choose on dev, and nothing random."""
        place, training = Place(out), {**self.settings, "texts": len(texts)}
        if place.finished(training):
            return
        network, tokenizer, names = _network(texts, labels, self.words)
        counts = _counts(network, tokenizer, texts)
        wanted = np.array([names.index(label) for label in labels])
        found = self._fitted(counts, wanted, len(names), lambda w, k: place.save_epoch(_with(network, w), tokenizer, k))
        place.save(_with(network, found), tokenizer, training)

    def open(self, out: Path) -> TextModel:
        return opened(out, None)

    def _fitted(self, x: Floats, y: Any, labels: int, keep: Callable[[Floats, int], None]) -> Floats:
        """The weights [labels, words + 1]; the last column is the bias."""
        start = np.zeros((labels, x.shape[1]))
        if not self.steps:
            options = {"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-9}
            solved = minimize(_objective, start.ravel(), (x, y, self.decay), "L-BFGS-B", jac=True, options=options)
            return np.asarray(solved.x.reshape(start.shape))
        for step in range(1, self.steps + 1):
            start = start - self.rate * _objective(start.ravel(), x, y, self.decay)[1].reshape(start.shape)
            if self.checkpoints and step % (self.steps // self.checkpoints) == 0:
                keep(start, step * self.checkpoints // self.steps)
        return start


def _objective(flat: Floats, x: Floats, y: Any, decay: float) -> tuple[float, Floats]:
    """The mean loss with its penalty, and the gradient."""
    w, n = flat.reshape(-1, x.shape[1]), len(x)
    logits = x @ w.T
    wrong = softmax(logits, axis=1)
    wrong[np.arange(n), y] -= 1
    loss = -log_softmax(logits, axis=1)[np.arange(n), y].mean() + decay * (w**2).sum()
    return float(loss), np.asarray((wrong.T @ x / n + 2 * decay * w).ravel())


def _network(texts: Sequence[Row], labels: Sequence[str], most: int) -> tuple[Any, Any, list[str]]:
    """A network of these labels and the most frequent words, and its tokenizer."""
    from assay.models.own.attentive.words import words  # torch is slow to import
    from assay.models.own.bag import SPECIAL, WordCountConfig, WordCountForSequenceClassification

    names = sorted(set(labels))
    if len(names) < 2:
        raise BadInput("all texts have the same label; there is nothing to learn.")
    tokenizer = words(texts)
    if len(tokenizer) > most + SPECIAL:
        counts = Counter(i for text in texts for i in set(tokenizer(*text)["input_ids"]))
        common = [i for i, _ in sorted(counts.items(), key=lambda one: (-one[1], one[0])) if i >= SPECIAL][:most]
        tokenizer = words([tuple(tokenizer.convert_ids_to_tokens(sorted(common)))])
    named: dict[str, Any] = {"id2label": dict(enumerate(names)), "label2id": {name: i for i, name in enumerate(names)}}
    config = WordCountConfig(len(tokenizer), num_labels=len(names), **named)
    return WordCountForSequenceClassification(config).eval(), tokenizer, names


def _counts(network: Any, tokenizer: Any, texts: Sequence[Row]) -> Floats:
    """[texts, words + 1], with a 1 for the bias."""
    from assay.models.own.bag import SPECIAL

    found = np.zeros((len(texts), len(tokenizer) + 1))
    for row, text in zip(found, texts, strict=True):
        np.add.at(row, tokenizer(*text)["input_ids"], 1.0)
    found[:, :SPECIAL], found[:, -1] = 0.0, 1.0
    return found


def _with(network: Any, weights: Floats) -> Any:
    import torch

    with torch.no_grad():
        network.answer.weight.copy_(torch.tensor(weights[:, :-1]))
        network.answer.bias.copy_(torch.tensor(weights[:, -1]))
    return network

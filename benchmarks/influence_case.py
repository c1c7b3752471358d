"""What influence functions and their peers are given, and the true scores: a dense solve in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy.special import softmax
from torch import Tensor, nn
from torch.utils.data import TensorDataset

import assay
from assay.engine.engine import Engine
from texts import sentences

LABELS = ("negative", "positive")
DAMPING = 0.01


class Case:
    """The model, its texts and labels, what the last layer reads of them, and the true scores [queries, rows]."""

    def __init__(self, rows: int, queries: int) -> None:
        self.model: Any = assay.load("sst2")
        made = sentences(rows + queries, 16)
        self.train, self.asked = made[:rows], made[rows:]
        self.labels = [i % 2 for i in range(rows)]
        found = [states(self.model, texts) for texts in (self.train, self.asked)]
        self.read, self.seen = (part.double().numpy() for part in found)
        self.head: nn.Linear = self.model.model.classifier
        self.targets = self.logits(self.seen).argmax(axis=1)

    def logits(self, read: np.ndarray) -> np.ndarray:
        w, b = (one.detach().double().numpy() for one in (self.head.weight, self.head.bias))
        return np.asarray(read @ w.T + b)

    def truth(self) -> np.ndarray:
        """-1/n f' (H + damping)^-1 g with the dense Hessian, in the order weight, bias."""
        chances, n = softmax(self.logits(self.read), axis=1), len(self.read)
        x = np.column_stack([self.read, np.ones(n)])
        curvature = DAMPING * np.eye(2 * x.shape[1])
        for row, p in zip(x, chances, strict=True):
            curvature += np.kron(np.diag(p) - np.outer(p, p), np.outer(row, row)) / n
        own = chances - np.eye(2)[self.labels]
        gradients = (own[:, :, None] * x[:, None, :]).reshape(n, -1)
        signs = np.where(np.eye(2)[self.targets] > 0, 1.0, -1.0)
        asked = np.column_stack([self.seen, np.ones(len(self.seen))])
        slopes = (signs[:, :, None] * asked[:, None, :]).reshape(len(asked), -1)
        return np.asarray(-slopes @ np.linalg.solve(curvature, gradients.T) / n)

    def ours(self, **settings: Any) -> np.ndarray:
        train = [(text, LABELS[label]) for text, label in zip(self.train, self.labels, strict=True)]
        given = {"damping": DAMPING, "train": train, **settings}
        engine = Engine(self.model)
        found = assay.explain(
            None, self.asked, "influence_functions", engine=engine, scalar="log_odds", progress=False, **given
        )
        return np.array([e.scores for e in found])

    def encoded(self, texts: list[str], labels: Any) -> TensorDataset:
        found = self.model.tokenizer(texts, padding=True, return_tensors="pt")
        return TensorDataset(found["input_ids"], found["attention_mask"], torch.tensor(labels))

    def tensors(self, read: np.ndarray, labels: Any) -> TensorDataset:
        return TensorDataset(torch.tensor(read, dtype=torch.float32), torch.tensor(labels))


def states(model: Any, texts: list[str]) -> Tensor:
    """What the last layer reads, by the bare model in batches of 64, sorted by length."""
    found: list[Tensor] = []
    handle = model.model.classifier.register_forward_hook(lambda layer, args, output: found.append(args[0].detach()))
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    with torch.no_grad():
        for at in range(0, len(order), 64):
            batch = [texts[i] for i in order[at : at + 64]]
            model.model(**model.tokenizer(batch, padding=True, return_tensors="pt"))
    handle.remove()
    return torch.cat(found)[torch.tensor(np.argsort(order))]

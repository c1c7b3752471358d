"""Gradients with respect to parameters by hand: one text at a time, by autograd, in the layer that gives the logits.

Which layer that is, a hook says: the last linear map called whose output is the row of logits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from assay.explanations.case import Case
from assay.questions.base import Conversation
from assay.questions.parameters import LastLayer
from sweep.slow_rows import NoSuchNumber, SlowTask, log_odds

TRAIN = (
    ("a slow sad story", "LABEL_0"),
    ("two dogs run", "LABEL_1"),
    ("unpredictable audience unwatchable beginning", "LABEL_2"),
    ("the guitar", "LABEL_0"),
)
DAMPING = 0.01


def tracin(task: SlowTask, everything: bool = False) -> np.ndarray:
    """-grad f' grad L_i"""
    weights = _weights(task, everything)
    own = _gradient(task, task.given, weights, None)
    return np.array([-own @ _gradient(task, text, weights, label) for text, label in _train()])


def influence(task: SlowTask) -> np.ndarray:
    """-1/n grad f' (H + damping I)^-1 grad L_i, H the mean over rows of sum_l p_l g_l g_l'."""
    weights = _weights(task, everything=False)
    own, n = _gradient(task, task.given, weights, None), len(TRAIN)
    losses = np.array([_gradient(task, text, weights, label) for text, label in _train()])
    curvature = DAMPING * np.eye(len(own))
    for text, _ in _train():
        chances = _chances(task, text)
        for label, chance in enumerate(chances):
            g = _gradient(task, text, weights, label)
            curvature += chance * np.outer(g, g) / n
    return np.asarray(-losses @ np.linalg.solve(curvature, own) / n)


def ask_last_layer(case: Case) -> Conversation[np.ndarray]:
    return (yield LastLayer([case.text.strings]))[0]  # type: ignore[no-any-return]


def last_layer(task: SlowTask) -> np.ndarray:
    state = _head(task, task.given)[1]
    if state is None:
        raise NoSuchNumber("the logits are not what one linear map gives")
    return state.double().numpy()


def _train() -> Sequence[tuple[str, int]]:
    return [(text, int(label[-1])) for text, label in TRAIN]


def _weights(task: SlowTask, everything: bool) -> list[Tensor]:
    weights = list(task.model.parameters() if everything else _head(task, task.given)[0].parameters())
    for weight in weights:
        weight.requires_grad_(True)
    return weights


def _head(task: SlowTask, text: str) -> tuple[nn.Linear, Tensor | None]:
    """The layer that gives the logits, and what it reads; None where they are made of several of its outputs."""
    calls: list[tuple[nn.Linear, Tensor, Tensor]] = []

    def note(layer: Any, args: Any, output: Tensor) -> None:
        calls.append((layer, args[0], output))

    linear = [layer for layer in task.model.modules() if isinstance(layer, nn.Linear)]
    handles = [layer.register_forward_hook(note) for layer in linear]
    try:
        with torch.no_grad():
            logits = task.model(**task.encoded(text)[0]).logits[0]
    finally:
        for handle in handles:
            handle.remove()
    for layer, read, output in reversed(calls):
        rows = output.reshape(-1, output.shape[-1])
        same = [i for i, row in enumerate(rows) if row.shape == logits.shape and torch.allclose(row, logits)]
        if same:
            return layer, read.reshape(-1, read.shape[-1])[same[-1]]
    wide = [layer for layer, _, output in calls if output.shape[-1] == len(logits)]
    if not wide:
        raise NoSuchNumber("no linear map gives the logits")
    return wide[-1], None


def _gradient(task: SlowTask, text: str, weights: list[Tensor], label: int | None) -> np.ndarray:
    """Of the loss of a label; without one, of the explained number."""
    logits = task.model(**task.encoded(text)[0]).logits[0]
    value = log_odds(logits, task.target) if label is None else -logits.log_softmax(-1)[label]  # type: ignore[attr-defined]
    found = torch.autograd.grad(value, weights, allow_unused=True)
    parts = [(torch.zeros_like(w) if g is None else g).flatten() for g, w in zip(found, weights, strict=True)]
    return torch.cat(parts).detach().double().numpy()


def _chances(task: SlowTask, text: str) -> list[float]:
    with torch.no_grad():
        return task.model(**task.encoded(text)[0]).logits[0].double().softmax(-1).tolist()

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
from assay.questions.parameters import LastLayer, ParameterGradient, Target
from sweep.slow_rows import NoSuchNumber, SlowTask, log_odds

TRAIN = (
    ("a slow sad story", "LABEL_0"),
    ("two dogs run", "LABEL_1"),
    ("unpredictable audience unwatchable beginning", "LABEL_2"),
    ("the guitar", "LABEL_0"),
)
DAMPING = 0.01
LISSA: dict[str, Any] = {"iterations": 20, "scale": 1000.0}
PROJECTED, NARROW = 64, 16  # how long a projection is; matrices no wider than that have a place for every number


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
    curvature = _curvature(task, weights) + DAMPING * np.eye(len(own))
    return np.asarray(-losses @ np.linalg.solve(curvature, own) / n)


def _curvature(task: SlowTask, weights: list[Tensor]) -> np.ndarray:
    """Of the last linear layer it is the Hessian of the mean loss."""
    parts = []
    for text, _ in _train():
        for label, chance in enumerate(_chances(task, text)):
            g = _gradient(task, text, weights, label)
            parts.append(chance * np.outer(g, g))
    return np.asarray(np.sum(parts, axis=0) / len(TRAIN))


def lissa(task: SlowTask) -> np.ndarray:
    """-1/n grad L_i' s,  s <- v + s - (H + damping I) s / scale  from v = grad f on, and s / scale in the end."""
    weights = _weights(task, everything=False)
    own, n = _gradient(task, task.given, weights, None), len(TRAIN)
    losses = np.array([_gradient(task, text, weights, label) for text, label in _train()])
    h = _curvature(task, weights) + DAMPING * np.eye(len(own))
    s = own
    for _ in range(LISSA["iterations"]):
        s = own + s - h @ s / LISSA["scale"]
    return np.asarray(-losses @ s / LISSA["scale"] / n)


def ask_projections(case: Case) -> Conversation[tuple[np.ndarray, ...]]:
    target = Target(case.text.strings, case.aim)
    (found,) = yield ParameterGradient([target], layers="all", project=PROJECTED, chances=True)
    return found[:PROJECTED], found[PROJECTED:]


def projections(task: SlowTask) -> tuple[np.ndarray, ...]:
    """Every number of the gradient goes to one of the sums, with a sign."""
    weights = _weights(task, everything=True)
    whole = _gradient(task, task.given, weights, None)
    generator, at, sums = torch.Generator().manual_seed(0), 0, np.zeros(PROJECTED)
    for weight in weights:
        sides = (len(weight), weight[0].numel()) if weight.dim() > 1 else ()
        place, sign = np.zeros(1, dtype=int), np.ones(1)
        for n in sides if min(sides, default=0) > NARROW else (weight.numel(),):  # of a wide matrix, rows and columns
            drawn = torch.randint(PROJECTED, (n,), generator=generator).numpy()
            signs = torch.randint(2, (n,), generator=generator).numpy() * 2 - 1
            place, sign = (np.add.outer(place, drawn) % PROJECTED).ravel(), np.multiply.outer(sign, signs).ravel()
        np.add.at(sums, place, sign * whole[at : at + weight.numel()])
        at += weight.numel()
    return sums, np.array(_chances(task, task.given))


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

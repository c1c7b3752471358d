"""Edits by hand: how far the gradient says that a replacement moves the number, and what the model says to versions."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from assay.explanations.case import Case
from assay.questions.base import Conversation
from assay.questions.replacements import Candidates, Replacements
from sweep.slow_gradients import AtEmbeddings
from sweep.slow_rows import NoSuchNumber, SlowTask

CANDIDATES = 4


def ask_replacements(case: Case) -> Conversation[Candidates]:
    return (yield Replacements(case.text, aim=case.aim, k=CANDIDATES))[0]  # type: ignore[no-any-return]


def replacements(task: SlowTask, found: Candidates | None) -> np.ndarray:
    """(e_v - e_i)' dF/de_i of these candidates: the first piece becomes v, the other pieces of the word go."""
    at = AtEmbeddings(task)
    gradient = at.gradient(at.point).double()
    dots = at.per_word((gradient * at.point).sum(-1))
    if found is None:
        return dots
    changes = np.zeros_like(found.changes)
    for i, (words, own) in enumerate(zip(found.words, at.row.pieces or (), strict=True)):
        for j, word in enumerate(words):
            changes[i, j] = float(gradient[own[0]] @ _vector(task, word)) - dots[i]
    if not (np.diff(found.changes, axis=1) >= 0).all():
        raise NoSuchNumber("the candidates are not in order")
    return changes


def _vector(task: SlowTask, word: str) -> torch.Tensor:
    """The row of a word that is one piece, as it stands after another word."""
    coded = task.tokenizer(f"a {word}", add_special_tokens=False)["input_ids"]
    with torch.no_grad():
        return task.embedding(torch.tensor([coded[-1:]])).reshape(-1).double()


def told(e: Any) -> tuple[np.ndarray, ...]:
    """What the explanation says of its versions, all of which flip; of the nearest attempt where there is none."""
    return tuple(np.array([*edit.prediction.values(), float(edit.flips)]) for edit in e.edits or (e.nearest,))


def versions(task: SlowTask, e: Any) -> tuple[np.ndarray, ...]:
    """What the model itself says to the strings of the versions."""
    if e is None:
        return (np.array([task.value(task.words)]),)
    return tuple(_said(task, edit.text, bool(e.edits)) for edit in e.edits or (e.nearest,))


def _said(task: SlowTask, string: str, flipped: bool) -> np.ndarray:
    with torch.no_grad():
        logits = task.model(**task.encoded(string)[0]).logits[0].double()
    flips = flipped and int(logits.argmax()) != task.target  # type: ignore[attr-defined]
    return np.array([*logits.softmax(-1).tolist(), float(flips)])

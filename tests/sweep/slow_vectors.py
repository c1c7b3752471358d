"""Hidden states and input embeddings by hand: one row, one bare forward pass, pieces by their characters."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.explanations.case import Case
from assay.questions.base import Conversation
from assay.questions.embeddings import Embeddings
from assay.questions.inside import Hidden
from sweep.slow_inside import whole
from sweep.slow_rows import NoSuchNumber, SlowTask

WORDS = ("film", "unpredictable", "guitar")  # one piece, or several
Parts = tuple[np.ndarray, ...]


def ask_states(case: Case) -> Conversation[Parts]:
    """The states of all layers for every word, and those of the last layer pooled in three more ways."""
    words = yield Hidden(case.text, pool="words")
    first = yield Hidden(case.text, layers=[-1], pool="first")
    text = yield Hidden(case.text, layers=[-1], pool="text")
    start = yield Hidden(case.text, layers=[-1], pool="cls")
    return (*words, first[0], text[0], start[0])


def states(task: SlowTask) -> Parts:
    row = whole(task)
    layers, pieces = _bare(task), row.pieces or []
    if not all(pieces):
        raise NoSuchNumber("a word has no piece")
    words = [torch.stack([layer[own].mean(0) for own in pieces]) for layer in layers]
    last, every = layers[-1], [i for own in pieces for i in own]
    pooled = [torch.stack([last[own[0]] for own in pieces]), last[every].mean(0)[None], last[:1]]
    return tuple(part.numpy() for part in (*words, *pooled))


def _bare(task: SlowTask) -> list[Tensor]:
    """The states of every layer [pieces, size], of the part that reads the text."""
    inputs = dict(task.row(task.words).inputs)
    model = task.model
    if "decoder_input_ids" in inputs:
        model = model.get_encoder()
        inputs = {name: inputs[name] for name in ("input_ids", "attention_mask") if name in inputs}
    with torch.no_grad():
        out = model(**inputs, output_hidden_states=True)
    found = getattr(out, "hidden_states", None) or getattr(out, "encoder_hidden_states", None)
    n = inputs["input_ids"].shape[1]
    if not found or any(one.dim() != 3 or one.shape[:2] != (1, n) for one in found):
        raise NoSuchNumber(f"the states are not a vector for each of the {n} pieces in every layer")
    return [one[0].float() for one in found]


def ask_embeddings(case: Case) -> Conversation[Parts]:
    found = yield Embeddings(WORDS)
    return tuple(found.vectors)


def embeddings(task: SlowTask) -> Parts:
    """Each word as it stands after another: the mean of what the layer gives to its pieces."""
    return tuple(map(np.asarray, (_row(task, word) for word in WORDS)))


def _row(task: SlowTask, word: str) -> Any:
    if not task.tokenizer.is_fast:
        raise NoSuchNumber("the tokenizer does not tell which piece is which word's")
    string = f"a {word}"
    coded = task.tokenizer(string, return_offsets_mapping=True, add_special_tokens=False)
    ids = [i for i, (_, end) in zip(coded["input_ids"], coded["offset_mapping"], strict=True) if end > 2]
    with torch.no_grad():
        return task.embedding(torch.tensor([ids])).reshape(len(ids), -1).double().mean(0).numpy()

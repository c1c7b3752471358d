"""Input marginalization by hand: each word gives way to the likeliest words of a masked language model."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy.special import expit, logit
from torch import Tensor

from sweep.slow_rows import SlowTask, joined


def input_marginalization(task: SlowTask, filler: tuple[Any, Any], k: int) -> np.ndarray:
    """a_i = f(x) - log-odds of the mean probability over the k likeliest whole words in the place of word i."""
    return np.array([task.value(task.words) - _expected(task, i, filler, k) for i in range(len(task.words))])


def _expected(task: SlowTask, i: int, filler: tuple[Any, Any], k: int) -> float:
    model, tokenizer = filler
    chances = _chances(task, i, model, tokenizer)
    likeliest = sorted(whole_words(tokenizer, len(chances)), key=lambda token: -float(chances[token]))[:k]
    shares = np.array([float(chances[token]) for token in likeliest])
    words = [tokenizer.decode([token]).removeprefix("##").strip() for token in likeliest]
    values = [task.value([*task.words[:i], word, *task.words[i + 1 :]]) for word in words]
    return float(logit((shares * expit(values)).sum() / shares.sum()))


def _chances(task: SlowTask, i: int, model: Any, tokenizer: Any) -> Tensor:
    """What the masked model thinks of every token in the place of word i."""
    words: list[str | None] = [*task.words[:i], tokenizer.mask_token, *task.words[i + 1 :]]
    place = i
    if type(task).__name__ == "Masked":  # its own hole stays, among the words that are explained
        hole = task.tokenizer.mask_token * len(task.tokens)  # type: ignore[attr-defined]
        at = task.chosen  # type: ignore[attr-defined]
        words, place = [*words[:at], hole, *words[at:]], i + (i >= at)
    string, spans = joined(words)
    beside = [task.context] if hasattr(task, "context") else []
    coded = tokenizer(string, *beside, return_offsets_mapping=True)
    fields = zip(coded.sequence_ids(0), coded["offset_mapping"], strict=True)
    start, end = spans[place]
    at = next(j for j, (field, (a, b)) in enumerate(fields) if field == 0 and a < end and start < b)
    names = ("input_ids", "attention_mask", "token_type_ids")
    inputs = {name: torch.tensor([coded[name]]) for name in names if name in coded}
    with torch.no_grad():
        return model(**inputs).logits[0, at].softmax(-1)


def whole_words(tokenizer: Any, size: int) -> list[int]:
    """Tokens that are a word by themselves, in the tokenizer's own way of marking."""
    tokens = [token or "" for token in tokenizer.convert_ids_to_tokens(list(range(size)))]
    mark = next((mark for mark in "Ġ▁" if sum(token.startswith(mark) for token in tokens) > 0.01 * len(tokens)), "")
    found = []
    for i, token in enumerate(tokens):
        inside = token.removeprefix(mark)
        if token in tokenizer.all_special_tokens or not inside or not token.startswith(mark) or token.startswith("##"):
            continue
        read = tokenizer.decode([i]).strip()
        if mark != "Ġ" or (read and "\ufffd" not in read):
            found.append(i)
    return found

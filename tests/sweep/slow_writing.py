"""What a language model writes, and how likely it finds a text: one row, the whole of it read again for every token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.errors import BadInput
from assay.explanations.case import Case
from assay.questions.base import Conversation
from assay.questions.generation import Generate, GenerateRow, Likelihood, Prompt, Sampling
from sweep.slow_language_models import Seq2Seq
from sweep.slow_rows import SlowTask

GIVEN = "never lets go"
TOKENS = 5
ROUNDING = 1e-4
PADS = ("<pad>", "[PAD]")  # RoBERTa and its kin count places past one otherwise from a cache than anew
DRAWN, SEED, WARM = 2, 3, Sampling(temperature=0.9, top_p=0.95)
_LONG = 30  # characters


def ask_written(case: Case) -> Conversation[tuple[np.ndarray, ...]]:
    prompt = case.text.strings[0]  # the longest, which is only company, ends first
    (found,) = yield Generate(prompt, max_tokens=TOKENS if len(prompt) < _LONG else 1)
    return (np.array(found.log_probs),)


def ask_likelihood(case: Case) -> Conversation[tuple[np.ndarray, ...]]:
    blank = "" if case.text.fields[0].name == "text" else " "  # an output is a text of its own
    (found,) = yield Likelihood(case.text.strings[0], blank + GIVEN)
    try:
        (ended,) = yield Likelihood(case.text.strings[0], blank + GIVEN, ended=True)
    except BadInput:  # it has no token that ends a text
        return (np.array(found.log_probs),)
    return np.array(found.log_probs), np.array(ended.log_probs)


def written(task: SlowTask) -> tuple[np.ndarray, ...]:
    """The likeliest token after the other, until a token that ends a text: log p of each."""
    ends, tokens, found = _ends(task), list[int](), list[float]()
    while len(tokens) < TOKENS:
        chances = _after(task, tokens)[-1]
        best = int(chances.argmax())
        if best in ends:
            break
        tokens.append(best)
        found.append(float(chances[best]))
    return (np.array(found),)


def ask_sampled(case: Case) -> Conversation[tuple[np.ndarray, ...]]:
    how = {"max_tokens": TOKENS, "sampling": WARM, "stop": PADS}
    found = yield Generate(case.text.strings[0], n=DRAWN, seed=SEED, **how)
    return tuple(np.array(one.log_probs) for one in found)


def sampled(task: SlowTask, found: Any) -> tuple[np.ndarray, ...]:
    return tuple(_drawn(task, number, () if found is None else found[number]) for number in range(DRAWN))


def _drawn(task: SlowTask, number: int, told: Sequence[float]) -> np.ndarray:
    """Token after token by the inverse of the distribution, from the row's own numbers: log p of each.

    Where a number lies on the bound between two tokens, to rounding, both are right: the one is taken that was told.
    """
    ends, tokens, found = _ends(task), list[int](), list[float]()
    chance = GenerateRow(Prompt(_prompt(task)), TOKENS, (), WARM, SEED, number).generator()
    while len(tokens) < TOKENS:
        logs = _after(task, tokens)[-1].numpy()
        near = _near(logs, chance.random())
        over = {i for i in near if i in ends or task.tokenizer.decode([i]) in PADS}
        if over and (len(found) >= len(told) or over == set(near)):
            break
        wanted = told[len(found)] if len(found) < len(told) else 0.0
        chosen = min((i for i in near if i not in over), key=lambda i: abs(logs[i] - wanted))
        tokens.append(chosen)
        found.append(float(logs[chosen]))
    return np.array(found)


def _near(logs: np.ndarray, number: float) -> list[int]:
    """The token that a number chooses; a neighbour too, where the bound between them is as near as rounding."""
    warm = np.exp(logs / WARM.temperature) / np.exp(logs / WARM.temperature).sum()
    kept, total = [], 0.0
    for token in sorted(range(len(warm)), key=lambda i: -warm[i]):
        if total < WARM.top_p:
            kept.append(token)
        total += warm[token]
    u, below, near = number * warm[kept].sum(), 0.0, []
    for token in sorted(kept):
        if below - ROUNDING <= u <= below + warm[token] + ROUNDING:
            near.append(token)
        below += warm[token]
    return near


def likelihood(task: SlowTask) -> tuple[np.ndarray, ...]:
    tokens, ends = _given(task), _ends(task)
    own = _log_probs(_after(task, tokens[:-1]), tokens)
    if not ends:
        return (own,)
    end = task.tokenizer.eos_token_id
    tokens.append(end if end in ends else min(ends))
    return own, _log_probs(_after(task, tokens[:-1]), tokens)  # ProphetNet's decoder sees that more is to come


def _log_probs(found: Tensor, tokens: Sequence[int]) -> np.ndarray:
    return np.array([float(row[token]) for row, token in zip(found[-len(tokens) :], tokens, strict=True)])


def _given(task: SlowTask) -> list[int]:
    if isinstance(task, Seq2Seq):
        return list(task.tokenizer(text_target=GIVEN, add_special_tokens=False)["input_ids"])
    prompt = _prompt(task)
    before, both = task.head(prompt)[0], task.head(f"{prompt} {GIVEN}")[0]  # type: ignore[attr-defined]
    assert both[: len(before)] == before
    return list(both[len(before) :])


def _prompt(task: SlowTask) -> str:
    return str(task.given[0])


def _after(task: SlowTask, tokens: Sequence[int]) -> Tensor:
    """The log-probabilities behind every token of the prompt (of the output's start) and of these."""
    inputs: dict[str, Any]
    if isinstance(task, Seq2Seq):
        inputs = dict(task.encoded(_prompt(task))[0])
        inputs |= {"decoder_input_ids": torch.tensor([[*task.start, *tokens]]), "use_cache": False}
    else:
        inputs = task.inputs([*task.head(_prompt(task))[0], *tokens])  # type: ignore[attr-defined]
    with torch.no_grad():
        return task.model(**inputs).logits[0].double().log_softmax(-1)


def _ends(task: SlowTask) -> set[int]:
    sources = (task.model.generation_config, task.model.config, task.tokenizer)
    return {i for source in sources for i in [getattr(source, "eos_token_id", None)] if isinstance(i, int)}

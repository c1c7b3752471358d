"""Span reading: windows of a paragraph, the span to learn in each, and the best span to answer with.

A training answer is known by its string only, so the occurrence whose neighbourhood shares most words with the
question is taken. An answer is the span of at most 30 pieces with the highest start + end logit over all windows.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from data import Question
from rows import Rows
from torch import Tensor
from transformers import BertTokenizer

WIDTH, STRIDE, LONGEST, NEIGHBOURHOOD = 384, 128, 30, 60
ARTICLES = re.compile(r"\b(a|an|the)\b")
Offsets = list[tuple[int, int]]


@dataclass(frozen=True)
class Windows:
    """Token rows, which question each belongs to, and the characters of each piece that may be in an answer."""

    rows: Rows
    owner: list[int]
    offsets: list[Offsets]


def windows(tokenizer: BertTokenizer, questions: Sequence[Question]) -> Windows:
    """All windows of all questions; pieces outside the context have the offsets (0, 0)."""
    coded = tokenizer(
        [one.question for one in questions],
        [one.context for one in questions],
        truncation="only_second",
        max_length=WIDTH,
        stride=STRIDE,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
    )
    types, owner = coded["token_type_ids"], coded["overflow_to_sample_mapping"]
    offsets = [keep_context(*both) for both in zip(coded["offset_mapping"], types, strict=True)]
    targets = [target(questions[i], pieces) for i, pieces in zip(owner, offsets, strict=True)]
    return Windows(Rows(coded["input_ids"], types, torch.tensor(targets)), owner, offsets)


def keep_context(offsets: Offsets, types: list[int]) -> Offsets:
    """Offsets of the context's pieces, (0, 0) elsewhere."""
    return [place if kind else (0, 0) for place, kind in zip(offsets, types, strict=True)]


def target(question: Question, offsets: Offsets) -> tuple[int, int]:
    """The pieces where the first answer starts and ends, or (0, 0) when the window does not hold it."""
    begin = occurrence(question)
    end = begin + len(question.answers[0])
    first = [i for i, (a, b) in enumerate(offsets) if a <= begin < b]
    last = [i for i, (a, b) in enumerate(offsets) if a < end <= b]
    return (first[0], last[0]) if first and last else (0, 0)


def occurrence(question: Question) -> int:
    """Where the answer stands: at the occurrence with most of the question's words around it."""
    answer, context = question.answers[0], question.context
    places = [found.start() for found in re.finditer(re.escape(answer), context)] or [0]
    asked = set(re.findall(r"\w+", question.question.lower()))
    return max(places, key=lambda at: len(asked & around(context, at, len(answer))))


def around(context: str, at: int, length: int) -> set[str]:
    """The words near a place."""
    near = context[max(0, at - NEIGHBOURHOOD) : at + length + NEIGHBOURHOOD]
    return set(re.findall(r"\w+", near.lower()))


def best_spans(start: Tensor, end: Tensor, allowed: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Per window: start piece, end piece, its score, and its probability p(start) p(end)."""
    start, end = start.masked_fill(~allowed, -1e9), end.masked_fill(~allowed, -1e9)
    pairs = start[:, :, None] + end[:, None, :]
    band = torch.ones_like(pairs[0], dtype=torch.bool).triu().tril(LONGEST - 1)
    score, flat = pairs.masked_fill(~band, -1e9).flatten(1).max(1)
    i, j = flat // start.shape[1], flat % start.shape[1]
    return i, j, score, (score - start.logsumexp(1) - end.logsumexp(1)).exp()


def plain(text: str) -> list[str]:
    """Words as SQuAD compares them."""
    return ARTICLES.sub(" ", re.sub(r"[^\w\s]", "", text.lower())).split()


def f1(guess: str, answer: str) -> float:
    """Overlap of words."""
    one, two = plain(guess), plain(answer)
    common = sum((Counter(one) & Counter(two)).values())
    return 2 * common / (len(one) + len(two)) if common else float(one == two)


def best_f1(guess: str, answers: Sequence[str]) -> float:
    """The best overlap with one of the answers."""
    return max(f1(guess, answer) for answer in answers)


def exact(guess: str, answers: Sequence[str]) -> float:
    """Whether the guess equals one of the answers."""
    return float(any(plain(guess) == plain(answer) for answer in answers))

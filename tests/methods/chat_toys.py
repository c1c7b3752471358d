"""Planted chat models: a sum of known word weights, and a function that says what it replies to a prompt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from assay.models.base import Handler
from assay.models.black_box import BlackBox, FunctionCall
from assay.questions.generation import Generate, Generated, GenerateRow, Generations
from assay.questions.predict import Predict
from assay.questions.replacements import DrawnWords, VocabularyWords

WEIGHTS = {"superb": 4.0, "charming": 3.0, "warm": 2.5, "dull": -4.0, "wooden": -3.0, "endless": -2.5}
QUESTION = "What is the sentiment of the following text?"


def sentiment(texts: list[Any]) -> np.ndarray:
    """The probability of "positive", from the words that have a weight."""
    sums = np.array([sum(WEIGHTS.get(word.strip(".,"), 0.0) for word in text.lower().split()) for text in texts])
    return np.asarray(1 / (1 + np.exp(-sums)))


class Replies(Handler["Chat"]):
    """Generate, by a function from the whole prompt to the reply."""

    def encode(self, model: Chat, rows: Sequence[GenerateRow]) -> Sequence[GenerateRow]:
        return rows

    def lengths(self, model: Chat, encoded: Sequence[GenerateRow]) -> list[int]:
        return [1] * len(encoded)

    def answer(self, model: Chat, batch: Sequence[GenerateRow]) -> list[Generations]:
        return [_written(model.reply(row.prompt.text)) for row in batch]


class Words(Handler["Chat"]):
    """VocabularyWords: words without a weight."""

    def encode(self, model: Chat, rows: Sequence[Any]) -> Sequence[Any]:
        return rows

    def lengths(self, model: Chat, encoded: Sequence[Any]) -> list[int]:
        return [1] * len(encoded)

    def answer(self, model: Chat, batch: Sequence[Any]) -> list[DrawnWords]:
        return [DrawnWords(("table", "river", "seven", "often")) for _ in batch]


class Chat(BlackBox):
    """Answers with a label, and talks."""

    answers = MappingProxyType({Predict: FunctionCall(), Generate: Replies(), VocabularyWords: Words()})
    question, chats = QUESTION, True

    def __init__(self, reply: Callable[[str], str]) -> None:
        super().__init__(sentiment, labels=["negative", "positive"])
        self.reply = reply


def _written(text: str) -> Generations:
    tokens = tuple(text.split(" "))
    return Generations((Generated(text, tokens, np.full(len(tokens), -0.5), "end", len(tokens)),), len(tokens))


def text_in(prompt: str) -> str:
    """The text that a prompt is about."""
    return prompt.partition("Text:\n")[2]

"""What is known of a model before it reads a text.

facts = yield ModelFacts()                           -> KnownFacts: its name, its labels and fields, what it answers
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from assay.questions.base import Conversation, Inquiry, Question
from assay.text.variants import Symbol


class KnownFacts(Protocol):
    """The answer."""

    @property
    def name(self) -> str: ...
    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def fields(self) -> tuple[str, ...]: ...
    @property
    def question(self) -> str: ...
    @property
    def chats(self) -> bool: ...
    @property
    def answers(self) -> Collection[type[Question]]: ...
    @property
    def spelling(self) -> Mapping[Symbol, str]: ...


class ModelFacts(Inquiry):
    """The facts of the model that is asked; it computes nothing for them."""


def goes_on(model: str) -> Conversation[bool]:
    """Whether what this language model writes stands behind its prompt; that of an encoder-decoder stands alone."""
    facts: KnownFacts = yield ModelFacts().sent_to(model)
    return facts.fields[0] == "prompt"

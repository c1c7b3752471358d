"""What many conversations need and only one of them has to work out.

    fitted = yield Once(("representer_points", train), lambda: fit(train))      -> the result of the conversation

The conversation is led when the first asks for its key; all others with the same key get the same result. The engine
keeps the results of the latest few keys: so the gradients of a training set are taken once, however many texts are
explained with them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from assay.questions.base import Conversation, Inquiry


class Once(Inquiry):
    """The result of a conversation that is led once for each key and model."""

    def __init__(self, key: Hashable, conversation: Callable[[], Conversation[Any]]) -> None:
        self.key, self.conversation = key, conversation

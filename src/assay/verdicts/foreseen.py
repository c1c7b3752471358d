"""How much work conversations will be: the signs of the rows that they ask first, each row once.

The first question is asked in thought only: nobody answers it. For most methods and checks it is the only one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

from assay.errors import AssayError
from assay.models import TextModel
from assay.questions.base import Conversation
from assay.questions.predict import Predict
from assay.registry.protocols import Check, Compares
from assay.verdicts.measuring import Maps


@dataclass
class Foreseen:
    """Counts rows that were not counted before."""

    model: TextModel
    counted: set[Hashable] = field(default_factory=set)

    def check(self, check: Check[Any], sets: Iterable[Maps]) -> int:
        """The work of a check on these sets of maps; one that asks something else than predictions is none."""
        maps = [e for one in sets for e in one]
        try:
            asked = [check.against(maps[0])] if isinstance(check, Compares) else [check.examine(e) for e in maps]
        except AssayError:  # said where it is asked in earnest
            return 0
        return self.first(asked)

    def first(self, conversations: Iterable[Conversation[Any]]) -> int:
        return sum(map(self._first, conversations))

    def _first(self, conversation: Conversation[Any]) -> int:
        try:
            inquiry = next(conversation, None)
        except AssayError:
            return 0
        conversation.close()
        if not isinstance(inquiry, Predict) or inquiry.model is not None:
            return 0
        new = set(inquiry.rows(self.model)) - self.counted
        self.counted |= new
        return sum(len(string) for row in new for string in row)

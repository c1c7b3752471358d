"""The difference between two strings, word by word: what stayed, what went, what came."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True)
class DiffPiece:
    """A part of a diff."""

    kind: Literal["same", "gone", "new"]
    text: str


def diff(before: str, after: str) -> Iterator[DiffPiece]:
    """The pieces in their order: where words were replaced, those that went come first."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield DiffPiece("same", "".join(old[a:b]))
            continue
        if b > a:
            yield DiffPiece("gone", "".join(old[a:b]))
        if d > c:
            yield DiffPiece("new", "".join(new[c:d]))

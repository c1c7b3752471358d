"""The difference between two strings, word by word: what stayed, what went, what came."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from assay.views.visible import one_line

_STYLES = {"same": "", "gone": "red strike", "new": "bold green"}
_MARKS = {"same": ("", ""), "gone": ("[-", "-]"), "new": ("{+", "+}")}
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


def marked(piece: DiffPiece) -> Iterator[tuple[str, str]]:
    """A piece for a terminal, in marks that read without colour too; white space at the edges stays outside of them."""
    text, (opening, closing), style = one_line(piece.text), _MARKS[piece.kind], _STYLES[piece.kind]
    core = text.strip()
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :] if core else ""
    yield before, ""
    if core:
        yield f"{opening}{core}{closing}", style
        yield after, ""

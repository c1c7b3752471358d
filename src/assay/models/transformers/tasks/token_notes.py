"""Tokens as a note in a text: their string, or where the string's own tokens would be others, `#ids string`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from assay.errors import BadInput
from assay.models.transformers.network import Network
from assay.models.transformers.tasks.base import remembered

_SPELLED = re.compile(r"#(\d+(?:,\d+)*) ")


class TokenNotes:
    """Between notes and tokens; `pieces_of` gives the tokens of a string."""

    def __init__(self, network: Network, pieces_of: Callable[[str], Sequence[int]]) -> None:
        self.network, self.pieces_of = network, pieces_of
        self._known: dict[str, tuple[int, ...]] = {}

    def tokens(self, note: str) -> tuple[int, ...]:
        """The tokens of a note."""
        return remembered(self._known, note, self._read)

    def _read(self, note: str) -> tuple[int, ...]:
        match = _SPELLED.match(note)
        return tuple(map(int, match[1].split(","))) if match else tuple(self.pieces_of(note))

    def note(self, ids: Sequence[int], *strings: str) -> str:
        """How tokens stand in a text: the first of these strings that has these tokens, or else with their numbers."""
        fitting = (string for string in strings if self.tokens(string) == tuple(ids))
        return next(fitting, f"#{','.join(map(str, ids))} {strings[0]}")

    def known(self, string: str) -> tuple[int, ...]:
        """The tokens of a string that the user gives; an error where the vocabulary has none for a part of it."""
        return self.require(tuple(self.pieces_of(string)), string)

    def require(self, ids: tuple[int, ...], string: str) -> tuple[int, ...]:
        """The tokens of a string as they are; an error where the vocabulary has none for a part of it."""
        tokenizer = self.network.tokenizer
        if tokenizer.unk_token_id in ids and tokenizer.unk_token_id != tokenizer.eos_token_id:
            raise BadInput(f"the vocabulary of {self.network.name} has no tokens for {string.strip()[:40]!r}.")
        return tuple(ids)


def without_numbers(note: str) -> str:
    """A note for people."""
    return _SPELLED.sub("", note, count=1) if _SPELLED.match(note) else note

"""Texts that a method compares with: given as a list, or as @FILE with one text a line.

They may be many, and every explanation says how it was made: so a corpus is written down as the number of its texts
and a digest of them. Whoever makes a method from what was written has to give the texts again.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from assay.errors import BadInput
from assay.text.formats import numbered
from assay.text.opening import opened


class Corpus(tuple[str, ...]):
    """Texts to compare with."""

    __slots__ = ()

    @classmethod
    def of(cls, given: object) -> Corpus:
        """A corpus from a list of texts, or from @FILE."""
        if isinstance(given, str) and given.startswith("@"):
            return cls(_lines(given[1:]))
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise BadInput(
                f"a corpus is a list of texts, or @FILE with one text a line, not {given!r:.60}; "
                "of a saved explanation only its size and digest are known, so give its texts again."
            )
        return cls(map(_readable, given))

    def __str__(self) -> str:
        digest = blake2b("\x1f".join(self).encode(), digest_size=6).hexdigest()
        return f"{len(self)} texts, {digest}"


def _readable(text: object) -> str:
    if not isinstance(text, str):
        raise BadInput(f"the texts of a corpus must be strings, not {text!r:.60}.")
    if any("\ud800" <= c <= "\udfff" for c in text):
        raise BadInput(f"a text of the corpus has a lone surrogate, which no tokenizer can read: {text!r:.60}.")
    return text


def _lines(name: str) -> list[str]:
    """The lines of a file that are not blank."""
    with opened(name, "\n") as stream:
        return [line for _, line in numbered(stream)]

"""Texts as the models of Jain and Wallace read them: lower case, one blank between tokens, `qqq` for what has a digit.

They tokenise with spaCy; here a regular expression does it: 's, n't, 're, 've, 'll, 'd and 'm come off their word, and
each other mark stands alone. spaCy besides keeps "3.5", "..." and "o'clock" as one token. A text that is published as
tokens is not cut again. (Jain and Wallace 2019, appendix A; their release leaves the digits of SST, IMDb and ADR.)
"""

from __future__ import annotations

import regex

_TOKEN = regex.compile(r"\w+?(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b|\w+|[^\w\s]")
_DIGIT = regex.compile(r"\d")
_ENTITY = "@entity"  # of CNN: names, not numbers


def tokenised(text: str) -> str:
    """A text as people write it."""
    return plain(" ".join(_TOKEN.findall(text.lower())))


def plain(text: str) -> str:
    """A text whose tokens are parted already."""
    return " ".join(word if word.isalpha() else _without_digits(word) for word in text.lower().split())


def _without_digits(word: str) -> str:
    return "qqq" if _DIGIT.search(word) and not word.startswith(_ENTITY) else word

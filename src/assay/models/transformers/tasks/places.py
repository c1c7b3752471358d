"""One word of a text as the place of what is explained: found as the user names it, and set apart from its field."""

from __future__ import annotations

from collections.abc import Sequence

from assay.errors import BadInput
from assay.text.text import Field, Span, Text


def around(field: Field, place: Span, name: str) -> tuple[Field, Field, Field]:
    """The field in three: what stands before a place, the place itself as one word, and what follows."""
    (start, end), string = place, field.string
    return (
        Field("before", string[:start], _within(field, 0, start), "first"),
        Field(name, string[start:end], ((0, end - start),), "middle"),
        Field("after", string[end:], _within(field, end, len(string)), "last"),
    )


def _within(field: Field, start: int, end: int) -> tuple[Span, ...]:
    """The words of the field from start to end, counted from start; a longer unit is cut there."""
    spans = []
    for a, b in field.spans:
        cut = field.string[max(a, start) : min(b, end)] if a < end and start < b else ""
        first = max(a, start) + len(cut) - len(cut.lstrip()) - start
        spans.append((first, first + len(cut.strip())))
    return tuple((a, b) for a, b in spans if a < b)


def find_word(string: str, given: str) -> Span:
    """The word that the user means, by its number ("3" or "3:film", counted from 0) or by itself ("film")."""
    (field,) = Text.of(string).fields
    number, _, word = given.strip().partition(":")
    if not number.isdecimal():
        return field.spans[_only(field.words, given.strip())]
    i = int(number)
    if i >= len(field.words):
        raise BadInput(f"there is no word {i}: the model sees {len(field.words)} words, counted from 0.")
    if word and word != field.words[i]:
        raise BadInput(f"word {i} of the text is {field.words[i]!r}, not {word!r}.")
    return field.spans[i]


def _only(words: Sequence[str], word: str) -> int:
    places = [i for i, one in enumerate(words) if one == word]
    if not places:
        raise BadInput(f"there is no word {word!r} in the text that the model sees.")
    if len(places) > 1:
        which = " or ".join(f"'{i}:{word}'" for i in places[:4])
        raise BadInput(f"the word {word!r} is there {len(places)} times; say which by its number: {which}.")
    return places[0]

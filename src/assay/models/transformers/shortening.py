"""Pieces and the words they belong to; and a field that is too long, cut at a word, at its end or at its start."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from assay.text.text import Field, Span


def owners(field: Field, offsets: Sequence[tuple[int, int]]) -> list[tuple[int, int, float]]:
    """(piece, word, share) wherever a piece and a word have characters in common."""
    starts, ends = [start for start, _ in field.spans], [end for _, end in field.spans]
    links = []
    for piece, (start, end) in enumerate(offsets):
        words = range(bisect_right(ends, start), bisect_left(starts, end))
        links += [(piece, word, 1 / len(words)) for word in words]
    return links


def without_end(field: Field, offsets: Sequence[tuple[int, int]], size: int) -> Field:
    """The field up to the last word that is seen whole; of a first sentence that is too long, what is seen of it."""
    if size >= len(offsets):
        return field
    end = offsets[size][0]
    spans = tuple(span for span in field.spans if span[1] <= end) or _begun(field, end)
    return Field(field.name, field.string[: spans[-1][1] if spans else 0], spans)


def _begun(field: Field, end: int) -> tuple[Span, ...]:
    """The first unit up to the last blank but one before the end: at a new end a word may have a piece more.

    There is none where it is a word or two.
    """
    start = field.spans[0][0] if field.spans else end
    seen = field.string[start:end].rpartition(" ")[0].rpartition(" ")[0].rstrip()
    return ((start, start + len(seen)),) if seen else ()


def without_start(field: Field, offsets: Sequence[tuple[int, int]], size: int) -> Field:
    """The field from the first word on that is seen whole; of a last sentence that is too long, what is seen of it."""
    if size >= len(offsets):
        return field
    gone = offsets[len(offsets) - size - 1][1] if size else len(field.string)
    return _from(field, tuple(span for span in field.spans if span[0] >= gone) or _ended(field, gone))


def without_first_word(field: Field) -> Field:
    return _from(field, field.spans[1:])


def _from(field: Field, spans: tuple[Span, ...]) -> Field:
    """The field from its first span on, with the blank before it: without, it could be spelt as a start is."""
    if not spans:
        return Field(field.name, "", ())
    start = spans[0][0] - (spans[0][0] > 0 and field.string[spans[0][0] - 1].isspace())
    return Field(field.name, field.string[start:], tuple((a - start, b - start) for a, b in spans))


def _ended(field: Field, gone: int) -> tuple[Span, ...]:
    """The last unit from the second blank on behind what is gone; there is none where it is a word or two."""
    end = field.spans[-1][1] if field.spans else gone
    seen = field.string[gone:end].partition(" ")[2].partition(" ")[2].lstrip()
    return ((end - len(seen), end),) if seen else ()

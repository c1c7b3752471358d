"""The edit distance of two lists of words (Levenshtein): the fewest words to insert, remove or replace."""

from __future__ import annotations

from collections.abc import Sequence


def edit_distance(before: Sequence[str], after: Sequence[str]) -> int:
    """How many words must be inserted, removed or replaced to make one list of the other."""
    row = list(range(len(after) + 1))
    for i, old in enumerate(before, start=1):
        diagonal, row[0] = row[0], i
        for j, new in enumerate(after, start=1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (old != new))
    return row[-1]

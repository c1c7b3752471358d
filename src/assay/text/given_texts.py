"""The texts that a user gives to a verb, in any of the forms that people have them in, as one list.

    "a text", ("a", "pair"), {"premise": ..., "hypothesis": ...}        one text
    a list, a Series, an array, an iterator                             many texts
    a frame, a pathlib.Path, a Sample                                   the texts in it

What cannot be a text is refused with a sentence that says what to give instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from assay.errors import BadInput, BadText
from assay.text.sample import Sample

_LONGEST_NAME = 250


def texts_of(given: Any) -> tuple[list[Any], bool]:
    """The texts as a list, and whether there may be many."""
    if isinstance(given, str):
        _require_no_file(given)
        return [given], False
    if isinstance(given, Sample | Path) or _is_frame(given):
        if not isinstance(given, Sample | Path):
            _require_one_column(list(map(str, given.columns)))
        return list(Sample.of(given).require_rows().texts), True
    if isinstance(given, list):
        return given, True
    if isinstance(given, Iterator):
        return list(given), True
    if hasattr(given, "tolist"):  # of pandas, numpy or torch, none of which is imported for that
        found = given.tolist()
        return (_not_numbers(found), True) if isinstance(found, list) else ([found], False)
    _require_text(given)
    return [given], False


def _require_one_column(columns: Sequence[str]) -> None:
    """A frame has its texts in the column called text, or in its only one."""
    if "text" not in columns and len(columns) > 1:
        named = ", ".join(columns[:12])
        raise BadInput(
            f"give the column of the frame that holds the texts, as in frame[{columns[0]!r}]; it has: {named}."
        )


def _require_text(given: Any) -> None:
    """What people take for a text, or for several, and what to give instead."""
    if isinstance(given, Set):
        raise BadInput(f"a set has no order; give its {len(given)} texts as a list.")
    if isinstance(given, tuple) and len(given) != 2:
        raise BadInput(f"a tuple is a pair of texts, not {len(given)}; give several texts as a list: [...].")
    if isinstance(given, Mapping) and "input_ids" in given:
        raise BadText("these are tokens; give the text itself, which is split into the model's tokens here.")


def _not_numbers(found: list[Any]) -> list[Any]:
    first = found[0] if found else ""
    while isinstance(first, list) and first:
        first = first[0]
    if isinstance(first, int | float) and first == first:  # a missing value of a Series is a text's own error
        raise BadText("these are numbers; give the text itself, which is split into the model's tokens here.")
    return found


def _require_no_file(text: str) -> None:
    """The name of a file would be explained as a text of one word or two: nobody wants that."""
    if len(text) > _LONGEST_NAME:
        return
    try:
        is_file = Path(text).is_file()
    except (OSError, ValueError):  # no name of a file: too long, or with a zero byte
        return
    if is_file:
        raise BadInput(f"{text} is a file; to read the texts in it, give pathlib.Path({text!r}).")


def _is_frame(given: Any) -> bool:
    """A frame of pandas, which has columns; a Series has none."""
    return hasattr(given, "columns") and hasattr(given, "iloc")

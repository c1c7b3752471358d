"""AG News: four topics.

The published csv has no header: class 1 to 4, title, description. The jsonl form has label 0 to 3 and text.
Zhang, Zhao and LeCun (2015), arXiv:1509.01626. Title and description make one text, with a blank between; or the
description alone, as Jain and Wallace (2019) take it.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.data.files import FilePlace, PathLike, objects, table
from assay.text.example import Example

LABELS = ("World", "Sports", "Business", "Sci/Tech")
_COLUMNS = ("class", "title", "description")


def published(path: PathLike, *, titles: bool = True) -> Iterator[Example]:
    """The published table."""
    for row in table(path, _COLUMNS):
        title = f"{row.string('title')} " if titles else ""
        text = f"{title}{row.string('description')}"
        yield Example(str(row.place.number), (text,), _label(row.place, row.string("class"), first=1))


def read(path: PathLike) -> Iterator[Example]:
    """Objects of label and text."""
    for row in objects(path):
        label = _label(row.place, str(row.number("label")), first=0)
        yield Example(str(row.place.number), (row.string("text"),), label)


def _label(place: FilePlace, label: str, first: int) -> str:
    if not label.isdecimal() or not first <= int(label) < first + len(LABELS):
        place.refuse(f"the label must be {first} to {first + len(LABELS) - 1}, not {label!r}")
    return LABELS[int(label) - first]

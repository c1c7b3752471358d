"""IMDb reviews, one object a line: id, label (0 negative, 1 positive), text.

Maas et al. (2011), https://aclanthology.org/P11-1015.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.data.files import PathLike, objects
from assay.text.example import Example

LABELS = ("negative", "positive")


def read(path: PathLike) -> Iterator[Example]:
    for row in objects(path):
        label = row.number("label")
        if label not in (0, 1):
            row.place.refuse(f"the label must be 0 or 1, not {label}")
        yield Example(row.name("id") or str(row.place.number), (row.string("text"),), LABELS[label])

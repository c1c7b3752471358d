"""All labels at once: what is explained of a text, once for each label.

A label that is called "all" is that label. A model of thousands of labels, such as a vocabulary, is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar

from assay.errors import BadInput
from assay.explanations.explanation_list import Explanations
from assay.explanations.reading import Reader
from assay.questions.aims import Aims
from assay.text.text import TextLike

ALL = "all"
_MOST = 50
T = TypeVar("T")


def aims_for_labels(model: Reader, aims: Aims) -> list[Aims]:
    """The aims themselves, or with target="all" those of every label."""
    labels = model.labels
    if aims.target != ALL or ALL in labels:
        return [aims]
    if aims.against is not None:
        raise BadInput(f'target="all" explains every label; leave out against={aims.against!r}, or name one target.')
    if not 1 <= len(labels) <= _MOST or model.target is not None:
        found = f"has {len(labels):,}" if model.target is None else "answers with words"
        raise BadInput(f'target="all" is for models that choose among up to {_MOST} labels; this one {found}.')
    return [replace(aims, target=i) for i in range(len(labels))]


def product_of(texts: Iterable[TextLike], aims: list[Aims]) -> Iterator[tuple[TextLike, Aims]]:
    """Every text with every aim, text by text and without holding them all."""
    return ((text, one) for text in texts for one in aims)


def batched(items: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    """So many items at a time."""
    waiting = iter(items)
    while batch := tuple(islice(waiting, size)):
        yield batch


def grouped(found: Sequence[Any], labels: int, many: bool) -> Any:
    """The explanations of many texts as a list, of one text alone; of all labels as a list for each text."""
    if labels > 1:
        found = [Explanations(some) for some in batched(found, labels)]
    return Explanations(found) if many else found[0]

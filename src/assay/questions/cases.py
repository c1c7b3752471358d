"""The cases of many texts: what is explained of each, as the model reads it.

    readings = yield Cases(sample.texts)                               -> a Reading for each text, in order
    maps = yield Each(reading.explained_by(method) for reading in readings)

Which label, which scale and which seed: as the user of the method said, unless the method itself says it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from assay.questions.aims import Aims
from assay.questions.base import Conversation, Inquiry, changed
from assay.questions.each import Each
from assay.questions.randomness import Randomness
from assay.text.text import TextLike

T = TypeVar("T")


class Cases(Inquiry):
    """Each text cut to the model's window, settled where the model answers freely, and with its target.

    Those that are not `predicted` are only read: they have no prediction, and their target means nothing.
    """

    def __init__(self, texts: Iterable[TextLike], aims: Aims | None = None, *, predicted: bool = True) -> None:
        self.texts, self.aims, self.predicted = texts, aims, predicted


def with_aims(conversation: Conversation[T], aims: Aims) -> Conversation[T]:
    """The same, in which cases and random numbers without aims of their own get these; in its children too."""

    def change(inquiry: Inquiry) -> Inquiry:
        match inquiry:
            case Cases(aims=None):
                cases = Cases(inquiry.texts, aims, predicted=inquiry.predicted)
                return cases if inquiry.model is None else cases.sent_to(inquiry.model)
            case Randomness(seed=None):
                return Randomness(inquiry.sample, aims.seed)
            case Each():
                return inquiry.with_children(lambda child: with_aims(child, aims))
        return inquiry

    return changed(conversation, change)

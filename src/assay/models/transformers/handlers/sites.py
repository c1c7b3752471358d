"""What the handlers of sites share: where the layers of a model have their heads and neurons, and texts as rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import torch

from assay.errors import AssayError, Unanswerable
from assay.models.base import Handler
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.attending import ATTENTION
from assay.models.transformers.tasks.projection import Wanted
from assay.models.transformers.units import Skeleton, skeleton
from assay.questions.intervene import Site
from assay.statistics.arrays import Floats
from assay.text.text import Row, Text

EncodedText: TypeAlias = tuple[Any, int]  # as the task takes it, and how many pieces it has


@dataclass(frozen=True)
class ReadTexts:
    """A text as the task takes it, its length, and what is put into it: zero, mean, or what another text has."""

    row: Any
    length: int
    value: str
    donor: Row = ()
    donor_row: Any = None
    donor_length: int = 0

    @cached_property
    def reading(self) -> Hashable:
        """All that a language model is given of it, but for what is asked of it."""
        donor = _tokens(self.donor_row) if self.donor else self.value
        return _tokens(self.row), self.length, donor, self.donor_length


class SiteRow:
    """A text, and the sites at which something is put into it. There are thousands for one text."""

    __slots__ = ("sites", "texts")

    def __init__(self, texts: ReadTexts, sites: tuple[Site, ...]) -> None:
        self.texts, self.sites = texts, sites

    def __len__(self) -> int:
        return self.texts.length


class SiteHandler(Handler[HuggingFace]):
    """What the handlers of sites share: the layers of the model, found when they are first wanted."""

    def __init__(self) -> None:
        self._known: tuple[Any, Skeleton] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"_known": None}  # modules of a twin, which does not travel with the model

    def frame(self, model: HuggingFace) -> Skeleton:
        """Of the twin that is run now: it is made anew when the user's model was changed."""
        network = model.network.model
        if self._known is None or self._known[0] is not network:
            inputs = model.network.inputs([_one_row(model)], [None])
            with model.quiet(), torch.no_grad(), model.network.attending_by(ATTENTION):
                self._known = network, skeleton(network, lambda: model.task.body(**inputs))
        return self._known[1]


class UnitCountsHandler(SiteHandler):
    """How many units each layer has."""

    def encode(self, model: HuggingFace, rows: Sequence[str]) -> list[list[str]]:
        return [[row] for row in rows]

    def answer(self, model: HuggingFace, batch: Sequence[Any]) -> list[Floats]:
        frame = self.frame(model)
        return [np.array([frame.heads, frame.neurons], dtype=np.float64) for _ in batch]


def encoded_text(model: HuggingFace, text: Text) -> EncodedText:
    """A text as the task takes it, and how many pieces it has."""
    task = model.task
    if task.widths and not task.settled(text):
        raise task.unsettled()
    row = task.once(text.strings)
    if isinstance(row, AssayError):
        raise row
    return row, task.lengths([row])[0]


def no_neurons(model: HuggingFace, layer: int) -> Unanswerable:
    return Unanswerable(
        f"layer {layer} of {model.name} has no neurons between two linear maps: it has several feed-forward "
        "parts (experts), or none."
    )


def _one_row(model: HuggingFace) -> list[int]:
    return model.task.pieces(Text.of("a", names=model.fields)).ids


def _tokens(row: Wanted) -> Hashable:
    return tuple(row.ids), row.types and tuple(row.types), row.before

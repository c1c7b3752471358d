"""The cases of many texts: what is explained of each, as the model reads it.

readings = yield Cases(sample)                                     -> a Reading for each text, in order
maps = yield Each(reading.explained_by(method) for reading in readings)
"""

from __future__ import annotations

from collections.abc import Iterable

from assay.questions.aims import Aims
from assay.questions.base import Inquiry
from assay.text.text import TextLike


class Cases(Inquiry):
    """Each text cut to the model's window, settled where the model answers freely, and with its target."""

    def __init__(self, texts: Iterable[TextLike], aims: Aims | None = None) -> None:
        self.texts, self.aims = texts, aims or Aims()

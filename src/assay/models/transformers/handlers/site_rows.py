"""Rows of Intervene, read: each text once, and each set of sites checked once for texts of these lengths.

Mediation asks some hundred sets of sites of every text, each a row of its own: what rows share is looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from assay.errors import AssayError, BadInput
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.handlers.sites import EncodedText, ReadTexts, SiteRow, encoded_text, no_neurons
from assay.models.transformers.tasks.base import result_or_error
from assay.models.transformers.units import Skeleton
from assay.questions.intervene import InterveneRow, Site
from assay.text.text import Row, Text


class RowReader:
    """Reads rows; an error in the place of a row is its answer. `frame` finds the units of the model."""

    def __init__(self, model: HuggingFace, frame: Callable[[], Skeleton]) -> None:
        self.model, self.frame = model, frame
        self._texts: dict[Row, EncodedText | AssayError] = {}
        self._pairs: dict[tuple[Row, Row | str], ReadTexts | AssayError] = {}
        self._checked: dict[Hashable, AssayError | None] = {}

    def read(self, row: InterveneRow) -> SiteRow | AssayError:
        value = row.value
        key = row.text.strings, value.strings if isinstance(value, Text) else value
        texts = self._pairs.get(key)
        if texts is None:
            texts = self._pairs[key] = result_or_error(self._read, row)
        if isinstance(texts, AssayError):
            return texts
        fits = row.sites, texts.length, texts.donor_length
        if fits not in self._checked:
            self._checked[fits] = result_or_error(self._check, row, texts)
        # The message names the two texts, so an error is made for each row.
        return SiteRow(texts, row.sites) if self._checked[fits] is None else self._error(row, texts)

    def _read(self, row: InterveneRow) -> ReadTexts:
        encoded, length = self._encoded(row.text)
        if not isinstance(row.value, Text):
            return ReadTexts(encoded, length, row.value)
        return ReadTexts(encoded, length, "text", row.value.strings, *self._encoded(row.value))

    def _encoded(self, text: Text) -> EncodedText:
        if text.strings not in self._texts:
            self._texts[text.strings] = result_or_error(encoded_text, self.model, text)
        found = self._texts[text.strings]
        if isinstance(found, AssayError):
            raise found
        return found

    def _error(self, row: InterveneRow, texts: ReadTexts) -> AssayError:
        error = result_or_error(self._check, row, texts)
        assert error is not None
        return error

    def _check(self, row: InterveneRow, texts: ReadTexts) -> None:
        """An error where a site is not there."""
        for site in row.sites:
            self._check_site(site, texts.length)
        if not texts.donor:
            return
        length, other = texts.length, texts.donor_length
        if length != other and any(site.position is None for site in row.sites):
            raise BadInput(
                f"{str(row.text)[:40]!r} has {length} pieces and {str(row.value)[:40]!r} has {other}: intervene at one "
                "position, or with a text of the same length."
            )
        if any(site.position is not None and not -other <= site.position < other for site in row.sites):
            raise BadInput(f"{str(row.value)[:40]!r} has only {other} pieces.")

    def _check_site(self, site: Site, length: int) -> None:
        frame = self.frame()
        if not 0 <= site.layer < len(frame.layers):
            raise BadInput(f"there is no layer {site.layer}: there are {len(frame.layers)}, counted from 0.")
        size = {"layer": 1, "head": frame.heads[site.layer], "neuron": frame.neurons[site.layer]}[site.part]
        if not size:
            raise no_neurons(self.model, site.layer)
        if site.unit is not None and not 0 <= site.unit < size:
            raise BadInput(f"there is no {site.part} {site.unit} in layer {site.layer}: there are {size}, from 0.")
        if site.position is not None and not -length <= site.position < length:
            raise BadInput(f"there is no piece {site.position}: the text has {length}.")

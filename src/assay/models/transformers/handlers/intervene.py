"""Intervene: what a model answers when units of it have other values.

Rows of one batch may have different texts and different sites: each row is a sequence, and in every layer the units of
the rows that are changed there are replaced, all at once. What other texts have at these sites is recorded first, in a
forward pass of those texts, each once a batch. So thousands of interventions cost about as many plain rows. Rows of a
language model that differ only in the word that is asked for are one row to it: "she" and "he" behind one prompt are
read off the same place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor

from assay.errors import AssayError
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.attending import ATTENTION
from assay.models.transformers.handlers.site_rows import RowReader
from assay.models.transformers.handlers.sites import SiteHandler, SiteRow
from assay.models.transformers.tasks.continued import Continued
from assay.models.transformers.units import Skeleton, watched
from assay.questions.intervene import InterveneRow, Part
from assay.statistics.arrays import Floats
from assay.text.text import Row

Units: TypeAlias = dict[tuple[Part, int], Tensor]
Place: TypeAlias = tuple[Part, int, str]  # kind, layer, and what is put there


@dataclass
class SiteReplacements:
    """What is put where in one layer: of which rows, at which unit and piece (-1: all of them), from which donor."""

    rows: list[int] = field(default_factory=list)
    units: list[int] = field(default_factory=list)
    pieces: list[int] = field(default_factory=list)
    donors: list[int] = field(default_factory=list)
    donor_pieces: list[int] = field(default_factory=list)

    def table(self) -> list[list[int]]:
        return [self.rows, self.units, self.pieces, self.donors, self.donor_pieces]


@dataclass(frozen=True)
class Replacing:
    """The same on the device [5, n], and the places split so that no row is twice in a part."""

    table: Tensor
    rounds: list[Tensor | slice]

    @classmethod
    def of(cls, some: SiteReplacements, table: Tensor) -> Replacing:
        parts = _rounds(some.rows)
        if len(parts) == 1:
            return cls(table, [slice(None)])
        return cls(table, [torch.tensor(part, device=table.device) for part in parts])


class InterveneHandler(SiteHandler):
    """Runs rows with some of their units replaced."""

    def encode(self, model: HuggingFace, rows: Sequence[InterveneRow]) -> list[SiteRow | AssayError]:
        reader = RowReader(model, lambda: self.frame(model))
        return [reader.read(row) for row in rows]

    def vocabulary_places(self, model: HuggingFace, encoded: Sequence[SiteRow]) -> list[int] | None:
        return model.task.vocabulary_places(row.texts.row for row in encoded)

    def answer(self, model: HuggingFace, batch: Sequence[SiteRow]) -> Tensor:
        frame, network = self.frame(model), model.network
        read = _readings(batch) if isinstance(model.task, Continued) else range(len(batch))
        own, batch = batch, [batch[i] for i in sorted(set(read))]
        with torch.no_grad(), network.without_cache(), network.attending_by(ATTENTION):
            donors, recorded = self._recorded(model, frame, batch)
            edits = _on_device(_edits(batch, donors), network.device)
            lengths = torch.tensor([len(row) for row in batch], device=network.device)

            def put(part: Part, layer: int, units: Tensor) -> Tensor:
                for value in ("zero", "mean", "text"):
                    if (some := edits.get((part, layer, value))) is not None:
                        units = _replaced(units, some, value, recorded.get((part, layer)), lengths)
                return units

            with watched(frame, put, {part for part, _, _ in edits}):
                if isinstance(model.task, Continued):
                    return model.task.logits_of_readings([row.texts.row for row in own], read)
                return model.task.logits([row.texts.row for row in batch])

    def collect(self, model: HuggingFace, outputs: Sequence[Tensor]) -> list[Floats]:
        return list(torch.cat(list(outputs)).double().cpu().numpy()) if outputs else []

    def _recorded(self, model: HuggingFace, frame: Skeleton, batch: Sequence[SiteRow]) -> tuple[dict[Row, int], Units]:
        """Which number each other text has, and the units of all of them at the layers where they are wanted."""
        given = {row.texts.donor: row.texts for row in batch if row.texts.donor}
        wanted = {(site.part, site.layer) for row in batch if row.texts.donor for site in row.sites}
        found: dict[tuple[Part, int], list[Tensor]] = defaultdict(list)

        def keep(part: Part, layer: int, units: Tensor) -> Tensor:
            if (part, layer) in wanted:
                found[part, layer].append(units)
            return units

        groups: dict[int, list[Row]] = defaultdict(list)
        for donor, row in given.items():  # texts of one length go together, where padding would change an answer
            groups[0 if model.found.company == "padded" else row.donor_length].append(donor)
        for donors in groups.values():
            most = model.most_rows or max(1, model.preferred_tokens // max(given[d].donor_length for d in donors))
            for start in range(0, len(donors), most):
                some = donors[start : start + most]
                with watched(frame, keep, {part for part, _ in wanted}):
                    model.task.logits([given[donor].donor_row for donor in some])
        order = [donor for donors in groups.values() for donor in donors]
        return {donor: i for i, donor in enumerate(order)}, {key: _stacked(parts) for key, parts in found.items()}


def _readings(batch: Sequence[SiteRow]) -> list[int]:
    """For each row the first one that the model reads as it: the same tokens, sites and tokens of the other text."""
    first: dict[Hashable, int] = {}
    return [first.setdefault((row.texts.reading, row.sites), i) for i, row in enumerate(batch)]


def _edits(batch: Sequence[SiteRow], donors: dict[Row, int]) -> dict[Place, SiteReplacements]:
    """All replacements, by kind, layer and value."""
    found: dict[Place, SiteReplacements] = defaultdict(SiteReplacements)
    for i, row in enumerate(batch):
        texts = row.texts
        donor = donors.get(texts.donor, 0)
        for site in row.sites:
            some = found[site.part, site.layer, texts.value]
            some.rows.append(i)
            some.units.append(-1 if site.unit is None else site.unit)
            some.pieces.append(-1 if site.position is None else site.position % texts.length)
            some.donors.append(donor)
            some.donor_pieces.append(-1 if site.position is None else site.position % max(1, texts.donor_length))
    return found


def _on_device(edits: dict[Place, SiteReplacements], device: torch.device) -> dict[Place, Replacing]:
    """In one piece: a copy to a GPU waits for all that it has been told to compute."""
    if not edits:
        return {}
    columns = np.concatenate([np.array(some.table()) for some in edits.values()], axis=1)
    tables = torch.split(torch.from_numpy(columns).to(device), [len(some.rows) for some in edits.values()], dim=1)
    return {place: Replacing.of(some, table) for (place, some), table in zip(edits.items(), tables, strict=True)}


def _replaced(units: Tensor, some: Replacing, value: str, recorded: Tensor | None, lengths: Tensor) -> Tensor:
    """The units [rows, pieces, units, size] with other values in some places."""
    changed = units.clone()
    rows, unit, piece, donor, donor_piece = some.table
    new = _values(units, rows, value, recorded, donor, donor_piece, lengths)
    # Masks, as a unit or a piece that is not named stands for all of them.
    at_unit = (unit[:, None] == torch.arange(units.shape[2], device=units.device)) | (unit[:, None] < 0)
    at_piece = (piece[:, None] == torch.arange(units.shape[1], device=units.device)) | (piece[:, None] < 0)
    mask = at_piece[:, :, None, None] & at_unit[:, None, :, None]
    for at in some.rounds:
        changed[rows[at]] = torch.where(mask[at], new[at], changed[rows[at]])
    return changed


def _rounds(rows: Sequence[int]) -> list[list[int]]:
    """Places of a list, split so that no row is twice in a part: a row may be changed at several units of one layer."""
    seen: dict[int, int] = defaultdict(int)
    parts: list[list[int]] = []
    for place, row in enumerate(rows):
        if seen[row] == len(parts):
            parts.append([])
        parts[seen[row]].append(place)
        seen[row] += 1
    return parts


def _values(
    units: Tensor,
    rows: Tensor,
    value: str,
    recorded: Tensor | None,
    donor: Tensor,
    donor_piece: Tensor,
    lengths: Tensor,
) -> Tensor:
    """What is put in each place, as large as the rows that it is put into [n, pieces, units, size]."""
    own = units[rows]
    if value == "zero":
        return torch.zeros_like(own)
    if value == "mean":
        there = (torch.arange(units.shape[1], device=units.device) < lengths[rows, None])[:, :, None, None]
        mean = (own * there).sum(1, keepdim=True) / lengths[rows, None, None, None]
        return mean.to(own.dtype).expand_as(own)
    assert recorded is not None
    theirs = recorded[donor]
    one = theirs[torch.arange(len(rows), device=units.device), donor_piece.clamp_min(0)][:, None].expand_as(own)
    width = min(units.shape[1], theirs.shape[1])
    everywhere = own.clone()
    everywhere[:, :width] = theirs[:, :width]
    return torch.where((donor_piece >= 0)[:, None, None, None], one, everywhere)


def _stacked(parts: list[Tensor]) -> Tensor:
    """Batches of texts below each other, padded to the longest."""
    longest = max(part.shape[1] for part in parts)
    return torch.cat([torch.nn.functional.pad(part, (0, 0, 0, 0, 0, longest - part.shape[1])) for part in parts])

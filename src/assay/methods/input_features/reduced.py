"""What is left of a text on the way of a reduction: versions without some words, and how heat maps shift between them.

    tau-b and rho of  g(x_i | x), g(x_i | x without word j)  over the words i that remain in both

Feng et al. (2018), arXiv:1804.07781, call it second-order sensitivity that a map shifts when a word goes; they show it
on examples, the two coefficients are ours. Differences that may be rounding inside the model are no order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from assay.explanations.edits import Edit, Operation
from assay.statistics.arrays import Floats
from assay.statistics.ranks import spearman
from assay.text.text import Masks, Text

_STEADY = 1e-5  # differences below this share of the largest number may be rounding inside the model


@dataclass(frozen=True, eq=False)
class Version:
    """Some of the words, the version they were left over from, and what the model says to them."""

    whole: Text
    kept: tuple[int, ...]
    longer: Version | None = None
    gone: int = -1
    importance: float = 0.0
    notes: tuple[str, ...] = ()
    chances: tuple[float, ...] = ()
    value: float = 0.0

    @property
    def mask(self) -> Masks:
        mask = np.zeros(len(self.whole), dtype=bool)
        mask[list(self.kept)] = True
        return mask

    @cached_property
    def text(self) -> Text:
        """With the notes of this version: a model that answers freely may give the same words in another place."""
        text, notes = self.whole.keep(self.mask), iter(self.notes)
        fields = tuple(replace(f, string=next(notes, f.string)) if f.part == "note" else f for f in text.fields)
        return Text(fields, text.focus)

    def without(self, i: int, importance: float) -> Version:
        """Without the word at this place among those that are left."""
        kept = (*self.kept[:i], *self.kept[i + 1 :])
        return Version(self.whole, kept, self, self.kept[i], importance, self.notes)

    def path(self) -> list[Version]:
        """From the whole text to this version."""
        found = [self]
        while found[-1].longer is not None:
            found.append(found[-1].longer)
        return found[::-1]

    def edit(self) -> Edit:
        """The version as the model read it."""
        read = self.text.read
        edited = next((i for i, field in enumerate(read.fields) if field.name in read.focus), 0)
        chances = {str(i): chance for i, chance in enumerate(self.chances)}
        gone = [one.gone for one in self.path()[1:]]
        operations: tuple[Operation, ...] = tuple(("remove", i, self.whole.words[i]) for i in gone)
        return Edit(read.strings, chances, operations, self.kept, edited)


def steady(maps: Sequence[Floats]) -> list[Floats]:
    """Importance relative to the largest of all, without the digits that rounding may have made."""
    size = max(float(np.abs(heat).max()) for heat in maps)
    return [np.round(heat / size / _STEADY) if size else heat for heat in maps]


def shifts(path: Sequence[Version], maps: Sequence[Floats | None]) -> dict[str, Any]:
    """How alike each map and the next one order the words that remain in both."""
    pairs = [
        None if before is None or after is None else (before[np.isin(longer.kept, version.kept)], after)
        for longer, version, before, after in zip(path, path[1:], maps, maps[1:], strict=False)
    ]
    ordered = [pair if pair and not any(map(_flat, pair)) else None for pair in pairs]
    found = {
        "kendall": [None if pair is None else _tau_b(*pair) for pair in ordered],
        "spearman": [None if pair is None else spearman(*pair) for pair in ordered],
    }
    means = {f"mean_{name}": _mean(values) for name, values in found.items()}
    return {**found, **means, "undefined_steps": ordered.count(None)}


def _flat(heat: Floats) -> bool:
    """Whether a map has no order."""
    return len(heat) < 2 or bool(np.ptp(heat) <= _STEADY * np.abs(heat).max())


def _tau_b(a: Floats, b: Floats) -> float:
    """Kendall's coefficient, as in `ranks.py`, which takes ten times as long for its chance under no relation."""
    one, two = (np.sign(np.subtract.outer(heat, heat)) for heat in (steady([a])[0], steady([b])[0]))
    return float((one * two).sum() / np.sqrt((one * one).sum() * (two * two).sum()))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None

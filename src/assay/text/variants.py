"""Many versions of one text, and the symbols that stand for an erased word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from assay.text.text import Masks, Row, Text


class Symbol(StrEnum):
    """What stands in the place of an erased word; each model spells it in its own way."""

    MASK = "mask"
    UNKNOWN = "unknown"
    PAD = "pad"


@dataclass(frozen=True, eq=False)
class Variants:
    """Many versions of one text: which words each version keeps, and what stands for the others.

    `fill` is None (they are left out), a symbol or a word for all of them, or an array of words of the masks' shape.
    """

    text: Text
    keep: Masks
    fill: Symbol | str | np.ndarray[Any, np.dtype[np.object_]] | None = None

    def __len__(self) -> int:
        return len(self.keep)

    def some(self, rows: slice) -> Variants:
        """Some of the versions."""
        return Variants(self.text, self.keep[rows], self.fill[rows] if isinstance(self.fill, np.ndarray) else self.fill)

    def rows(self, spelling: Mapping[Symbol, str]) -> list[Row]:
        """The strings of every version."""
        if not isinstance(self.fill, np.ndarray):
            return self.text.rows(self.keep, spelling[self.fill] if isinstance(self.fill, Symbol) else self.fill)
        words, filled = self.text.words, zip(self.keep.tolist(), self.fill.tolist(), strict=True)
        return [
            self.text.row([w if k else f for w, k, f in zip(words, kept, fills, strict=True)]) for kept, fills in filled
        ]

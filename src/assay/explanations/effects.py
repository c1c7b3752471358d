"""Effects: how much of the effect of a concept goes through each part of a model.

    effects      natural indirect effect of each unit [layers, units], the mean over pairs of texts; NaN where a layer
                 has fewer units
    intervals    95 % bootstrap interval of each, over pairs [layers, units, 2]
    direct       what is left of the effect when the unit is held at its old value
    total        the effect of the concept on the answer, with its interval
    half         the share of the units that together, strongest first, add up to half of the total; with its interval
    chosen       units picked one after the other, each the one that adds most, and what all of them carry together

`pairs` are kept, so that a check can ask about the same texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from assay.explanations.mediated import MediatedPair
from assay.explanations.sample_explanation import SampleExplanation
from assay.statistics.arrays import Floats
from assay.statistics.intervals import Estimate

if TYPE_CHECKING:
    import pandas as pd

_NOTHING = Estimate(0.0, 0.0, 0.0, 0)


def share_for_half(means: Floats) -> Floats:
    """Of a total effect and the effects of all units [..., 1 + units]; infinite where they do not add up to half."""
    total, effects = means[..., :1], means[..., 1:]
    carried = np.cumsum(np.sort(np.sign(total) * effects, axis=-1)[..., ::-1], axis=-1)
    enough = (carried >= np.abs(total) / 2) & (total != 0)
    first = (enough.argmax(axis=-1) + 1) / max(1, effects.shape[-1])
    return np.asarray(np.where(enough.any(axis=-1), first, np.inf))


class ChosenUnit(NamedTuple):
    """A unit of the greedy set, and the indirect effect of the set up to it."""

    layer: int
    unit: int
    effect: float


@dataclass(frozen=True, eq=False)
class Effects(SampleExplanation):
    """Indirect and direct effects of all units of one kind."""

    kind: ClassVar[str] = "Effects"

    part: str = "head"
    effects: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    intervals: Floats = field(default_factory=lambda: np.zeros((0, 0, 2)))
    direct: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    total: Estimate = _NOTHING
    chosen: tuple[ChosenUnit, ...] = ()
    pairs: tuple[MediatedPair, ...] = ()
    half: Estimate | None = None  # where it was not measured, or where the units do not add up to half

    def __post_init__(self) -> None:
        effects, intervals, direct = (
            np.array(a, dtype=np.float64) for a in (self.effects, self.intervals, self.direct)
        )
        if effects.ndim != 2 or intervals.shape != (*effects.shape, 2) or direct.shape != effects.shape:
            raise ValueError(
                f"effects are [layers, units] with an interval each, not {effects.shape}, {intervals.shape}"
            )
        for name, array in (("effects", effects), ("intervals", intervals), ("direct", direct)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def layers(self) -> int:
        return len(self.effects)

    @cached_property
    def ranked(self) -> list[tuple[int, int]]:
        """Layer and unit, from the one that carries most of the total effect (with its sign) down."""
        sign = -1.0 if self.total.value < 0 else 1.0
        flat = np.where(np.isfinite(self.effects), sign * self.effects, -np.inf).ravel()
        order = np.argsort(-flat, kind="stable")[: int(np.isfinite(flat).sum())]
        return [(int(i) // self.effects.shape[1], int(i) % self.effects.shape[1]) for i in order]

    @cached_property
    def share_for_half(self) -> float | None:
        """The smallest share of the units whose effects, one by one, add up to half of the total; None if none do.

        Effects of single units do not add up exactly, since units work together: `chosen` measures them together.
        """
        there = self.effects[np.isfinite(self.effects)]
        share = float(share_for_half(np.array([self.total.value, *there])))
        return share if np.isfinite(share) else None

    @cached_property
    def missed(self) -> float:
        """How far direct and indirect effect of a unit miss the total, as a share of it: the mean over units."""
        gaps = np.abs(self.total.value - self.effects - self.direct)
        return float(np.nanmean(gaps)) / abs(self.total.value) if self.total.value else 0.0

    def random_like(self, count: int) -> Iterator[Self]:
        """The same effects at other units, drawn by chance."""
        rng, there = self.generator(), np.flatnonzero(np.isfinite(self.effects.ravel()))
        for _ in range(count):
            drawn = rng.permutation(there)
            flat = [
                array.copy().reshape(self.effects.size, -1) for array in (self.effects, self.intervals, self.direct)
            ]
            for array in flat:
                array[there] = array[drawn]
            shapes = (self.effects.shape, self.intervals.shape, self.direct.shape)
            names = ("effects", "intervals", "direct")
            moved = {name: array.reshape(shape) for name, array, shape in zip(names, flat, shapes, strict=True)}
            yield self.told(chosen=(), **moved)

    def to_dict(self) -> dict[str, Any]:
        sizes = np.isfinite(self.effects).sum(axis=1).tolist()
        return super().to_dict() | {
            "part": self.part,
            "layers": self.layers,
            "heads": sizes,
            "effects": _plain(self.effects),
            "intervals": _plain(self.intervals),
            "direct": _plain(self.direct),
            "total": vars(self.total).copy(),
            "half": None if self.half is None else vars(self.half).copy(),
            "chosen": [unit._asdict() for unit in self.chosen],
            "pairs": [list(pair) for pair in self.pairs],
        }

    @classmethod
    def _own(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        arrays = {name: np.array(data[name], dtype=np.float64) for name in ("effects", "intervals", "direct")}
        return {
            "part": data["part"],
            **arrays,
            "total": Estimate(**data["total"]),
            "half": Estimate(**data["half"]) if data.get("half") else None,
            "chosen": tuple(ChosenUnit(**unit) for unit in data["chosen"]),
            "pairs": tuple(MediatedPair(*pair) for pair in data["pairs"]),
        }

    def to_frame(self) -> pd.DataFrame:
        """One row per unit."""
        import pandas as pd  # slow to import, and only wanted here

        rows = [(*at, self.effects[at], *self.intervals[at], self.direct[at]) for at in sorted(self.ranked)]
        return pd.DataFrame(rows, columns=["layer", self.part, "indirect", "low", "high", "direct"])


def _plain(array: Floats) -> Any:
    """As lists, with None for what is not there: JSON knows no NaN."""
    return [_plain(part) for part in array] if array.ndim else (float(array) if np.isfinite(array) else None)

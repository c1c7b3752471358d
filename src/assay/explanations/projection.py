"""Projection: words as points in a plane, and the directions that its axes are.

names, points       the words and their places [words, 2]
axes                what the two axes show
directions          what each axis is: its name, its share of the variance, or the words that define it
given               for some words a number that others published, to compare the first axis with
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from assay.explanations.sample_explanation import SampleExplanation
from assay.statistics.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Projection(SampleExplanation):
    """Named points; a direction is a dictionary with at least a name."""

    kind: ClassVar[str] = "Projection"

    names: tuple[str, ...] = ()
    points: Floats = field(default_factory=lambda: np.zeros((0, 2)))
    axes: tuple[str, str] = ("x", "y")
    directions: tuple[Mapping[str, Any], ...] = ()
    given: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        points = np.array(self.points, dtype=np.float64)
        if points.shape != (len(self.names), 2) or not np.isfinite(points).all():
            raise ValueError(f"{len(self.names)} names need as many finite points of two numbers, not {points!r:.200}")
        if len(set(self.names)) < len(self.names):
            raise ValueError("the names of the points must be different")
        points.flags.writeable = False
        object.__setattr__(self, "points", points)

    def to_frame(self) -> pd.DataFrame:
        """One row per word: its name, its place, and the published number where there is one."""
        import pandas as pd  # slow to import, and only wanted here

        columns = {"name": self.names, "x": self.points[:, 0], "y": self.points[:, 1]}
        more = {"given": [self.given.get(name) for name in self.names]} if self.given else {}
        return pd.DataFrame({**columns, **more})

    def to_dict(self) -> dict[str, Any]:
        rows = zip(self.names, self.points.tolist(), strict=True)
        return super().to_dict() | {
            "points": [{"name": name, "x": x, "y": y} for name, (x, y) in rows],
            "axes": list(self.axes),
            "directions": [dict(one) for one in self.directions],
            "given": dict(self.given),
        }

    @classmethod
    def _own(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        x, y = data["axes"]
        return {
            "names": tuple(point["name"] for point in data["points"]),
            "points": np.array([[point["x"], point["y"]] for point in data["points"]]).reshape(-1, 2),
            "axes": (x, y),
            "directions": tuple(data["directions"]),
            "given": data["given"],
        }

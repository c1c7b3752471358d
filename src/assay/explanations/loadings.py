"""Loadings: words by dimensions, rotated so that dimensions can be read, and the rotation.

    words, loadings     [words, dimensions], after the rotation
    rotation            the orthogonal matrix that made them: loadings = before @ rotation

What was there before the rotation follows, so that both can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from assay.explanations.sample_explanation import SampleExplanation
from assay.statistics.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Loadings(SampleExplanation):
    """What each word has of each dimension."""

    kind: ClassVar[str] = "Loadings"

    words: tuple[str, ...] = ()
    loadings: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    rotation: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    def __post_init__(self) -> None:
        loadings, rotation = (np.array(one, dtype=np.float64) for one in (self.loadings, self.rotation))
        if loadings.ndim != 2 or len(loadings) != len(self.words) or not np.isfinite(loadings).all():
            raise ValueError(f"{len(self.words)} words need as many rows of finite loadings, not {loadings.shape}")
        size = loadings.shape[1]
        if rotation.shape != (size, size) or np.abs(rotation @ rotation.T - np.eye(size)).max(initial=0) > 1e-6:
            raise ValueError(f"{size} dimensions need an orthogonal matrix of that size, not {rotation!r:.200}")
        for name, one in (("loadings", loadings), ("rotation", rotation)):
            one.flags.writeable = False
            object.__setattr__(self, name, one)

    @cached_property
    def unrotated(self) -> Floats:
        """What the words had of each dimension before."""
        return np.asarray(self.loadings @ self.rotation.T)

    def top(self, dimension: int, count: int, *, before: bool = False) -> tuple[str, ...]:
        """The words with the most of a dimension, at that of its two ends which is further out."""
        return tuple(self.words[i] for i in outermost(self.unrotated if before else self.loadings, dimension, count))

    def random_like(self, count: int) -> Iterator[Self]:
        """The same vectors under rotations drawn at random."""
        rng, size = self.generator(), self.loadings.shape[1]
        for _ in range(count):
            drawn, upper = np.linalg.qr(rng.standard_normal((size, size)))
            rotation = drawn * np.sign(np.diag(upper))  # without this, some rotations would be drawn more often
            yield self.told(loadings=self.unrotated @ rotation, rotation=rotation)

    def to_frame(self) -> pd.DataFrame:
        """One row per word, one column per dimension, counted from 1."""
        import pandas as pd  # slow to import, and only wanted here

        columns = [f"dimension {i + 1}" for i in range(self.loadings.shape[1])]
        return pd.DataFrame(self.loadings, index=pd.Index(self.words, name="word"), columns=columns)

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {
            "words": list(self.words),
            "loadings": self.loadings.tolist(),
            "rotation": self.rotation.tolist(),
        }

    @classmethod
    def _own(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        loadings = np.array(data["loadings"], dtype=np.float64).reshape(len(data["words"]), -1)
        return {"words": tuple(data["words"]), "loadings": loadings, "rotation": np.array(data["rotation"])}


def outermost(loadings: Floats, dimension: int, count: int) -> list[int]:
    """The rows at the end of a dimension whose loadings are larger in sum, the largest first."""
    column = loadings[:, dimension]
    order = np.argsort(-column, kind="stable")
    high, low = order[:count], order[::-1][:count]
    return [int(i) for i in (high if column[high].sum() >= -column[low].sum() else low)]


def intruders(loadings: Floats, dimension: int, top: list[int], count: int, rng: np.random.Generator) -> list[int]:
    """Rows with little of this dimension (lower half) and much of another (its strongest tenth), drawn."""
    sizes = np.abs(loadings)
    strong = sizes >= np.quantile(sizes, 0.9, axis=0)
    strong[:, dimension] = False
    little = sizes[:, dimension] <= np.median(sizes[:, dimension])
    fitting = np.setdiff1d(np.flatnonzero(little & strong.any(axis=1)), top)
    others = fitting if len(fitting) else np.setdiff1d(np.arange(len(loadings)), top)
    return [int(i) for i in rng.choice(others, min(count, len(others)), replace=False)]

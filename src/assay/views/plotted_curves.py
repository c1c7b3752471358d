"""The curves of deletion and insertion for a figure: each method's, and those of random maps of the same texts.

Curves of several texts are brought to the same shares of words and averaged; of random maps the middle 95 % are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.checks.deletion import Deletion
from assay.checks.insertion import Insertion
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.explanations.token_scores import TokenScores
from assay.models import load
from assay.questions.erasers import Eraser
from assay.questions.erasers import eraser as eraser_named
from assay.statistics.arrays import Floats

_POINTS = 41
_DRAWS = 40


@dataclass(frozen=True)
class PlottedCurve:
    """What the model says at each share of the words; of random maps also where 95 % of them lie."""

    title: str
    share: Floats
    mean: Floats
    low: Floats
    high: Floats


def curves_of(
    name: str,
    maps: Mapping[str, Sequence[TokenScores]],
    *,
    model: Any = None,
    share: float = 0.5,
    draws: int = _DRAWS,
    eraser: str | Eraser = "delete",
    engine: Engine | None = None,
) -> list[PlottedCurve]:
    """One for each method, and one for random maps; up to this share of the words goes or comes."""
    if model is None and engine is None:
        raise BadInput(f"the {name} curve asks the model while words go: plot({name!r}, model=model).")
    engine = engine or Engine(load(model))
    kind: type[Deletion | Insertion] = Deletion if name == "deletion" else Insertion
    check = kind(share=share, eraser=eraser_named(eraser))
    first = next(iter(maps.values()))
    random = list(zip(*(e.random_like(draws) for e in first), strict=True))
    sets = [*maps.values(), *random]
    outcomes = engine.run(check.curve(e) for one in sets for e in one)
    found = [_mean([next(outcomes).get() for _ in one]) for one in sets]
    axis = np.linspace(0, share, _POINTS)
    own = [PlottedCurve(title, axis, mean, mean, mean) for title, mean in zip(maps, found, strict=False)]
    table = np.array(found[len(maps) :])
    low, high = np.quantile(table, [0.025, 0.975], axis=0)
    return [*own, PlottedCurve("random maps", axis, table.mean(axis=0), low, high)]


def _mean(curves: Sequence[Floats]) -> Floats:
    """The mean of curves of texts of any length, at the same shares of their words."""
    axis = np.linspace(0, 1, _POINTS)
    return np.asarray(
        np.array([np.interp(axis, np.linspace(0, 1, len(curve)), curve) for curve in curves]).mean(axis=0)
    )

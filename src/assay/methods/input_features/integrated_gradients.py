"""Integrated gradients: the gradient, gathered on the straight way from a baseline b to the text x.

    a_i = (x_i - b_i) . integral over t from 0 to 1 of  d f_c(b + t (x - b)) / d x_i     (pieces of word i summed)

Sundararajan, Taly and Yan (2017), arXiv:1703.01365; survey, section 6.2. The scores sum to f(x) - f(b). By default
the integral is taken by Simpson's rule on panels that are halved (quartered, where they are far off) if they miss the
known change of f between their ends, until the misses are below the tolerance, measured by all ups and downs of f on
the way, and their sum is below the tolerance of f(x) - f(b); points are used again, and every text stops by itself.
With `steps` it is the Gauss-Legendre rule of so many points, as other libraries have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

import numpy as np

from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.questions.base import Conversation
from assay.questions.gradients import Baseline, InputGradient
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.statistics.arrays import Floats

Panel = tuple[float, float]

_START: tuple[Panel, ...] = tuple((k / 4, (k + 1) / 4) for k in range(4))
_SMALLEST = 1e-6  # a difference smaller than this is taken as this: a gap relative to nothing says nothing


@method(
    title="Integrated gradients",
    row=Row.INPUT_FEATURES,
    uses=Uses.GRADIENT,
    paper="arXiv:1703.01365",
    section="6.2",
    needs=(InputGradient,),
)
@dataclass(frozen=True, kw_only=True)
class IntegratedGradients:
    """Each word's part of the way from the baseline's value to the text's."""

    baseline: Baseline = "pad"
    tolerance: float = 0.01
    steps: int | None = None
    limit: int = 513

    def explain(self, case: Case) -> Conversation[TokenScores]:
        path = _Path(case, self.baseline)
        scores = yield from self._adaptive(path) if self.steps is None else self._fixed(path, self.steps)
        gap = abs(scores.sum() - path.change) / max(abs(path.change), _SMALLEST)
        facts = {"gap": float(gap), "steps": len(path.values), "value": path.values[1.0], "baseline": path.values[0.0]}
        unconverged = f"unconverged: the scores miss what they should sum to by more than {self.tolerance:.1%}"
        return TokenScores(case, scores, facts=facts, warnings=(unconverged,) if gap > self.tolerance else ())

    def _adaptive(self, path: _Path) -> Conversation[Floats]:
        panels: Sequence[Panel] = _START
        while True:
            yield from path.visit(_points(panels))
            misses = [path.simpson(panel).sum() - path.rise(panel) for panel in panels]
            finer = self._finer(path, panels, misses)
            if self._close(path, panels, misses) or len(path.values.keys() | _points(finer)) > self.limit:
                return np.asarray(np.sum([path.simpson(panel) for panel in panels], axis=0))
            panels = finer

    def _finer(self, path: _Path, panels: Sequence[Panel], misses: Sequence[float]) -> list[Panel]:
        """Panels that miss by more than their share are parted; if all keep to it, those that miss most."""
        share = self.tolerance * path.ups_and_downs(panels) / len(panels)
        bound = min(share, max(np.abs(misses)) / 2)
        return [part for panel, miss in zip(panels, misses, strict=True) for part in _parts(panel, miss, bound)]

    def _close(self, path: _Path, panels: Sequence[Panel], misses: Sequence[float]) -> bool:
        """Each miss counts against all ups and downs of f on the way, their sum against what the scores sum to."""
        together = abs(sum(misses)) <= self.tolerance * max(abs(path.change), _SMALLEST)
        return together and sum(map(abs, misses)) <= self.tolerance * max(path.ups_and_downs(panels), _SMALLEST)

    def _fixed(self, path: _Path, steps: int) -> Conversation[Floats]:
        nodes, weights = _gauss_legendre(steps)
        points = ((nodes + 1) / 2).tolist()
        yield from path.visit([0.0, *points, 1.0])
        return np.asarray(weights / 2 @ np.array([path.slopes[point] for point in points]))


@dataclass
class _Path:
    """What is known on the way: the explained value at each point, and each word's slope there."""

    case: Case
    baseline: Baseline
    values: dict[float, float] = field(default_factory=dict)
    slopes: dict[float, Floats] = field(default_factory=dict)

    def visit(self, points: Iterable[float]) -> Conversation[None]:
        """Ask for the points that are not known yet."""
        new = sorted(set(points) - set(self.values))
        (answer,) = yield InputGradient(self.case.text, aim=self.case.aim, baseline=self.baseline, at=new)
        self.values |= zip(new, answer.values.tolist(), strict=True)
        self.slopes |= zip(new, answer.scores, strict=True)

    @property
    def change(self) -> float:
        return self.rise((0.0, 1.0))

    def rise(self, panel: Panel) -> float:
        """How much the explained value grows over a panel: known exactly."""
        return self.values[panel[1]] - self.values[panel[0]]

    def ups_and_downs(self, panels: Sequence[Panel]) -> float:
        return sum(abs(self.rise(panel)) for panel in panels)

    def simpson(self, panel: Panel) -> Floats:
        a, b = panel
        return (b - a) / 6 * (self.slopes[a] + 4 * self.slopes[(a + b) / 2] + self.slopes[b])


@lru_cache
def _gauss_legendre(steps: int) -> tuple[Floats, Floats]:
    """The same nodes and weights for every text."""
    return np.polynomial.legendre.leggauss(steps)


def _points(panels: Sequence[Panel]) -> set[float]:
    """The ends and the middle of each panel."""
    return {point for a, b in panels for point in (a, (a + b) / 2, b)}


def _parts(panel: Panel, miss: float, bound: float) -> list[Panel]:
    """The panel as it is, in halves, or in quarters at once where halves would not do: their misses are a 32nd each."""
    count = 1 if abs(miss) <= bound else 2 if abs(miss) <= 32 * bound else 4
    edges = [panel[0] + (panel[1] - panel[0]) * k / count for k in range(count + 1)]
    return list(pairwise(edges))

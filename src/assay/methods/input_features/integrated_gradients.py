"""Integrated gradients: the gradient, gathered on the straight way from a baseline b to the text x.

    a_i = (x_i - b_i) . integral over t from 0 to 1 of  d f_c(b + t (x - b)) / d x_i     (pieces of word i summed)

Sundararajan, Taly and Yan (2017), arXiv:1703.01365; survey, section 6.2. The scores sum to f(x) - f(b). By default
the integral is taken by Simpson's rule on panels that are halved (quartered, where they are far off) until

    what they miss of the known change of f between their ends is below the tolerance, measured by all ups and downs of
    f on the way, and the sum of the misses below the tolerance of f(x) - f(b);
    the error of each word, estimated from the same rule on panels twice as wide, is below the tolerance of the largest
    score: the misses of two words may cancel in f, and then f alone tells nothing.

Points are used again, and every text stops by itself. What no point has seen of words that cancel in f stays unseen.
With `steps` it is the Gauss-Legendre rule of so many points, as other libraries have it; the error of each word is then
estimated from the rules on every second of its points. Scores whose sum or whose words may be off by more than the
tolerance have a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
_SEEN = 3.0  # words that cancel by less than two thirds count as seen in f
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
        if self.steps is None:
            found = yield from self._adaptive(path)
            scores, errors = found.scores, found.errors.sum(axis=0)
        else:
            scores, errors = yield from self._fixed(path, self.steps)
        word_gap = float(errors.max(initial=0)) / _largest(scores)
        gap = abs(scores.sum() - path.change) / max(abs(path.change), _SMALLEST)
        facts = {"gap": float(gap), "steps": len(path.values), "value": path.values[1.0], "baseline": path.values[0.0]}
        warnings = tuple(self._warnings(gap, word_gap))
        return TokenScores(case, scores, facts=facts, warnings=warnings)

    def _warnings(self, gap: float, word_gap: float) -> Iterator[str]:
        """By how much at least; a tolerance of 0.0001 is asked for in another number of digits than one of 0.01."""
        limit = f"{100 * self.tolerance:g}%"
        if gap > self.tolerance:
            yield f"unconverged: the scores miss what they should sum to by more than {limit}"
        if word_gap > self.tolerance:
            yield f"unconverged: the score of some word may be off by more than {limit} of the largest"

    def _adaptive(self, path: _Path) -> Conversation[Quadrature]:
        panels: Sequence[Panel] = _START
        while True:
            yield from path.visit(_points(panels))
            found = Quadrature.of(path, panels)
            finer = self._finer(found)
            if self._close(found) or len(path.values.keys() | _points(finer)) > self.limit:
                return found
            panels = finer

    def _finer(self, found: Quadrature) -> list[Panel]:
        """Panels that are off by more than their share are parted; if all keep to it, those that are most."""
        off = np.abs(found.misses) / max(found.ups_and_downs, _SMALLEST)
        if found.word_gap > self.tolerance:
            off = np.maximum(off, found.errors.max(axis=1) / found.largest)
        excess = off * len(found.panels) / self.tolerance
        bound = min(1.0, float(excess.max()) / 2)
        pairs = zip(found.panels, excess.tolist(), strict=True)
        return [part for panel, own in pairs for part in _parts(panel, own, bound)]

    def _close(self, found: Quadrature) -> bool:
        """Each miss counts against all ups and downs of f on the way, their sum against what the scores sum to."""
        together = abs(found.misses.sum()) <= self.tolerance * max(abs(found.change), _SMALLEST)
        apart = np.abs(found.misses).sum() <= self.tolerance * max(found.ups_and_downs, _SMALLEST)
        return bool(together and apart and found.word_gap <= self.tolerance)

    def _fixed(self, path: _Path, steps: int) -> Conversation[tuple[Floats, Floats]]:
        """The scores, and how far each may be off."""
        points, weights, halves = _gauss_legendre(steps)
        yield from path.visit([0.0, *points, 1.0])
        slopes = np.array([path.slopes[point] for point in points])
        scores = weights @ slopes
        miss = abs(scores.sum() - path.change)
        errors = [_errors(half @ slopes - scores, miss) for half in halves]
        return scores, np.max(errors, axis=0, initial=0)


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

    def simpson(self, panel: Panel) -> Floats:
        a, b = panel
        return (b - a) / 6 * (self.slopes[a] + 4 * self.slopes[(a + b) / 2] + self.slopes[b])

    def error(self, panel: Panel) -> Floats:
        """How far each word may be off: how the rule on the panel and one beside it differs from that on both as one.

        Of the panels beside it, the other half of the one it came from is always known, and the one on its other side
        mostly: a difference may happen to be nothing with one of them.
        """
        miss = 2 * abs(self.simpson(panel).sum() - self.rise(panel))
        pairs = {_siblings(panel), *(pair for pair in _beside(panel) if self.slopes.keys() >= _points(pair))}
        return np.asarray(np.max([_errors(self._apart(*pair), miss) / 2 for pair in pairs], axis=0))

    def _apart(self, one: Panel, other: Panel) -> Floats:
        return self.simpson(one) + self.simpson(other) - self.simpson((one[0], other[1]))


@dataclass(frozen=True)
class Quadrature:
    """Simpson's rule on panels: the scores [words], what each panel misses of f, and the errors [panels, words]."""

    panels: Sequence[Panel]
    scores: Floats
    misses: Floats
    errors: Floats
    change: float
    ups_and_downs: float

    @classmethod
    def of(cls, path: _Path, panels: Sequence[Panel]) -> Quadrature:
        parts = np.array([path.simpson(panel) for panel in panels])
        rises = np.array([path.rise(panel) for panel in panels])
        errors = np.array([path.error(panel) for panel in panels])
        return cls(panels, parts.sum(axis=0), parts.sum(axis=1) - rises, errors, path.change, np.abs(rises).sum())

    @property
    def largest(self) -> float:
        return _largest(self.scores)

    @property
    def word_gap(self) -> float:
        """How far off some word may be, as a share of the largest score."""
        return float(self.errors.sum(axis=0).max(initial=0)) / self.largest


def _largest(scores: Floats) -> float:
    return max(float(np.abs(scores).max(initial=0)), _SMALLEST)


def _errors(apart: Floats, miss: float) -> Floats:
    """How far each word may be off, from how a coarser rule differs, and from what the finer one misses of f.

    It is a 15th of the difference at most where slopes are smooth enough. Whether they are shows in f, unless the words
    cancel in it: then all of it counts. What is missed of f is the words' in the proportion of their differences.
    """
    size = np.abs(apart).sum()
    if not size:
        return np.zeros_like(apart)
    seen = min(1.0, _SEEN * abs(apart.sum()) / size)
    return np.asarray(np.abs(apart) * max(1 / (1 + 14 * seen), miss / size))


@lru_cache
def _gauss_legendre(steps: int) -> tuple[list[float], Floats, list[Floats]]:
    """Points, their weights, and the weights of the rules on every second of them; the same for every text."""
    nodes, weights = np.polynomial.legendre.leggauss(steps)
    halves = [_rule(nodes, slice(first, None, 2)) for first in (0, 1)] if steps > 1 else []
    return ((nodes + 1) / 2).tolist(), weights / 2, halves


def _rule(nodes: Floats, chosen: slice) -> Floats:
    """The weights with which these of the nodes in (-1, 1) integrate polynomials, over a way of length 1."""
    weights, some = np.zeros(len(nodes)), nodes[chosen]
    values = np.polynomial.legendre.legvander(some, len(some) - 1)
    weights[chosen] = np.linalg.solve(values.T, np.eye(len(some))[0])  # of all polynomials but the first it is 0
    return weights


def _points(panels: Sequence[Panel]) -> set[float]:
    """The ends and the middle of each panel."""
    return {point for a, b in panels for point in (a, (a + b) / 2, b)}


def _siblings(panel: Panel) -> tuple[Panel, Panel]:
    """The panel and its neighbour in the panel twice as wide that both are halves of, in order; the ends are exact."""
    width = panel[1] - panel[0]
    start = panel[0] - width * (panel[0] / width % 2)
    return (start, start + width), (start + width, start + 2 * width)


def _beside(panel: Panel) -> list[tuple[Panel, Panel]]:
    """The panel with one as wide before it, and with one behind it."""
    a, b = panel
    return [((2 * a - b, a), panel), (panel, (b, 2 * b - a))]


def _parts(panel: Panel, excess: float, bound: float) -> list[Panel]:
    """The panel as it is, in halves, or in quarters at once where halves would not do: they are off by a 32nd each."""
    count = 1 if excess <= bound else 2 if excess <= 32 * bound else 4
    edges = [panel[0] + (panel[1] - panel[0]) * k / count for k in range(count + 1)]
    return list(pairwise(edges))

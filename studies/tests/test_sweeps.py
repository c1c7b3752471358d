"""Several sweeps of adversaries as one: planted curves with a known bend, and adversaries that learned nothing."""

from __future__ import annotations

import numpy as np
import pytest

from assay.checks.trained_adversary import AdversaryResult, Curve, bend
from assay.statistics.intervals import Estimate
from assay.statistics.scoring import Scored
from assay_studies.attention_is_not_explanation.performance import over_seeds
from assay_studies.attention_is_not_not_explanation.sweeps import Sweeps, commonest, least_sure

TEXTS = 200
GOLD = ["b" if i % 2 else "a" for i in range(TEXTS)]
RIGHT = np.array([i % 2 for i in range(TEXTS)])
ALL_B = np.ones(TEXTS, dtype=np.int64)


def sweep(points: list[tuple[float, float]], seed: int, collapsed: int | None = None) -> AdversaryResult:
    """A curve of (JSD, TVD), a little noise on every text."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(0, 0.005, (2, len(points), TEXTS))
    jsd, tvd = (np.array([point[i] for point in points])[:, None] + noise[i] for i in (0, 1))
    said = [ALL_B if i == collapsed else np.where(np.arange(TEXTS) < 10, 1 - RIGHT, RIGHT) for i in range(len(points))]
    scores = tuple(Scored.of(("a", "b"), GOLD, [one]) for one in said)
    base = Scored.of(("a", "b"), GOLD, [RIGHT])
    lambdas = tuple(10.0 ** (i - 5) for i in range(len(points)))
    return AdversaryResult(lambdas=lambdas, curve=Curve(tvd, jsd), scores=scores, base=base, predicted=RIGHT)


CONVEX = [(0.0, 0.02), (0.2, 0.03), (0.4, 0.05), (0.6, 0.3)]
STRAIGHT = [(0.0, 0.0), (0.2, 0.1), (0.3, 0.15), (0.6, 0.3)]


def test_the_bend_is_that_of_the_mean_curve() -> None:
    sweeps = Sweeps(tuple(sweep(CONVEX, seed) for seed in range(3)))
    means = [
        np.mean([getattr(one.curve, axis).mean(axis=1) for one in sweeps.results], axis=0) for axis in ("jsd", "tvd")
    ]
    by_hand = bend(means[0][None], means[1][None])[0]
    found = sweeps.bend
    assert found is not None
    assert found.value == pytest.approx(by_hand)
    assert found.low > 0.05
    assert sweeps.over == "texts and 3 seeds"


def test_a_curve_that_one_adversary_bends_is_not_convex_without_it() -> None:
    sweeps = Sweeps(tuple(sweep([*STRAIGHT[:3], (0.6, 0.6)], seed) for seed in range(3)))
    assert sweeps.bend is not None
    assert sweeps.bend.low > 0
    found = sweeps.weakest()
    assert found is not None
    assert found[0] == pytest.approx(1e-2), "the last one"
    assert abs(found[1].value) < 0.01


def test_the_weakest_is_the_least_sure_on_the_side_of_the_whole() -> None:
    rest = {0.1: Estimate(0.2, 0.1, 0.3, 9), 1.0: Estimate(0.3, -0.1, 0.7, 9), 2.0: Estimate(-0.1, -0.2, -0.05, 9)}
    assert least_sure(rest, Estimate(0.2, 0.1, 0.3, 9)) == (2.0, rest[2.0])
    assert least_sure({v: rest[v] for v in (0.1, 1.0)}, Estimate(0.2, 0.1, 0.3, 9))[0] == 1.0
    assert least_sure(rest, Estimate(-0.2, -0.3, -0.1, 9))[0] == 1.0


def test_an_adversary_that_learned_nothing_is_no_point_of_the_curve() -> None:
    sweeps = Sweeps(tuple(sweep([*STRAIGHT, (0.65, 0.9)], seed, collapsed=4) for seed in range(2)))
    assert commonest(sweeps.base) == pytest.approx(2 / 3)
    assert sweeps.f1[0.1].value == pytest.approx(2 / 3)
    assert sweeps.learned == (0, 1, 2, 3)
    assert sweeps.bend is not None
    assert abs(sweeps.bend.value) < 0.01
    assert sweeps.best() == pytest.approx(1e-2), "by F1 among those that look elsewhere"


def test_seeds_that_differ_widen_the_interval() -> None:
    alike = Sweeps(tuple(sweep(CONVEX, 0) for _ in range(3)))
    moved = [[(x, y + shift) for x, y in CONVEX] for shift in (-0.02, 0.0, 0.2)]
    apart = Sweeps(tuple(sweep(points, 0) for points in moved))
    widths = [one.tvd[1e-5].high - one.tvd[1e-5].low for one in (alike, apart)]
    assert widths[1] > 10 * widths[0]


class Planted:
    """A task of the first study, as far as its numbers are concerned."""

    def __init__(self, values: list[float], others: tuple[Planted, ...] = ()) -> None:
        self.values, self.others = np.array(values), others


def test_a_mean_over_seeds_leaves_out_texts_without_a_number() -> None:
    one = Planted([0.2, np.nan, 0.4, 0.3] * 10)
    other = Planted([np.nan, 0.8, 0.8, 0.8] * 10)
    alone = over_seeds(one, lambda task: task.values)  # type: ignore[arg-type, attr-defined]
    both = over_seeds(Planted([0.2, np.nan, 0.4, 0.3] * 10, (other,)), lambda task: task.values)  # type: ignore[arg-type, attr-defined]
    assert alone is not None
    assert both is not None
    assert (alone.value, alone.n) == (pytest.approx(0.3), 30)
    assert both.value == pytest.approx((0.3 + 0.8) / 2), "the mean of the seeds, each over its own texts"
    assert (both.low, both.high) == (pytest.approx(0.3, abs=0.06), pytest.approx(0.8, abs=0.01))

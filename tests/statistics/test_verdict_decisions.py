"""What decides a verdict, on numbers where each rule decides alone."""

from __future__ import annotations

import numpy as np
import pytest

from assay.statistics.verdict import Better, Verdict

DRAWS = 60


def verdict(scores: list[float], random: list[list[float]], better: Better = "higher") -> Verdict:
    return Verdict("m", "c", better, np.array(scores), np.array(random))


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_a_p_value_is_never_zero(better: Better) -> None:
    """None of 10,000 shuffles is as good as what was seen; with it that is one of 10,001 (Phipson and Smyth 2010)."""
    own = 1.0 if better == "higher" else -1.0
    v = verdict([own] * 40, [[0.0, 0.0, 0.0]] * 40, better)
    assert v.p_value == pytest.approx(1 / 10_001, rel=1e-6)
    assert v.p_worse == 1.0


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("better", ["higher", "lower"])
def test_one_text_out_of_several_does_not_decide(better: Better, sign: int) -> None:
    """One text lies far off, the others a little the other way: shuffles say it is rare, the interval holds zero."""
    v = verdict([sign * 100.0, *[-sign * 1.0] * 4], [[0.0] * DRAWS] * 5, better)
    low, high = v.interval
    assert low < 0 < high
    assert min(v.p_value, v.p_worse) <= 0.05
    assert not v.better_than_random
    assert not v.worse_than_random
    assert v.sentence == "not distinguishable from random"


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("better", ["higher", "lower"])
def test_for_one_text_the_place_among_random_ones_decides_alone(better: Better, sign: int) -> None:
    """Of 99 random scores four are as good: p is 5 in 100, which is rare enough; with five it is not."""
    good = (sign == 1) == (better == "higher")
    rare = verdict([sign * 1.0], [[sign * 1.5] * 4 + [0.0] * 95], better)
    common = verdict([sign * 1.0], [[sign * 1.5] * 5 + [0.0] * 94], better)
    assert (rare.p_value if good else rare.p_worse) == pytest.approx(0.05)
    assert (rare.better_than_random, rare.worse_than_random) == (good, not good)
    assert (common.better_than_random, common.worse_than_random) == (False, False)
    assert common.sentence == "not distinguishable from random"


def test_a_verdict_is_about_one_method_with_its_settings() -> None:
    v = verdict([1.0], [[0.0]])
    assert v.about("m", {"steps": 3})
    assert not v.about("n", {})
    own = Verdict("m", "c", "higher", v.scores, v.random_scores, method_parameters={"steps": 3})
    assert own.about("m", {"steps": 3})
    assert not own.about("m", {"steps": 4})
    assert not own.about("n", {"steps": 3})
    assert (v.to_dict()["method_parameters"], own.to_dict()["method_parameters"]) == (None, {"steps": 3})


def test_rounding_does_not_decide_a_tie() -> None:
    """0.1 + 0.2 is not 0.3 in binary; as a score it is, whether scores are small or large."""
    for size in (1.0, 1e12):
        tied = verdict([0.3 * size], [[(0.1 + 0.2) * size, 0.0, 0.0]], "lower")
        assert tied.p_value == pytest.approx(1.0)
        assert tied.p_worse == pytest.approx(2 / 4)


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_small_gains_count_as_well_as_large_ones(better: Better) -> None:
    """Thirty texts, each better by a thousandth: that is better than random whatever the unit."""
    sign = 1 if better == "higher" else -1
    rng = np.random.default_rng(0)
    noise = 5 + rng.normal(size=(30, 6)) * 1e-4  # what all have in common takes no part
    good = Verdict("m", "c", better, sign * 1e-3 + noise[:, 0], noise[:, 1:])
    bad = Verdict("m", "c", better, -sign * 1e-3 + noise[:, 0], noise[:, 1:])
    assert (good.sentence, bad.sentence) == ("better than random", "worse than random")
    assert good.difference == pytest.approx(sign * 1e-3, rel=0.1)
    low, high = good.interval
    assert low < good.difference < high
    assert high - low < 2e-4


def test_the_interval_of_one_text_is_where_it_lies_against_the_random_ones() -> None:
    v = verdict([10.0], [[float(i) for i in range(101)]])
    assert v.interval == pytest.approx((10 - 97.5, 10 - 2.5))
    assert v.estimate.n == 1

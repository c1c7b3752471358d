"""A verdict on two sets of models: F1 of the ones against F1 of the others, on the same texts and seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.statistics.f1_verdict import F1Verdict
from assay.statistics.resampling import resamples
from assay.statistics.scoring import Scored

TEXTS, SEEDS = 40, 3
RNG = np.random.default_rng(0)
GOLD = ["yes" if x else "no" for x in RNG.random(TEXTS) < 0.5]


def scored(errors: float, seed: int) -> Scored:
    rng, truth = np.random.default_rng(seed), np.array([int(label == "yes") for label in GOLD])
    said = [np.where(rng.random(TEXTS) < errors, 1 - truth, truth) for _ in range(SEEDS)]
    return Scored.of(["no", "yes"], GOLD, said)


def f1(gold: Any, said: Any) -> float:
    """By counting."""
    hits = sum(1 for g, s in zip(gold, said, strict=True) if g == s == 1)
    return 2 * hits / max(1, sum(gold) + sum(said))


GOOD, BAD = scored(0.1, 1), scored(0.4, 2)


def test_f1_by_seed_is_by_counting() -> None:
    v = F1Verdict.of("m", "c", GOOD, BAD)
    assert v.scores.tolist() == pytest.approx([f1(GOOD.gold, said) for said in GOOD.said])
    assert v.random_scores[:, 0].tolist() == pytest.approx([f1(BAD.gold, said) for said in BAD.said])
    assert v.difference == pytest.approx(v.scores.mean() - v.random_scores.mean())


def slow_differences() -> list[float]:
    """The first hundred resamples, text by text."""
    block = next(resamples(TEXTS, SEEDS))
    found = []
    for counts, seeds in zip(block.counts, block.seeds, strict=True):
        texts = np.repeat(np.arange(TEXTS), counts)
        each = [f1(GOOD.gold[texts], GOOD.said[s][texts]) - f1(BAD.gold[texts], BAD.said[s][texts]) for s in seeds]
        found.append(float(np.mean(each)))
    return found


def test_resamples_are_paired_by_text_and_seed() -> None:
    np.testing.assert_allclose(GOOD.resampled_difference(BAD)[:100], slow_differences(), atol=1e-12)


@pytest.mark.parametrize(
    ("one", "other", "sentence"), [(GOOD, BAD, "better than random"), (BAD, GOOD, "worse than random")]
)
def test_p_is_the_share_of_resamples_on_the_wrong_side(one: Scored, other: Scored, sentence: str) -> None:
    v = F1Verdict.of("m", "c", one, other)
    differences = one.resampled_difference(other)
    assert v.p_value == pytest.approx((1 + (differences <= 0).sum()) / (1 + len(differences)))
    assert v.p_worse == pytest.approx((1 + (differences >= 0).sum()) / (1 + len(differences)))
    assert v.interval == pytest.approx(tuple(np.quantile(differences, [0.025, 0.975])), abs=1e-9)
    assert v.sentence == sentence


def test_the_same_models_are_no_better() -> None:
    v = F1Verdict.of("m", "c", GOOD, GOOD)
    assert (v.p_value, v.p_worse, v.interval) == (1.0, 1.0, (0.0, 0.0))


def test_it_is_written_with_what_it_rests_on() -> None:
    told = F1Verdict.of("m", "c", GOOD, BAD, seed=4).to_dict()
    assert (told["texts"], told["models"], told["draws"], told["seed"]) == (TEXTS, SEEDS, 1, 4)
    assert told["random_scores"] == pytest.approx([f1(BAD.gold, said) for said in BAD.said])
    assert told["method"] == "m"
    again = Scored.from_dict(GOOD.to_dict())
    assert again.f1_by_seed == GOOD.f1_by_seed

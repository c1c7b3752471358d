"""The studies of attention without a run of them: what the second claims of given numbers, settings, errors."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from attention_data import run, write

from assay.checks.guided_mlp import GuidedResult
from assay.checks.trained_adversary import AdversaryResult, Curve
from assay.errors import BadFile, BadInput, UnknownName
from assay.statistics.scoring import Scored
from assay_studies import Claim, find_study
from assay_studies.attention_is_not_explanation.sizes import Sizes
from assay_studies.attention_is_not_explanation.tasks import settings
from assay_studies.attention_is_not_not_explanation.guides import claims as guides_claims
from assay_studies.attention_is_not_not_explanation.sought import Sought
from assay_studies.specification import Subject


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("attention_data"))


def last_claim(task: Any) -> Claim:
    return list(guides_claims(Subject("t", "T", {}, facts={"task": task})))[-1]


@pytest.mark.parametrize(("away", "verdict"), [(0.05, "open"), (0.6, "holds")])
def test_an_adversary_that_looks_where_the_base_looks_decides_nothing(away: float, verdict: str) -> None:
    rng = np.random.default_rng(3)
    gold = ["b" if i % 2 else "a" for i in range(400)]
    right = np.array([i % 2 for i in range(400)])
    wrong = np.where(rng.random(400) < 0.3, 1 - right, right)
    base, poor = (Scored.of(("a", "b"), gold, [said]) for said in (right, wrong))
    guides = {"uniform": poor, "trained MLP": poor, "base": base, "adversary": poor}
    curve = Curve(np.full((1, 400), 0.1), np.clip(rng.normal(away, 0.01, (1, 400)), 0, 0.69))
    sweep = AdversaryResult(lambdas=(1e-3,), curve=curve, scores=(base,), base=base, predicted=right)
    about: dict[str, Any] = {"name": "t", "split": SimpleNamespace(test=gold), "sizes": SimpleNamespace(guide_seeds=1)}
    known = GuidedResult(guides=guides, parameters={"adversary": 1e-3})
    claim = last_claim(SimpleNamespace(guided=known, adversaries=sweep, **about))
    assert claim.verdict == verdict
    assert f"JSD of the adversary to the base: {away:.2f}" in claim.evidence
    bare = SimpleNamespace(guided=GuidedResult(guides=guides, parameters={}), adversaries=sweep, **about)
    assert last_claim(bare).verdict == "holds"  # nothing is known of where it looks


def test_how_far_sought_attention_lies_below_the_curve() -> None:
    rng = np.random.default_rng(4)
    near, far = (np.clip(rng.normal(at, 0.02, 300), 0, 0.69) for at in (0.1, 0.6))
    low, high = (np.clip(rng.normal(at, 0.01, 300), 0, 1) for at in (0.02, 0.22))
    curve = Curve(np.stack([high, low]), np.stack([far, near]))  # not in order
    places = np.arange(0, 300, 3)
    found = Sought(places, np.full(100, 0.35), np.full(100, 0.03)).below(curve)
    x, y = (near[places].mean(), far[places].mean()), (low[places].mean(), high[places].mean())
    expected = y[0] + (y[1] - y[0]) * (0.35 - x[0]) / (x[1] - x[0]) - 0.03
    assert found.value == pytest.approx(expected)
    assert found.low < expected < found.high
    assert found.sign == 1
    lonely = Sought(places, np.full(100, 0.35), np.full(100, 0.03)).below(curve, [1])
    assert lonely.value == pytest.approx(y[0] - 0.03)  # of one point the curve is level
    beyond = Sought(places, np.full(100, 0.69), np.full(100, 0.03)).below(curve)
    assert beyond.value == pytest.approx(y[1] - 0.03)  # it goes on level


def test_settings() -> None:
    assert len(list(settings("sst", Sizes()))) == 6
    assert [s.name for s in settings("sst", Sizes.of(True, {}))] == ["sst-lstm-additive", "sst-average-additive"]


def test_errors(data: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="did you mean 'audited'"):
        run("attention_is_not_explanation", data, tmp_path, {"audit": 1})
    with pytest.raises(BadInput, match="no dataset left"):
        run("attention_is_not_explanation", data, tmp_path, {"sst": 0})
    with pytest.raises(BadFile, match="newsgroups20"):
        run("attention_is_not_not_explanation", data, tmp_path, {"newsgroups": 1})
    with pytest.raises(UnknownName, match="attention_is_not_explanation"):
        find_study("attention_is_no_explanation")

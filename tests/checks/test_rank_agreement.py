"""Rank agreement: all numbers against scipy, from maps that were made apart."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import tiny
from scipy.stats import kendalltau, spearmanr

import assay
from assay.checks.rank_agreement import RankAgreement, agreement
from assay.errors import BadInput, UnknownName
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.text.text import Text

TEXTS = ["a funny film that never lets go of its audience", "the plot was dull , the acting worse", "it is what it was"]


@pytest.fixture(scope="module")
def model() -> Any:
    network, tokenizer = tiny.bert()
    return assay.load((deepcopy(network).double(), tokenizer))  # so that rounding hides nothing above 1e-6


def told(model: Any, texts: list[str] = TEXTS, method: str = "gradient", **settings: Any) -> Any:
    (verdict,) = assay.check(model, texts, [method], [RankAgreement(**settings)], draws=5, progress=False)
    return verdict


@pytest.mark.parametrize("metric", ["kendall", "spearman", "top_k"])
@pytest.mark.parametrize("other", ["leave_one_out", "integrated_gradients"])
def test_against_scipy(model: Any, metric: str, other: str) -> None:
    verdict = told(model, metric=metric, other=other, k=2)
    rows = []
    for text in TEXTS:
        a, b = (assay.explain(model, text, method) for method in ("gradient", other))
        tau = kendalltau(a.scores, b.scores)
        best = [set(np.argsort(-e.scores)[:2].tolist()) for e in (a, b)]
        rho = spearmanr(a.scores, b.scores).statistic
        rows.append([tau.statistic, rho, len(best[0] & best[1]) / 2, tau.pvalue < 0.05])
    table = np.array(rows, dtype=float)
    assert verdict.scores == pytest.approx(table[:, ["kendall", "spearman", "top_k"].index(metric)], abs=1e-6)
    for name, values in zip(["kendall", "spearman", "top_k", "significant"], table.T, strict=True):
        assert verdict.facts[name] == pytest.approx(values.mean(), abs=1e-6)


def test_the_explained_number_is_the_same(model: Any) -> None:
    (verdict,) = assay.check(
        model, TEXTS[:1], ["gradient"], [RankAgreement()], draws=2, progress=False, target=2, scalar="logit"
    )
    a, b = (assay.explain(model, TEXTS[0], m, target=2, scalar="logit").scores for m in ("gradient", "leave_one_out"))
    assert verdict.scores[0] == pytest.approx(kendalltau(a, b).statistic, abs=1e-6)


def test_maps_without_order_have_a_value() -> None:
    """A model that always says the same: leave-one-out is zero everywhere, and no NaN comes of it."""
    box = assay.BlackBox(lambda texts: np.full(len(texts), 0.5), labels=["a", "b"])
    assert told(box, ["a funny film"], "random").scores.tolist() == [0.0]
    flat = told(box, ["a funny film"], "leave_one_out")
    assert flat.scores.tolist() == [1.0]
    assert flat.facts["significant"] == 0
    assert not flat.better_than_random or flat.random == 0


def test_a_method_beside_itself_is_said(model: Any) -> None:
    same = told(model, method="leave_one_out")
    assert same.scores == pytest.approx(1.0)
    assert any("compared with itself" in warning for warning in same.warnings)
    assert all(warning.startswith("too few texts") for warning in told(model).warnings)


def test_bad_settings_are_told() -> None:
    with pytest.raises(UnknownName, match="leave_one_out"):
        RankAgreement(other="leave_one_ouy")
    with pytest.raises(BadInput, match="no scores to words"):
        RankAgreement(other="anchors")
    with pytest.raises(BadInput, match="k >= 1"):
        RankAgreement(k=0)


def maps(*scores: list[float], text: str = "a funny film") -> list[TokenScores]:
    return [TokenScores(Case(Text.of(text), 0), np.array(values)) for values in scores]


def test_the_matrix_of_all_maps() -> None:
    table = agreement(maps([1, 2, 3], [3, 2, 1], [1, 3, 2], [0, 0, 0]))
    third = 1 / 3
    expected = [[1, -1, third, 0], [-1, 1, -third, 0], [third, -third, 1, 0], [0, 0, 0, 1]]
    assert table == pytest.approx(np.array(expected))
    assert agreement(maps([1, 2, 3])).tolist() == [[1.0]]
    assert agreement([]).shape == (0, 0)


def test_maps_of_different_texts_have_no_matrix() -> None:
    with pytest.raises(BadInput, match="same words"):
        agreement([*maps([1, 2, 3]), *maps([1, 2, 3], text="a dull film")])

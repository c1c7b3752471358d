"""Estimates, claims and tables of studies."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np
import pytest

from assay.errors import BadInput
from assay.statistics.intervals import Estimate, difference, estimate, f1, ratio
from assay_studies.claims import (
    Claim,
    Evidence,
    above,
    below,
    claim,
    falls_less_than,
    higher,
    lower,
    not_better,
    within,
)
from assay_studies.tables import Cell, Line, Table

RNG = np.random.default_rng(5)


def test_an_interval_is_that_of_the_normal_approximation_for_many_texts() -> None:
    values = RNG.normal(3, 2, size=900)
    found = estimate(values)
    assert found is not None
    assert found.value == pytest.approx(values.mean())
    half = 1.96 * values.std() / 30
    assert (found.low, found.high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.02)
    assert found.n == 900


def test_a_ratio_is_that_of_the_sums_and_not_the_mean_of_ratios() -> None:
    columns = np.array([[1.0, 2.0], [8.0, 8.0], [0.0, 4.0]])
    found = estimate(columns, ratio)
    assert found is not None
    assert found.value == pytest.approx(9 / 14)


def test_a_ratio_to_nothing_has_no_value() -> None:
    assert estimate(np.zeros((5, 2)), ratio) is None
    some = estimate(np.array([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]), ratio)
    assert some is not None
    assert np.isfinite([some.value, some.low, some.high]).all()


def test_f1_is_that_of_mean_precision_and_mean_recall() -> None:
    columns = np.array([[1.0, 0.2], [0.5, 0.4]])
    found = estimate(columns, f1)
    assert found is not None
    assert found.value == pytest.approx(2 * 0.75 * 0.3 / 1.05)
    assert f1(np.zeros(2)) == 0


def test_a_difference_is_paired() -> None:
    one = RNG.normal(0, 10, size=200)
    found = difference(one + 0.1, one)
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((0.1, 0.1, 0.1))
    other = RNG.normal(0, 1, size=200)
    apart, direct = difference(one, other), estimate(one - other)
    assert apart is not None
    assert direct is not None
    assert (apart.low, apart.high) == pytest.approx((direct.low, direct.high))
    with pytest.raises(BadInput, match="same texts"):
        difference(one, other[:-1])


@pytest.mark.parametrize(
    ("low", "high", "n", "below", "above"),
    [(-2, -1, 50, True, False), (1, 2, 50, False, True), (-1, 1, 50, None, None), (1, 2, 19, None, None)],
)
def test_which_side_of_zero(low: float, high: float, n: int, below: bool | None, above: bool | None) -> None:
    found = Estimate((low + high) / 2, low, high, n)
    assert (found.below, found.above) == (below, above) == (lower(found), higher(found))


def test_how_claims_are_put_together() -> None:
    assert not_better(Estimate(0.1, -0.1, 0.3, 50)) is None
    assert not_better(Estimate(-0.2, -0.3, -0.1, 50)) is True
    assert not_better(Estimate(0.2, 0.1, 0.3, 50)) is False
    assert not_better(Estimate(0.1, -0.1, 0.3, 5)) is None
    assert [Claim("", holds, "").verdict for holds in (True, False, None)] == ["holds", "does not hold", "open"]


@pytest.mark.parametrize(
    ("low", "high", "near", "no_fall", "over", "under"),
    [
        (-0.5, 0.5, True, True, None, True),
        (-2.0, 0.5, None, None, None, True),
        (-3.0, -2.0, False, False, False, True),
        (0.5, 2.0, None, True, True, None),
        (2.0, 3.0, False, True, True, False),
    ],
)
def test_rules_with_a_limit(low: float, high: float, near: Any, no_fall: Any, over: Any, under: Any) -> None:
    found = Estimate((low + high) / 2, low, high, 30)
    rules = (within(1.0), falls_less_than(1.0), above(0.4), below(1.0))
    assert [rule(found) for rule in rules] == [near, no_fall, over, under]
    assert [rule(None) for rule in rules] == [None] * 4
    assert [rule(Estimate(found.value, low, high, 5)) for rule in rules] == [None] * 4


def test_a_claim_is_decided_by_its_rules_and_shows_all_its_numbers() -> None:
    up, unsure = Estimate(1.0, 0.5, 1.5, 30), Estimate(0.0, -1.0, 1.0, 30)
    found = claim("c", Evidence("a", up, higher), Evidence("b", unsure))
    assert (found.text, found.holds, found.evidence) == ("c", True, "a: 1.000 [0.500, 1.500]; b: 0.000 [-1.000, 1.000]")
    assert Claim.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    assert claim("c", Evidence("a", up, higher), Evidence("b", unsure, lower)).holds is None
    assert claim("c", Evidence("a", up, lower), Evidence("b", unsure, lower)).holds is False
    none = claim("c", Evidence("a", None, higher), digits=1)
    assert (none.holds, none.evidence) == (None, "a: not measured")


TABLE = Table(
    "t",
    "A | table",
    ("x", "y"),
    (
        Line("a", (Cell(Estimate(0.5, 0.25, 0.75, 8), "71.4 ± 2"), Cell(None, "40%"))),
        Line("b", (Cell(Estimate(1, 0, 2, 8)), Cell())),
    ),
    better="lower",
    digits=2,
    notes=("A note.",),
)


def test_a_table_shows_ours_above_the_published() -> None:
    assert TABLE.rows == [
        ("a", "0.50 [0.25, 0.75]", "–"),
        ("published", "71.4 ± 2", "40%"),
        ("b", "1.00 [0.00, 2.00]", "–"),
    ]
    assert "| published | 71.4 ± 2 | 40% |" in TABLE.to_markdown()
    assert TABLE.to_markdown().startswith("### A | table (lower is better)")
    assert [cell.published_value for cell in TABLE.lines[0].cells] == [71.4, 40.0]
    assert TABLE.lines[1].cells[0].published_value is None


def test_a_table_as_csv_has_one_row_for_each_cell() -> None:
    rows = list(csv.DictReader(io.StringIO(TABLE.to_csv())))
    assert len(rows) == 4
    assert rows[0] == {
        "table": "t", "line": "a", "column": "x", "ours": "0.5", "low": "0.25", "high": "0.75", "texts": "8",
        "published": "71.4 ± 2",
    }  # fmt: skip
    assert rows[1]["ours"] == ""


def test_a_table_comes_back_from_json() -> None:
    assert Table.from_dict(json.loads(json.dumps(TABLE.to_dict()))) == TABLE
    with pytest.raises(ValueError, match="1 cells for 2"):
        Table("t", "", ("x", "y"), (Line("a", (Cell(),)),))

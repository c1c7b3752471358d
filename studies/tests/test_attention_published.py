"""The published numbers agree with each other, and with the authors' release where ASSAY_DATA has it."""

from __future__ import annotations

import csv
import json
import math
import os
from pathlib import Path

import pytest

from assay_studies.published import published

FIRST, SECOND = published("attention_is_not_explanation"), published("attention_is_not_not_explanation")
PAIRS = ("attention_gradient", "attention_loo", "gradient_loo")
Setting = tuple[str, ...]
RELEASE = Path(os.environ.get("ASSAY_DATA", "/nowhere")) / "ref_jain_wallace_results"
real = pytest.mark.skipif(not RELEASE.exists(), reason="ASSAY_DATA holds no ref_jain_wallace_results")
SETTINGS = sorted(tuple(line.split(", ")) for line in FIRST.lines("performance"))
NAMES = {"adr": "tweet", "newsgroups": "20News_sports", "ag_news": "agnews", "diabetes": "diab"}
ENCODERS = {"cnn": "cnn(1,3,5,7)"}
QUESTIONS = {"cnn", "babi_1", "babi_2", "babi_3"}  # no classes; one stray row of the release names one
ATTENTION = {"additive": "tanh", "dot": "dot"}


def file(folder: str, setting: Setting, ending: str) -> Path:
    data, encoder, attention = setting
    name = f"{NAMES.get(data, data)}+{ENCODERS.get(encoder, encoder)}+{ATTENTION[attention]}"
    return RELEASE / folder / f"{name}.{ending}"


def rows(folder: str, setting: Setting) -> dict[str, list[float]]:
    with file(folder, setting, "csv").open() as opened:
        lines = list(csv.DictReader(opened))
    columns = ("mean", "std", "pval_sig")
    return {line[""].replace("Overall", "all"): [float(line[c] or "nan") for c in columns] for line in lines}


def taus(pair: str, setting: Setting) -> dict[str, tuple[float, ...]]:
    """Mean, standard deviation and share significant by class, "all" for all texts."""
    found = FIRST.numbers.items()
    own = (f"tau_{pair}", ", ".join(setting))
    return {column: number.numbers for (table, line, column), number in found if (table, line) == own}


def adversaries(dataset: str) -> list[tuple[float, float, float, float]]:
    """Lambda, F1, TVD and JSD of the rows of Table 5."""
    lines = [line for line in SECOND.lines("table_5") if line.startswith(f"{dataset}, ")]
    rows = ([SECOND.get("table_5", line, column).value for column in ("F1", "TVD", "JSD")] for line in lines)
    return [(float(line.split(", ")[1]), *row) for line, row in zip(lines, rows, strict=True)]


def test_all_settings_are_there() -> None:
    assert len(SETTINGS) == 12 * 3 * 2
    assert {name for name, _, _ in SETTINGS} == set(FIRST.lines("table_1")) == set(FIRST.lines("datasets"))
    empty = [s for s in SETTINGS if not taus("gradient_loo", s)]  # NaN in the release
    assert sorted(empty) == [
        ("adr", "cnn", "dot"), ("anemia", "cnn", "dot"), ("imdb", "average", "dot"), ("newsgroups", "cnn", "dot"),
    ]  # fmt: skip
    assert all(taus(pair, setting) for pair in PAIRS[:2] for setting in SETTINGS)


def test_table_2_is_the_release_rounded() -> None:
    columns = {
        "gradient, lstm": ("attention_gradient", "lstm"),
        "gradient, average": ("attention_gradient", "average"),
        "leave-one-out, lstm": ("attention_loo", "lstm"),
    }
    assert len(FIRST.lines("table_2")) == 21
    for line in FIRST.lines("table_2"):
        data, label = line.split(", ")
        for column, (pair, encoder) in columns.items():
            printed = FIRST.get("table_2", line, column).numbers
            assert printed == pytest.approx(taus(pair, (data, encoder, "additive"))[label], abs=0.0056), (line, column)


def test_what_is_known_of_the_release() -> None:
    sst = ("sst", "lstm", "additive")
    assert taus("attention_gradient", sst)["all"] == (0.351, 0.211, 0.49)
    assert taus("attention_loo", sst)["all"] == (0.291, 0.191, 0.36)
    assert taus("gradient_loo", sst)["all"][0] == 0.656
    scores = {name: FIRST.get("performance", "sst, lstm, additive", name).value for name in ("f1", "auc", "accuracy")}
    assert scores == {"f1": 0.784, "auc": 0.902, "accuracy": 0.808}
    assert set(taus("attention_gradient", ("imdb", "average", "dot"))) == {"0"}  # the others are NaN there


@real
@pytest.mark.parametrize("setting", SETTINGS, ids="+".join)
def test_every_number_is_in_the_release(setting: Setting) -> None:
    tables = {"GradientPval_kendalltau": "attention_gradient", "pyxc-pyc_pval_kendalltau": "attention_loo"}
    for folder, pair in tables.items():
        classes = {"all"} if setting[0] in QUESTIONS else {"0", "1", "2", "all"}
        known = {k: v for k, v in rows(folder, setting).items() if k in classes and not math.isnan(v[0])}
        assert set(taus(pair, setting)) == set(known)
        assert all(tau == pytest.approx(known[k], abs=0.00051) for k, tau in taus(pair, setting).items())
    together = rows("CorrStats_kendalltau", setting)
    for swapped, pair in (("al", "attention_gradient"), ("ag", "attention_loo"), ("gl", "gradient_loo")):
        if "all" in taus(pair, setting):
            assert taus(pair, setting)["all"] == pytest.approx(together[swapped], abs=0.00051)
    scores = json.loads(file("evaluate", setting, "json").read_text())
    names = {"f1": "1/f1-score", "auc": "roc_auc", "accuracy": "accuracy"}
    expected = {ours: scores[theirs] for ours, theirs in names.items() if theirs in scores}
    found = {name: FIRST.find("performance", ", ".join(setting), name) for name in names}
    assert {name: one.value for name, one in found.items() if one} == pytest.approx(expected, abs=0.00051)


def test_table_4_is_the_best_of_table_5() -> None:
    for data in SECOND.lines("table_4"):
        best = tuple(SECOND.get("table_4", data, column).value for column in ("lambda", "F1", "TVD", "JSD"))
        far = [row for row in adversaries(data) if row[3] > 0.4]
        assert best in far
        assert best[1] == max(row[1] for row in far)


def test_adversaries_are_possible_and_in_order() -> None:
    for data in ("anemia", "diabetes", "sst", "imdb"):
        known = adversaries(data)
        assert len(known) >= 10
        assert all(0 <= jsd <= 0.6935 and 0 <= tvd <= 1 for _, _, tvd, jsd in known)
        assert [row[0] for row in known] == sorted({row[0] for row in known})


def test_reported_baselines_are_those_of_the_first_paper() -> None:
    assert len(SECOND.lines("table_2")) == 6
    for data in SECOND.lines("table_2"):
        reported = SECOND.get("table_2", data, "reported").value
        assert reported == FIRST.get("table_1", data, "performance").value
    for data in SECOND.lines("table_3"):
        f1 = [SECOND.get("table_3", data, guide).value for guide in ("uniform", "trained_mlp", "base_lstm")]
        assert f1 == sorted(set(f1))

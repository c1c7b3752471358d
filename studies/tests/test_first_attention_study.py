"""The first study of attention on a small generated corpus: numbers against loops of our own, the directory."""

from __future__ import annotations

from pathlib import Path

import pytest
from attention_data import (
    SIZES,
    require_counts,
    require_the_same_by_workers,
    require_verdicts,
    run,
    write,
)
from found_tables import ours, table
from jobs_in_turn import one_by_one
from sklearn.metrics import f1_score

import assay
from assay_studies import Findings
from assay_studies.data.jain_wallace import read
from assay_studies.published import published
from assay_studies.samples import spread

FIRST = published("attention_is_not_explanation")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("attention_data"))


@pytest.fixture(scope="module")
def first(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Findings, Path]:
    out = tmp_path_factory.mktemp("first") / "out"
    return run("attention_is_not_explanation", data, out, SIZES), out


def test_f1_is_that_of_scikit_learn(first: tuple[Findings, Path], data: Path) -> None:
    findings, out = first
    model = assay.load(out / "models" / "sst-lstm-additive")
    test = read("sst", data).test
    said = model.predict([example.text for example in test]).argmax(axis=1)
    gold = [model.labels.index(str(example.label)) for example in test]
    assert ours(findings, "table_1", "SST", "lstm, additive") == pytest.approx(f1_score(gold, said))


def test_table_1_counts_the_datasets(first: tuple[Findings, Path], data: Path) -> None:
    require_counts(*first, data)


def test_taus_are_those_of_the_audit(first: tuple[Findings, Path], data: Path) -> None:
    findings, out = first
    model = assay.load(out / "models" / "sst-lstm-additive")
    texts = [example.text for example in spread(read("sst", data).test, SIZES["audited"])]
    frame = assay.audit_attention(model, texts, permutations=8, k=2, steps=6, progress=False).to_frame()
    column = frame["tau_attention_gradient"].dropna()
    assert ours(findings, "tau_attention_gradient", "SST", "lstm, additive") == pytest.approx(column.mean(), abs=1e-6)
    of_one = frame[frame.predicted == model.labels[0]]["tau_attention_gradient"].dropna()
    if len(of_one):
        found = ours(findings, "table_2", f"SST, {model.labels[0]}", "gradient, lstm")
        assert found == pytest.approx(of_one.mean(), abs=1e-6)
    tvd = frame["median_tvd"].mean()
    assert ours(findings, "counterfactuals", "SST, lstm, additive", "median TVD") == pytest.approx(tvd, abs=1e-6)


def test_figures_6_to_8_are_mean_differences_of_taus(first: tuple[Findings, Path], data: Path) -> None:
    findings, out = first
    texts = [example.text for example in spread(read("sst", data).test, SIZES["audited"])]
    frames = {
        encoder: assay.audit_attention(
            assay.load(out / "models" / f"sst-{encoder}-additive"), texts, permutations=8, k=2, steps=6, progress=False
        ).to_frame()
        for encoder in ("lstm", "average")
    }
    lstm, average = frames["lstm"], frames["average"]
    expected = {
        "Figure 6": lstm["tau_gradient_loo"] - lstm["tau_attention_loo"],
        "Figure 7": lstm["tau_gradient_loo"] - lstm["tau_attention_gradient"],
        "Figure 8": average["tau_attention_loo"] - lstm["tau_attention_loo"],
    }
    found = table(findings, "figures_6_to_8")
    assert found.columns == ("SST", "mean of those that learned", "the captions, all their datasets")
    for line in found.lines:
        mean = expected[line.label.partition(":")[0]].dropna().mean()
        ours = [cell.ours.value if cell.ours else None for cell in line.cells]
        assert ours[0] == pytest.approx(mean, abs=1e-6)
        assert ours[1] in (None, ours[0])  # a mean of the datasets that were learned
        assert ours[2] is None
    one, less = (FIRST.get(f"tau_{pair}", "sst, lstm, additive", "all") for pair in ("gradient_loo", "attention_loo"))
    published = [cell.published for cell in found.lines[0].cells]
    assert (published[0], published[2]) == (f"{one.value - less.value:.2f}", "0.2")


def test_published_numbers_stand_beside(first: tuple[Findings, Path]) -> None:
    findings, _ = first
    cell = table(findings, "table_2").lines[0].cells[0]
    assert cell.published == FIRST.text("table_2", "sst, 0", "gradient, lstm") == "0.34 ± 0.21 (0.48)"
    shown = table(findings, "tau_attention_gradient").lines[0].cells[0].published
    assert shown == "0.35 ± 0.21 (0.49)"  # released with three digits
    assert table(findings, "significant").lines[0].cells[0].published == "0.49"
    assert table(findings, "table_1").lines[0].cells[0].published == "0.784"


def test_shares_of_a_histogram_sum_to_one(first: tuple[Findings, Path]) -> None:
    findings, _ = first
    for name in ("figure_2_sst", "figure_4"):
        for line in table(findings, name).lines:
            assert sum(cell.ours.value for cell in line.cells if cell.ours) == pytest.approx(1)


def test_the_site_has_a_page_for_every_model(first: tuple[Findings, Path]) -> None:
    _, out = first
    index = (out / "site" / "index.html").read_text(encoding="utf-8")
    for name in ("sst-lstm-additive", "sst-average-additive"):
        assert f'href="{name}.html"' in index
        assert (out / "site" / f"{name}.html").read_text(encoding="utf-8").lstrip().startswith("<!doctype html>")
    assert "http://" not in index.replace("http-equiv", "")


def test_what_is_finished_is_not_made_again(first: tuple[Findings, Path], data: Path) -> None:
    findings, out = first
    heard: list[str] = []
    again = run("attention_is_not_explanation", data, out, SIZES, heard=heard)
    assert not any("training" in line or "auditing" in line for line in heard)
    assert [t.to_dict() for t in again.tables] == [t.to_dict() for t in findings.tables]
    (out / "parts" / "table_2.json").unlink()
    heard.clear()
    third = run("attention_is_not_explanation", data, out, SIZES, heard=heard)
    assert not any("auditing" in line for line in heard)
    assert [t.to_dict() for t in third.tables] == [t.to_dict() for t in findings.tables]


def test_every_claim_of_the_first_study_is_decided_or_open(first: tuple[Findings, Path]) -> None:
    require_verdicts(first[0])


def test_workers_of_the_first_study_find_what_one_process_finds(
    first: tuple[Findings, Path], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By their jobs, pickled, in this process: how processes share them is tested in test_double_trouble_shared."""
    monkeypatch.setattr("assay_studies.study.work", one_by_one)
    require_the_same_by_workers("attention_is_not_explanation", data, tmp_path, SIZES, first)

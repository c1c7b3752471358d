"""The second study of attention on a small generated corpus: numbers against loops of our own, verdicts, parts."""

from __future__ import annotations

import json
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attention_data import (
    SECOND,
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
from assay.checks.seed_variance import SeedVariance
from assay.registry.finding import find_check
from assay_studies import Findings, Request
from assay_studies.attention_is_not_not_explanation.page import PAGE
from assay_studies.attention_is_not_not_explanation.sizes import Sizes as SecondSizes
from assay_studies.attention_is_not_not_explanation.tasks import seeds_of, tasks
from assay_studies.claims import higher
from assay_studies.data.jain_wallace import read
from assay_studies.findings import StudyVerdict
from assay_studies.kept import Kept
from assay_studies.published import published
from assay_studies.rules import Comparison
from assay_studies.samples import spread
from assay_studies.store import Store

SECOND_PAPER = published("attention_is_not_not_explanation")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("attention_data"))


@pytest.fixture(scope="module")
def second(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Findings, Path]:
    out = tmp_path_factory.mktemp("second") / "out"
    return run("attention_is_not_not_explanation", data, out, SECOND), out


def test_its_table_1_counts_the_datasets(second: tuple[Findings, Path], data: Path) -> None:
    require_counts(*second, data)


def test_every_claim_of_the_second_study_is_decided_or_open(second: tuple[Findings, Path]) -> None:
    require_verdicts(second[0])


def model_of_the_tests(models: Path, attention: str = "additive") -> Path:
    """The only model with an LSTM and this attention, of the first seed, that is no adversary."""
    found = {file.parent: json.loads(file.read_text()) for file in models.glob("*/training.json")}
    wanted = {"encoder": "lstm", "attention": attention, "seed": 10}
    (place,) = [
        path
        for path, one in found.items()
        if "base" not in one and all(one[name] == value for name, value in wanted.items())
    ]
    return place


def test_uniform_attention_beside_the_learned(second: tuple[Findings, Path], data: Path) -> None:
    findings, out = second
    test = read("sst", data).test
    values = {}
    for kind in ("additive", "uniform"):
        model = assay.load(model_of_the_tests(out / "models" / "sst", kind))
        said = model.predict([example.text for example in test]).argmax(axis=1)
        values[kind] = f1_score([model.labels.index(str(e.label)) for e in test], said)
    assert ours(findings, "table_2", "SST", "learned attention") == pytest.approx(values["additive"])
    assert ours(findings, "table_2", "SST", "uniform attention") == pytest.approx(values["uniform"])
    gap = values["additive"] - values["uniform"]
    assert ours(findings, "table_2", "SST", "difference") == pytest.approx(gap)


@pytest.mark.parametrize("name", ["uniform_attention", "seed_variance", "guided_mlp", "trained_adversary"])
def test_the_study_gives_the_verdicts_of_check(second: tuple[Findings, Path], data: Path, name: str) -> None:
    """The models are there already, so nothing is trained; the study's results come from its directory."""
    findings, out = second
    (task,) = tasks(Request(data=data, out=out), SecondSizes.of(True, SECOND), Store(out))
    settings: dict[str, dict[str, Any]] = {
        "uniform_attention": {"seeds": seeds_of(task.sizes.uniform_seeds)},
        "seed_variance": {"seeds": SeedVariance().seeds[: task.sizes.seeds]},
        "guided_mlp": {"seeds": seeds_of(task.sizes.guide_seeds), **task.opposed},
        "trained_adversary": {"lambdas": task.lambdas, **task.opposed},
    }
    made = find_check(name).make({"recipe": task.how, **settings[name]})
    train, dev, test = task.data
    by_check = assay.check(None, train, ["attention"], [made], dev=dev, test=test, out=task.out, progress=False)
    results = {r.verdicts()[0].check: r for r in (task.uniform, task.seeds, task.guided, task.adversaries)}
    by_study = results[name].verdicts()
    assert [v.to_dict() for v in by_study] == [v.to_dict() for v in by_check]
    shown = [v for part in findings.parts for v in part.verdicts if v.check == name]
    assert shown == [StudyVerdict.of(one.about, v) for one, v in zip(shown, by_check, strict=True)]
    assert shown[0].verdict in (out / "report.md").read_text(encoding="utf-8")


def test_the_sweep_has_a_line_for_each_lambda(second: tuple[Findings, Path]) -> None:
    findings, out = second
    lines = table(findings, "table_5_sst").lines
    assert [line.label for line in lines] == ["lambda 0", "lambda 0.0005", "lambda 0.01"]
    jsd = [line.cells[2].ours.value for line in lines if line.cells[2].ours]
    assert all(0 <= value <= np.log(2) for value in jsd)
    assert json.loads((out / "parts" / "table_3.json").read_text())["part"]["tables"]


@pytest.mark.parametrize(
    ("left_out", "parts", "marks"),
    [
        (("guides", "adversaries"), ["table_1", "table_2", "figure_3"], []),
        (("uniform", "seeds", "guides"), ["table_1", "tables_4_and_5"], []),
        (("seeds", "guides"), ["table_1", "table_2", "tables_4_and_5"], ["uniform attention"]),
    ],
)
def test_some_of_the_tests_find_what_a_run_of_all_kept(
    left_out: tuple[str, ...],
    parts: list[str],
    marks: list[str],
    second: tuple[Findings, Path],
    data: Path,
    tmp_path: Path,
) -> None:
    whole, out = second
    shutil.copytree(out / "results", tmp_path / "results")  # without the models: nothing can be made anew
    sizes = {**SECOND, **{f"test_{name}": 0 for name in left_out}, "sought": 0}
    if "adversaries" in left_out:  # how these are trained, or how many seeds another test has, decides nothing then
        sizes["sst_adversary_epochs"] = 7
    if "uniform" in left_out:
        sizes["uniform_seeds"] = 3
    some = run("attention_is_not_not_explanation", data, tmp_path, sizes)
    assert [part.name for part in some.parts] == parts
    assert not (tmp_path / "models").exists()
    for one in some.tables:
        if not one.name.startswith("figure_"):
            assert one.lines == table(whole, one.name).lines
    if "figure_5_sst" in {one.name for one in some.tables}:
        measured = [line.label for line in table(some, "figure_5_sst").lines if line.cells[0].ours]
        assert measured == ["λ 0", "λ 5e-4", "λ 0.01", *marks]


def test_adversaries_of_fewer_epochs_than_printed_are_told(second: tuple[Findings, Path]) -> None:
    findings, _ = second
    told = {one.over for claim in findings.claims if claim.key == "convex" for one in claim.comparisons}
    assert told == {"texts; each adversary is trained once; 4 of the printed 80 epochs"}
    some = Comparison("IMDb", None, higher, over="texts and 3 seeds; 25 of the printed 40 epochs")
    page = next(iter(PAGE.of_run(Kept({}, {"convex": (some,)}, {}))))
    assert "80 epochs on SST and 40 elsewhere, as printed (those of IMDb for 25 at most), until" in page


def test_figures_5_and_6_are_curves_of_ours_and_the_papers(second: tuple[Findings, Path]) -> None:
    findings, out = second
    curve, sweep = table(findings, "figure_5_sst"), table(findings, "table_5_sst")
    printed = {line.label: line.cells for line in curve.lines if any(cell.published for cell in line.cells)}
    assert len(printed) == len([line for line in SECOND_PAPER.lines("table_5") if line.startswith("sst, ")])
    assert [cell.published for cell in printed["λ 5.25e-4"]] == ["0.514", "0.036"]
    measured = [line for line in curve.lines if line.cells[0].ours]
    assert [line.label for line in measured] == [
        *("λ 0", "λ 5e-4", "λ 0.01", "other seeds", "uniform attention", "sought text by text")
    ]
    for point, row in zip(measured, sweep.lines, strict=False):
        assert [cell.ours for cell in point.cells] == [row.cells[2].ours, row.cells[1].ours]
    chance = table(findings, "seeds").lines[0].cells
    assert [cell.ours.value for cell in measured[3].cells] == pytest.approx([c.ours.value for c in chance[:2]])
    assert [cell.ours.value for cell in measured[4].cells] == pytest.approx([c.ours.value for c in chance[2:4]])
    classes = table(findings, "figure_6_sst")
    for i, line in enumerate(measured):  # the classes together are all texts
        for axis in (0, 1):
            parts = [cell.ours for cell in classes.lines[i].cells[axis::2]]
            whole = sum(part.value * part.n for part in parts) / sum(part.n for part in parts)
            assert whole == pytest.approx(line.cells[axis].ours.value)
    for name in ("figure_5_sst", "figure_6_sst"):
        assert (out / "figures" / f"{name}.png").stat().st_size > 5000
        assert f"(figures/{name}.png)" in (out / "report.md").read_text()


def test_workers_of_the_second_study_find_what_one_process_finds(
    second: tuple[Findings, Path], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It trains its adversaries side by side, as on a card; see the first study's."""
    monkeypatch.setattr("assay_studies.study.work", one_by_one)
    jobs = import_module("assay_studies.attention_is_not_not_explanation.jobs")
    monkeypatch.setattr(jobs, "_on_a_card", lambda request: True)
    require_the_same_by_workers("attention_is_not_not_explanation", data, tmp_path, SECOND, second)


def test_sought_attention_is_that_of_the_audit(second: tuple[Findings, Path], data: Path) -> None:
    findings, out = second
    model = assay.load(model_of_the_tests(out / "models" / "sst"))
    texts = [example.text for example in spread(read("sst", data).test, SECOND["sought"])]
    frame = assay.audit_attention(model, texts, permutations=3, progress=False).to_frame()
    cells = next(line for line in table(findings, "figure_5_sst").lines if line.label == "sought text by text").cells
    assert [cell.ours.n for cell in cells if cell.ours] == [12, 12]
    assert cells[0].ours.value == pytest.approx(frame["jsd"].mean(), abs=1e-5)
    assert cells[1].ours.value <= 0.05

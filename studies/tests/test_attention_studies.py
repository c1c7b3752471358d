"""The studies of attention on a small generated corpus: numbers against loops of our own, the directory, its errors."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attention_data import SECOND, SIZES, run, write
from found_tables import ours, table
from jobs_in_turn import one_by_one
from sklearn.metrics import f1_score

import assay
from assay.checks.seed_variance import SeedVariance
from assay.registry.finding import find_check
from assay_studies import Findings, Request
from assay_studies.attention_is_not_not_explanation.sizes import Sizes as SecondSizes
from assay_studies.attention_is_not_not_explanation.tasks import seeds_of, tasks
from assay_studies.data.jain_wallace import read
from assay_studies.findings import StudyVerdict
from assay_studies.published import published
from assay_studies.samples import spread
from assay_studies.store import Store
from assay_studies.tables import Table

FIRST, SECOND_PAPER = published("attention_is_not_explanation"), published("attention_is_not_not_explanation")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("attention_data"))


@pytest.fixture(scope="module")
def first(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Findings, Path]:
    out = tmp_path_factory.mktemp("first") / "out"
    return run("attention_is_not_explanation", data, out, SIZES), out


@pytest.fixture(scope="module")
def second(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Findings, Path]:
    out = tmp_path_factory.mktemp("second") / "out"
    return run("attention_is_not_not_explanation", data, out, SECOND), out


def test_f1_is_that_of_scikit_learn(first: tuple[Findings, Path], data: Path) -> None:
    findings, out = first
    model = assay.load(out / "models" / "sst-lstm-additive")
    test = read("sst", data).test
    said = model.predict([example.text for example in test]).argmax(axis=1)
    gold = [model.labels.index(str(example.label)) for example in test]
    assert ours(findings, "table_1", "SST", "lstm, additive") == pytest.approx(f1_score(gold, said))


def test_table_1_counts_the_datasets(first: tuple[Findings, Path], second: tuple[Findings, Path], data: Path) -> None:
    split = read("sst", data)
    for findings, out in (first, second):
        line = table(findings, "datasets").lines[0]
        vocabulary, length, *sizes = line.cells
        known = {word for example in split.train for word in example.strings[0].split()}
        assert vocabulary.counted == str(len(known) + 4)  # the padding, the unknown word and two edges
        lengths = [len(example.strings[0].split()) for example in split.train]
        assert length.ours is not None
        assert length.ours.value == pytest.approx(np.mean(lengths))
        assert [cell.counted for cell in sizes] == ["80 / 80", "20 / 20", "30 / 30"]
        assert [cell.published for cell in line.cells] == ["16175", "19", "3034 / 3321", "", "863 / 862"]
        assert "80 / 80" in (out / "report.md").read_text()
        assert "datasets,SST,training texts,80 / 80,,,,3034 / 3321" in (out / "tables" / "datasets.csv").read_text()
        assert not (out / "figures" / "datasets.png").exists()
        again = Table.from_dict(json.loads(json.dumps(table(findings, "datasets").to_dict())))
        assert again == table(findings, "datasets")


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


def test_every_claim_is_decided_or_open(first: tuple[Findings, Path], second: tuple[Findings, Path]) -> None:
    for findings, _ in (first, second):
        assert findings.claims
        assert {claim.verdict for claim in findings.claims} <= {"holds", "does not hold", "open", "not learned"}


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


@pytest.mark.parametrize(
    ("name", "sizes", "alone"),
    [("attention_is_not_explanation", SIZES, "first"), ("attention_is_not_not_explanation", SECOND, "second")],
)
def test_workers_find_what_one_process_finds(
    name: str,
    sizes: dict[str, int],
    alone: str,
    data: Path,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By their jobs, pickled, in this process: how processes share them is tested in test_double_trouble_shared.

    The second trains its adversaries side by side, as on a card.
    """
    monkeypatch.setattr("assay_studies.study.work", one_by_one)
    if alone == "second":
        jobs = import_module("assay_studies.attention_is_not_not_explanation.jobs")
        monkeypatch.setattr(jobs, "_on_a_card", lambda request: True)
    heard: list[str] = []
    shared = run(name, data, tmp_path, sizes, workers=2, heard=heard)
    assert not any("training" in line or "auditing" in line or "_" in line.split(":")[1] for line in heard)
    by_one, place = request.getfixturevalue(alone)
    trained = [sorted(str(p.relative_to(at)) for p in at.rglob("training.json")) for at in (tmp_path, place)]
    assert trained[0] == trained[1] != []
    for one, other in zip(shared.tables, by_one.tables, strict=True):
        assert [line.label for line in one.lines] == [line.label for line in other.lines]
        mine, theirs = ([c.ours.value for line in t.lines for c in line.cells if c.ours] for t in (one, other))
        assert mine == pytest.approx(theirs, abs=1e-4), one.name


def test_sought_attention_is_that_of_the_audit(second: tuple[Findings, Path], data: Path) -> None:
    findings, out = second
    model = assay.load(model_of_the_tests(out / "models" / "sst"))
    texts = [example.text for example in spread(read("sst", data).test, SECOND["sought"])]
    frame = assay.audit_attention(model, texts, permutations=3, progress=False).to_frame()
    cells = next(line for line in table(findings, "figure_5_sst").lines if line.label == "sought text by text").cells
    assert [cell.ours.n for cell in cells if cell.ours] == [12, 12]
    assert cells[0].ours.value == pytest.approx(frame["jsd"].mean(), abs=1e-5)
    assert cells[1].ours.value <= 0.05

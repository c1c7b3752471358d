"""The frame that all studies share: facts in their order, parts made once, the report on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.errors import BadInput
from assay.statistics.intervals import Estimate
from assay_studies.claims import Claim, Evidence, claim, higher
from assay_studies.findings import Part
from assay_studies.kept import Kept
from assay_studies.published import Published, PublishedNumber
from assay_studies.request import Request
from assay_studies.rules import Learned, words
from assay_studies.sizing import Sizing
from assay_studies.specification import PartSpec, Subject, TableSpec, Values, on_each
from assay_studies.store import Store
from assay_studies.study import Run, Study

PAPER = Published({("t", "b, mean", "x"): PublishedNumber(0.5, "0.5 ± 0.1", "Table 1")})


@dataclass(frozen=True)
class Small(Sizing):
    texts: int = 2000


@dataclass
class Dataset:
    """A task that counts how often it is measured."""

    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    measured: int = 0


def subject(task: Dataset) -> Subject:
    task.measured += 1
    return Subject(task.name, task.name.upper(), {("mean", "x"): Values(np.arange(4.0)), ("mean", "y"): None})


def part(name: str, **more: Any) -> PartSpec[Dataset]:
    table = TableSpec(name="t", title="T", rows=("mean", "other"), columns=("x", "y"), layout="rows")
    about = {"measure": on_each(subject), "tables": [table], "published": PAPER}
    return PartSpec(name=name, title=name.title(), **{**about, **more})


def study(tasks: Sequence[Dataset], *parts: PartSpec[Dataset], **more: Any) -> Study[Dataset, Small]:
    return Study(
        name="s",
        title="What is asked",
        paper="Who (2020)",
        sizes=Small,
        version=1,
        tasks=lambda request, sizes, store: tasks,
        parts=parts,
        **more,
    )


def test_a_model_that_did_not_learn_decides_nothing(tmp_path: Path) -> None:
    """Also for a part that was made before: how good a model is is asked when the report is written."""

    def says(subject: Subject) -> list[Claim]:
        own = Evidence("own", at, higher, performance=Estimate(0.9, 0.8, 1.0, 100), commonest=0.5)
        return [
            claim("higher", Evidence("gain", at, higher), key="k", about=subject.name),
            claim("own", own, key="own", about=subject.name),
        ]

    def learned(run: Run[Dataset, Small], one: Claim) -> Learned | None:
        low = {"a": 0.51, "b": 0.49}.get(one.comparisons[0].about)
        return None if low is None else Learned(Estimate(0.6, low, 0.7, 100), 0.5)

    at, tasks = Estimate(2.0, 1.0, 3.0, 100), [Dataset(name) for name in "abc"]
    known = study(tasks, part("one", claims=[says])).run(Request(out=tmp_path))
    assert [one.verdict for one in known.claims] == ["holds"] * 6
    found = study(tasks, part("one", claims=[says]), learned=learned).run(Request(out=tmp_path))
    assert [task.measured for task in tasks] == [1, 1, 1]
    assert [one.verdict for one in found.claims] == ["holds", "holds", "not learned", "holds", "holds", "holds"]
    assert words(Kept.read(tmp_path / "tables").claims["k"]) == ["holds", "not learned", "holds"]


def test_learned_is_the_share_of_right_answers_and_of_the_commonest_label() -> None:
    right = np.array([1.0, 0.0, 1.0, 1.0])
    found = Learned.of(right, ["a", "b", "b", "b"])
    assert found is not None
    assert (found.performance.value, found.performance.n, found.commonest) == (0.75, 4, 0.75)


def test_facts_stand_in_their_order_and_in_the_report(tmp_path: Path) -> None:
    facts = {"facts": lambda run: [("Data", "x")], "more_facts": lambda run: iter([("To browse", "y")])}
    framed = study([Dataset("a")], part("one"), part("two"), **facts, notes=lambda run: ["A note."])
    found = framed.run(Request(out=tmp_path, command="assay study s"))
    names = [name for name, _ in found.facts if name != "Commit"]  # of a checkout alone
    assert names == ["Data", "Sizes", "Time", "This call", "To browse", "Versions", "Machine", "Command"]
    known = dict(found.facts)
    assert known["Sizes"] == "texts 2,000"
    assert known["Time"].endswith(" s for all parts, when they were computed")
    assert "torch" in known["Versions"]
    assert (found.name, found.title, found.paper, found.notes) == ("s", "What is asked", "Who (2020)", ("A note.",))
    report = (tmp_path / "report.md").read_text()
    assert all(f"- {name}: {value}" in report for name, value in found.facts)
    assert report.index("## One") < report.index("## Two")
    assert "A note." in (tmp_path / "report.html").read_text()


def test_without_a_command_there_is_no_such_fact(tmp_path: Path) -> None:
    assert "Command" not in dict(study([Dataset("a")]).run(Request(out=tmp_path)).facts)


def test_a_part_is_made_once_for_its_settings(tmp_path: Path) -> None:
    task, heard = Dataset("a"), list[str]()
    request = Request(out=tmp_path, say=heard.append)
    study([task], part("one")).run(request)
    study([task], part("one")).run(request)
    assert task.measured == 1
    assert heard == [f"one: taken from {tmp_path}"]
    task.settings = {"model": "other"}
    study([task], part("one")).run(request)
    assert task.measured == 2
    study([task], part("one")).run(replace(request, sizes={"texts": 5}))
    assert task.measured == 3
    study([task], replace(part("one"), settings={"answers": 1})).run(request)
    study([task], replace(part("one"), settings={"answers": 1})).run(replace(request, sizes={"texts": 6}))
    assert task.measured == 4  # its own settings do not hold the sizes
    study([task], part("one"), settings=lambda run, spec: {"of": spec.name}).run(request)
    assert Store(tmp_path).part("one", {"version": 1, "of": "one"}) is not None


def test_a_part_that_is_left_out_measures_nothing(tmp_path: Path) -> None:
    task = Dataset("a")
    found = study([task], part("one", left_out=lambda tasks: f"{tasks[0].name} is too small.")).run(
        Request(out=tmp_path)
    )
    assert found.parts[0] == Part("one", "One", notes=("a is too small.",), seconds=found.parts[0].seconds)
    assert task.measured == 0


def test_what_cannot_be_shared_runs_in_one_process(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="s runs in one process"):
        study([Dataset("a")]).run(Request(out=tmp_path, workers=2))


def test_datasets_as_rows_have_only_lines_that_were_measured() -> None:
    (table,) = part("one").make([Dataset("a"), Dataset("b")]).tables
    assert [line.label for line in table.lines] == ["A, mean", "B, mean"]
    assert [[cell.published for cell in line.cells] for line in table.lines] == [["", ""], ["0.5 ± 0.1", ""]]
    assert [cell.ours and cell.ours.value for cell in table.lines[0].cells] == [1.5, None]


def test_datasets_as_columns_are_those_of_the_paper_or_those_measured() -> None:
    subjects = [Subject("b", "B", {"mean": Values(np.arange(4.0))}, notes=("Not here.",))]
    spec = TableSpec(name="u", title="U", rows={"mean": "the mean"}, missing={"a": "No a.", "b": "No b."})
    (table,) = spec.tables(subjects, PAPER)
    assert (table.columns, table.notes) == (("B",), ("No a.",))
    (table,) = replace(spec, columns={"a": "A", "b": "B"}).tables(subjects, PAPER)
    assert table.columns == ("A", "B")
    assert [cell.ours and cell.ours.value for cell in table.lines[0].cells] == [None, 1.5]


def test_each_dataset_may_have_a_table_of_its_own() -> None:
    spec = TableSpec(
        name="v_{name}",
        title="V of {title}",
        rows={"mean": "the mean"},
        columns=lambda subject: tuple(key[1] for key in subject.measures),
        layout="tables",
        published="t",
        notes=("All.",),
    )
    values = Values(np.arange(4.0))
    one = Subject("b", "B", {("mean", "x"): values}, notes=("Its own.",))
    other = Subject("c", "C", {("mean", "y"): values, ("mean", "z"): values})
    tables = list(spec.tables([one, other, Subject("d", "D", {("else", "x"): values})], PAPER))
    assert [(t.name, t.title, t.columns, t.notes) for t in tables] == [
        ("v_b", "V of B", ("x",), ("All.", "Its own.")),
        ("v_c", "V of C", ("y", "z"), ("All.",)),
    ]
    assert tables[0].lines[0].cells[0].published == "0.5 ± 0.1"


def test_claims_stand_in_the_order_of_their_kinds() -> None:
    from assay_studies.claims import Evidence, claim, higher

    def about(kind: str) -> Any:
        return lambda one: [claim(f"{one.name} {kind}", Evidence("x", one.estimate("mean", "x"), higher))]

    found = part("one", claims=[about("first"), about("second")]).make([Dataset("a"), Dataset("b")]).claims
    assert [one.text for one in found] == ["a first", "b first", "a second", "b second"]
    assert {one.holds for one in found} == {None}  # four texts decide nothing

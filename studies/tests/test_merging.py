"""A run of a part of a study replaces what it has on a page, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assay.statistics.intervals import Estimate
from assay_studies import stays
from assay_studies.attention_is_not_explanation.page import PAGE
from assay_studies.attention_is_not_explanation.taus import FIGURES, MEAN
from assay_studies.judged import Sentence, judged
from assay_studies.kept import Kept
from assay_studies.merging import merged
from assay_studies.page import Page
from assay_studies.pages import write_page
from assay_studies.rules import Comparison, Rule
from assay_studies.stays import OWN, STAYS
from assay_studies.tables import Cell, Line, Table


def at(value: float) -> Estimate:
    return Estimate(value, value - 0.01, value + 0.01, 100)


def table(name: str, columns: tuple[str, ...], **lines: tuple[float | None, ...]) -> Table:
    made = (
        Line(label, tuple(Cell(None if value is None else at(value), "9") for value in values))
        for label, values in lines.items()
    )
    return Table(name, f"Table {name}", columns, tuple(made))


def says(about: str, value: float, **more: object) -> Comparison:
    return Comparison(about, at(value), Rule("above"), **more)  # type: ignore[arg-type]


BEFORE = Kept(
    {
        "one": table("one", ("a", "b"), SST=(0.1, 0.2), IMDb=(0.3, 0.4)),
        "two": table("two", ("SST", "IMDb"), tau=(0.5, 0.6)),
        "gone": table("gone", ("a",), SST=(0.7,)),
    },
    {"k": (says("SST", 0.1), says("SST", 0.2), says("IMDb", 0.3)), "old": (says("SST", 0.4),)},
    {"Command": "first"},
    origin="Rebuilt from the page",
)
AFTER = Kept(
    {
        "one": table("one", ("a", "c"), IMDb=(0.33, 0.44), SNLI=(0.5, 0.6)),
        "two": table("two", ("SST", "IMDb"), tau=(None, 0.66)),
        "new": table("new", ("a",), SST=(0.8,)),
    },
    {"k": (says("IMDb", -0.3), says("SNLI", 0.5))},
    {"Command": "second"},
)


def values(found: Table) -> dict[str, dict[str, float | None]]:
    return {
        line.label: {c: cell.ours and cell.ours.value for c, cell in zip(found.columns, line.cells, strict=True)}
        for line in found.lines
    }


def test_a_new_cell_takes_the_place_of_the_old_one_and_the_others_stay() -> None:
    kept = merged(BEFORE, AFTER)
    assert values(kept.tables["one"]) == {
        "SST": {"a": 0.1, "b": 0.2, "c": None},
        "IMDb": {"a": 0.33, "b": 0.4, "c": 0.44},
        "SNLI": {"a": 0.5, "b": None, "c": 0.6},
    }
    assert values(kept.tables["two"]) == {"tau": {"SST": 0.5, "IMDb": 0.66}}
    assert list(kept.tables) == ["one", "two", "gone", "new"]


def test_what_a_run_left_out_is_no_note_where_the_earlier_numbers_stay() -> None:
    said = ("IMDb was left out: no model reads it.", "SNLI was left out: no model reads it.", "Higher is better.")
    before = table("two", ("SST", "IMDb", "SNLI"), tau=(0.5, 0.6, None))
    after = replace(table("two", ("SST", "IMDb", "SNLI"), tau=(0.55, None, None)), notes=said)
    kept = merged(Kept({"two": before}, {}, {}), Kept({"two": after}, {}, {}))
    assert kept.tables["two"].notes == said[1:]
    assert merged(Kept({}, {}, {}), Kept({"two": after}, {}, {})).tables["two"].notes == said


def test_claims_are_replaced_by_what_they_are_about() -> None:
    claims = merged(BEFORE, AFTER).claims
    assert [(one.about, one.estimate and one.estimate.value) for one in claims["k"]] == [
        ("SST", 0.1), ("SST", 0.2), ("IMDb", -0.3), ("SNLI", 0.5),
    ]  # fmt: skip
    assert claims["old"] == BEFORE.claims["old"]


def test_what_stays_of_an_earlier_run_is_told() -> None:
    kept = merged(BEFORE, AFTER)
    assert kept.facts == {"Command": "second", OWN: "one (IMDb | SNLI); two (tau); new (SST)"}
    (earlier,) = kept.earlier
    assert earlier["Command"] == "first"
    assert earlier["Note"] == "Rebuilt from the page"
    assert earlier[STAYS] == "one (SST | IMDb); two (tau); gone"
    assert not merged(AFTER, AFTER).earlier, "nothing stays of a run that is made anew as a whole"


def test_of_two_earlier_runs_each_says_what_of_it_stays() -> None:
    third = Kept({"one": table("one", ("a", "b"), SST=(0.7, 0.8))}, {}, {"Command": "third"})
    kept = merged(merged(BEFORE, AFTER), third)
    assert [one["Command"] for one in kept.earlier] == ["second", "first"]
    second, first = (stays.read(one[STAYS]) for one in kept.earlier)
    assert second == {"one": ("IMDb", "SNLI"), "two": ("tau",), "new": ("SST",)}
    assert first == {"one": ("IMDb",), "two": ("tau",), "gone": ()}


def test_what_stays_is_read_as_written_and_shown_in_groups() -> None:
    lines = ("SST, cnn, additive", "SST, lstm, dot; once", "IMDb")
    kept = {"figure_3": lines, "figure_4": lines, "gone": (), "two": ("tau",)}
    assert stays.read(stays.written(kept)) == kept
    assert stays.shown(stays.written(kept)) == "figure_3, figure_4 (SST: 2 lines, IMDb); gone; two (tau)"
    assert stays.shown("one (SST, IMDb); two (tau); gone") == "one (SST, IMDb); two (tau); gone"  # as once kept
    assert stays.still({"one": ("SST, IMDb",)}, {"one": ("IMDb",), "gone": ()}) == {"one": ("IMDb",)}


def test_a_line_is_the_same_however_many_texts_it_is_of() -> None:
    old = Kept({"t": table("t", ("a",), **{"length (872 of 1,000 texts)": (1.0,)})}, {}, {})
    new = Kept({"t": table("t", ("a",), **{"length (900 of 1,000 texts)": (2.0,)})}, {}, {})
    assert values(merged(old, new).tables["t"]) == {"length (900 of 1,000 texts)": {"a": 2.0}}


def test_a_merged_page_is_read_back(tmp_path: Path) -> None:
    kept = merged(BEFORE, AFTER)
    for name, data in kept.files().items():
        (tmp_path / name).write_bytes(data)
    assert Kept.read(tmp_path).files() == kept.files()
    assert Kept.read(tmp_path).earlier == kept.earlier


def test_writing_a_page_merges_into_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page(
        title="T", paper="P", run=(), time="", needs="", meaning="", differs=(), variance="",
        sentences=(Sentence(key="k", short="It is above", quote="above", place="section 1"),),
    )  # fmt: skip
    monkeypatch.setattr("assay_studies.pages.find_page", lambda name: page)
    monkeypatch.setattr("assay_studies.pages.can_draw", lambda: False)
    for run, kept in (("first", BEFORE), ("second", AFTER)):
        (tmp_path / run / "tables").mkdir(parents=True)
        for name, data in kept.files().items():
            (tmp_path / run / "tables" / name).write_bytes(data)
        list(write_page("pathologies", tmp_path / run, tmp_path / "pages"))
    text = (tmp_path / "pages/pathologies.md").read_text(encoding="utf-8")
    assert "**does not hold** (holds on 2 of 3; not: IMDb)" in text
    assert "An earlier run. Command: first" in text
    assert "Of it stay: one (SST, IMDb); two (tau); gone." in text
    again = list(write_page("pathologies", tmp_path / "pages/pathologies", tmp_path / "pages"))
    assert again
    assert (tmp_path / "pages/pathologies.md").read_text(encoding="utf-8") == text


def test_means_are_of_what_learned_whichever_run_it_is_of() -> None:
    learned = {"performance": at(0.9), "commonest": 0.5}
    claims = (
        says("SST", 0.2, published="0.30", **learned),
        says("SNLI", 0.4, published="0.50", **learned),
        says("bAbI 3", 0.9, published="0.10", performance=at(0.5), commonest=0.5),
        says("bAbI 1 (1,000 questions)", 0.9, published="0.10", **learned),
    )
    title, columns = FIGURES["figure_6"].title, ("SST", MEAN)
    both = table("figures_6_to_8", columns, **{title: (0.2, 0.1), "another": (0.2, 0.1)})
    kept = PAGE.derived(Kept({"figures_6_to_8": both, "other": both}, {"figure_6": claims}, {}))
    (found,) = kept.claims["mean_figure_6"]
    assert kept.tables["figures_6_to_8"].lines[0].cells[1] == Cell(found.estimate, "0.400")
    assert kept.tables["figures_6_to_8"].lines[1] == both.lines[1]
    assert kept.tables["other"] == both
    assert found.estimate is not None
    assert found.estimate.value == pytest.approx(0.3)
    assert found.published == "0.400"
    assert found.rule == Rule("above", 0.2)


def test_a_ceiling_stands_in_the_headline_and_decides_nothing() -> None:
    sentence = Sentence(key="k", short="s", quote="q", main="gain", headline={"ceiling": "whole texts"}, digits=2)
    found = judged(sentence, [says("A", 0.1, name="gain"), Comparison("A", at(0.8), None, "ceiling")])
    assert (found.word, found.ours) == ("holds", "0.10 [0.09, 0.11]; whole texts 0.80 [0.79, 0.81]")

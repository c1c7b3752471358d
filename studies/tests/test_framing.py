"""The frame that all studies share: facts in their order, parts made once, the report on disk."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay_studies.findings import Part
from assay_studies.framing import Frame
from assay_studies.request import Request
from assay_studies.sizing import Sizing


@dataclass(frozen=True)
class Small(Sizing):
    texts: int = 2000


def framed(out: Path, said: list[str], command: str = "") -> Frame:
    return Frame("s", "What is asked", "Who (2020)", Request(out=out, say=said.append, command=command), Small())


def test_facts_stand_in_their_order_and_in_the_report(tmp_path: Path) -> None:
    frame = framed(tmp_path, [], "assay study s")
    parts = [Part("one", "One", seconds=1.0), Part("two", "Two", seconds=1500.4)]
    told = frame.findings(parts, facts=[("Data", "x")], more=iter([("To browse", "y")]), notes=["A note."])
    assert [name for name, _ in told.facts] == ["Data", "Sizes", "Time", "To browse", "Versions", "Command"]
    known = dict(told.facts)
    assert known["Sizes"] == "texts 2,000"
    assert known["Time"].startswith("1,501 s")
    assert "torch" in known["Versions"]
    assert (told.name, told.title, told.paper, told.notes) == ("s", "What is asked", "Who (2020)", ("A note.",))
    report = (tmp_path / "report.md").read_text()
    assert all(f"- {name}: {value}" in report for name, value in told.facts)
    assert report.index("## One") < report.index("## Two")
    assert "A note." in (tmp_path / "report.html").read_text()


def test_without_a_command_there_is_no_such_fact(tmp_path: Path) -> None:
    assert "Command" not in dict(framed(tmp_path, []).findings([]).facts)


def test_a_part_is_made_once_as_long_as_its_settings_agree(tmp_path: Path) -> None:
    calls: list[int] = []

    def make() -> Part:
        calls.append(1)
        return Part("one", "One")

    said: list[str] = []
    for settings in ({"version": 1}, {"version": 1}, {"version": 2}):
        assert framed(tmp_path, said).made("one", make, settings).title == "One"
    assert len(calls) == 2
    assert said == [f"one: taken from {tmp_path}"]

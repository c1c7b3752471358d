"""With --html the terminal still says what was found; a run ends with its verdicts; wide tables become records."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from assay import cli
from assay.views.wide import Records

TEXT = "a gripping , funny film"
Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    lines = [TEXT, "dull and slow", "not a bad script", "the best cast of the year"]
    (tmp_path / "texts.txt").write_text("\n".join(lines), encoding="utf-8")

    def command(*arguments: str) -> str:
        assert cli.main(list(arguments)) == 0
        return capsys.readouterr().out

    return command


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("explain", TEXT, "-m", "leave_one_out"), "Why “positive”?"),
        (("explain", "--file", "texts.txt", "-m", "random"), "1 more text on the page"),
        (("check", TEXT, "-m", "leave_one_out", "-c", "sufficiency"), "random explanations that it beats"),
        (("trust", TEXT, "-m", "leave_one_out", "-c", "sufficiency"), "This is about the maps"),
        (("describe", "--file", "texts.txt", "-m", "sp_lime", "-p", "of=leave_one_out"), "Which texts show best"),
        (
            (
                "audit-attention",
                "--file",
                "texts.txt",
                "--limit",
                "2",
                "--k",
                "1",
                "--steps",
                "1",
                "--permutations",
                "1",
            ),
            "Too few texts to say.",
        ),
    ],
    ids=lambda one: one[0] if isinstance(one, tuple) else "",
)
def test_the_answer_stands_in_the_terminal_too(run: Run, arguments: tuple[str, ...], says: str) -> None:
    said = run(*arguments, "--html", "page.html")
    assert says in " ".join(said.split())
    assert said.endswith("wrote page.html\n")
    assert run(*arguments, "--html", "page.html", "--quiet") == ""


def test_a_run_ends_with_its_verdicts(run: Run) -> None:
    asked = ("run", "texts.txt", "-m", "leave_one_out", "-c", "sufficiency", "--out", "DIR")
    said = run(*asked)
    assert "Leave-one-out, Sufficiency" in said
    assert said.endswith("DIR: done, 4 rows, 0 errors\n")
    assert "Leave-one-out, Sufficiency" in run("report", "DIR", "--html", "page.html")
    assert run(*asked, "--quiet") == ""
    wide = run("query", "DIR", "select * from explanations limit 2")
    assert all(len(line) <= 80 for line in wide.splitlines())
    assert wide.splitlines()[0].startswith("row 1 -")
    assert any(line.split() == ["method", "leave_one_out"] for line in wide.splitlines())
    assert "row 1 -" not in run("query", "DIR", "select id, method from explanations")


@pytest.mark.parametrize("width", [14, 24, 80])
def test_a_table_that_does_not_fit_becomes_records(width: int) -> None:
    console = Console(width=width, record=True, file=StringIO())
    console.print(Records(["name", "value"], [["first", "1234567"], ["second", "7"]]))
    shown = console.export_text()
    assert ("row 2" in shown) == (width == 14)
    assert all(word in shown for word in ("name", "value", "first", "second", "1234567"))

"""The tool that plants faults: which faults, and that a planted one is what gets imported."""

from __future__ import annotations

import importlib
import sys
import tomllib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from operators import mutants
from trying import Planted

sys.path.pop(0)


@pytest.mark.parametrize(
    ("line", "faults"),
    [
        ("x = a < b", ["x = a <= b"]),
        ("x = not a", ["x = a"]),
        ("x = abs(a)", ["x = a"]),
        ("x = a and b", ["x = (a or b)"]),
        ("x = a + 1", ["x = (a - 1)", "x = a + 2"]),
        ("x = max(a, b)", ["x = min(a, b)"]),
        ("x = f(a, b)", ["x = f(b, a)"]),
        ("x = 1e-9 * 0.5", ["x = 1.000000001 * 0.5", "x = (1e-09 / 0.5)", "x = 1e-9 * 1.0"]),
        ("x = b if a else c", ["x = (c if a else b)"]),
        ("x += a", ["pass"]),
        ("x: int = -a", ["x: int = a"]),
        ("x = zip(a, strict=True)", []),
        ("raise ValueError(a + 1)", []),
        ("def f(a: int = 3, *, b: bool = True) -> int: ...", []),
    ],
)
def test_the_faults_of_a_line(line: str, faults: list[str]) -> None:
    assert [mutant.source(line) for mutant in mutants("some.py", line)] == faults


def test_a_fault_knows_its_line_and_its_statement() -> None:
    source = '"""é."""\nx = f(\n    a,\n    b < c,\n)\n'
    (swapped, flipped) = mutants("some.py", source)
    assert (flipped.line, flipped.statement) == (4, range(2, 6))
    assert flipped.diff(source) == ("b < c,", "b <= c,")
    assert swapped.key(source) != flipped.key(source)


def test_what_is_planted_is_what_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "src" / "planted_example.py"
    file.parent.mkdir()
    file.write_text("x = 1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(file.parent))
    monkeypatch.setattr(sys, "meta_path", [Planted("src/planted_example.py", "x = 2\n"), *sys.meta_path])
    assert importlib.import_module("planted_example").x == 2
    assert file.read_text() == "x = 1\n"
    del sys.modules["planted_example"]


def test_what_is_said_of_faults_that_cannot_be_seen_is_about_the_code_as_it_is() -> None:
    """Not about lines that have gone since."""
    here = Path(__file__).parent
    listed = tomllib.loads((here / "equivalent.toml").read_text(encoding="utf-8"))["equivalent"]
    for fault in listed:
        source = (here.parents[1] / fault["file"]).read_text(encoding="utf-8")
        assert fault["before"] in map(str.strip, source.splitlines()), fault
        assert fault["reason"]

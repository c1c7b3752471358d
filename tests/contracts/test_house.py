"""The order of the house: few modules at the root, short files and functions, one place for a class name."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import assay

ROOT = Path(assay.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_at_most_five_modules_at_the_root() -> None:
    assert len(list(ROOT.glob("*.py"))) <= 5


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_functions_are_short(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 300
    long = {f.name: n for f in functions(ast.parse(source)) if (n := (f.end_lineno or 0) - f.lineno + 1) > 40}
    assert not long


def test_a_class_name_stands_in_one_module() -> None:
    places: dict[str, set[str]] = defaultdict(set)
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].add(str(path.relative_to(ROOT)))
    several = {name: sorted(where) for name, where in places.items() if len(where) > 1}
    assert not several

"""A method imports no other method, in any row; what a row shares lies beside its methods in modules without a card.

Import-linter would need a list of the methods: here the cards say which modules are methods, so a new one is covered.
"""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path

import pytest

from assay.registry.finding import methods

# Declared in the design: these methods take another one apart or as a parameter.
ALLOWED: frozenset[tuple[str, str]] = frozenset()
MODULES = {card.make_from.__module__ for card in methods().values()}


def imported(source: str) -> set[str]:
    """Every module that a source imports, also inside functions; `from a import b` may mean the module a.b."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_method_imports_no_other_method(module: str) -> None:
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    others = imported(Path(spec.origin).read_text(encoding="utf-8")) & (MODULES - {module})
    assert {(module, other) for other in others} <= ALLOWED


def test_the_test_would_see_an_import() -> None:
    one = "assay.methods.input_features.lime"
    assert one in imported("def f():\n    from assay.methods.input_features import lime")
    assert one in imported("from assay.methods.input_features.lime import Lime")
    assert one in imported("import assay.methods.input_features.lime as x")

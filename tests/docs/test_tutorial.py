"""The tutorial's notebook: it runs, shows what it showed when it was written, and is the page of the site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import code_blocks
import notebook
import pytest


@pytest.fixture(scope="module")
def now() -> Iterator[dict[str, Any]]:
    with code_blocks.examples(with_run=False):
        yield notebook.executed(notebook.read())


def texts(made: dict[str, Any]) -> list[str]:
    """What the cells show, without tags, styles and numbers, which another machine may change."""
    outputs = [o for cell in made["cells"] if cell["cell_type"] == "code" for o in cell["outputs"]]
    raw = ["".join(o.get("text") or o["data"].get("text/html") or o["data"]["text/plain"]) for o in outputs]
    plain = [re.sub(r"<style.*?</style>|<[^>]*>", " ", text, flags=re.DOTALL) for text in raw]
    return [code_blocks._shape(" ".join(text.split())) for text in plain]


def test_the_notebook_shows_what_it_showed(now: dict[str, Any]) -> None:
    shown = texts(notebook.read())
    assert len(shown) >= 9
    for before, after in zip(shown, texts(now), strict=True):
        assert before == after, "run `make docs`, and read whether the sentences around it still hold"


def test_the_page_is_the_notebook() -> None:
    assert notebook.PAGE.read_text(encoding="utf-8") == notebook.page(notebook.read())


def test_a_cell_shows_its_last_expression_and_what_it_prints() -> None:
    printed, shown = notebook.run("x = 2\nprint('a')\nx + 1", {}, 1)
    assert printed["text"] == ["a\n"]
    assert shown["data"] == {"text/plain": ["3"]}
    assert notebook.run("x = 2", {}, 1) == []

"""Every block of code on every page: Python is run, commands are parsed, and where a page shows their output, compared.

How a page says that a block is not run, and what it may take for given, stands in docs/code_blocks.py.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import assay_zoo
import code_blocks
import pytest
import yaml
from code_blocks import ROOT, Block, blocks, commands, pages

from assay.models import loading
from assay.workflows import model_audit

PAGES = [pytest.param(page, id=str(page.relative_to(ROOT))) for page in pages()]
LANGUAGES = ("python", "console", "sh", "json", "toml", "yaml", "csv", "text")


@pytest.fixture(scope="module", autouse=True)
def _place() -> Iterator[Path]:
    with code_blocks.examples() as place:
        yield place


@pytest.fixture(scope="module", autouse=True)
def _short_audits() -> Iterator[None]:
    """Pages show the call; the questions of an audit that take long are tested with it."""
    short = {name: model_audit._QUESTIONS[name] for name in ("identity", "by_group", "pathologies")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_audit, "_QUESTIONS", short)
        yield


@pytest.fixture(scope="module", autouse=True)
def _read_once() -> Iterator[None]:
    """Bundled networks are read once for all pages; a writer that a method names is tried once, too."""
    from_zoo, writers = loading._from_zoo, cache(loading._from_zoo)
    read = cache(assay_zoo.load)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assay_zoo, "load", lambda *given, **more: deepcopy(read(*given, **more)))
        patch.setattr(assay_zoo, "load_writer", cache(assay_zoo.load_writer))
        patch.setattr(loading, "_from_zoo", lambda name: (writers if name.startswith("writer:") else from_zoo)(name))
        yield


@pytest.fixture(scope="module")
def given() -> dict[str, Any]:
    return code_blocks.namespace()


@pytest.mark.parametrize("page", PAGES)
def test_every_block_says_what_it_is(page: Path) -> None:
    known = {block.place for block in blocks(page, *LANGUAGES)}
    unknown = [block for block in blocks(page, *{b.language for b in _all(page)}) if block.place not in known]
    assert not unknown, f"{unknown[0].place}: a block in {unknown[0].language or 'no language'}; use one of {LANGUAGES}"


def _all(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [block for language in set(re.findall(r"^```(\S*)", text, re.MULTILINE)) for block in blocks(page, language)]


@pytest.mark.parametrize("page", [p for p in PAGES if any(b.runs for b in blocks(p.values[0], "python"))])
def test_python_runs(page: Path, given: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    names = dict(given)
    code_blocks.write_files(page)
    for block in blocks(page, "python"):
        if block.runs:
            monkeypatch.setattr("sys.argv", ["page"])
            code = compile("\n" * block.line + block.code, str(page), "exec")
            exec(code, names)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p.values[0], "console", "sh")])
def test_commands_parse(page: Path) -> None:
    for block in blocks(page, "console", "sh"):
        for command in commands(block):
            _check(block, command.words)


def _check(block: Block, words: tuple[str, ...]) -> None:
    words = tuple(word for word in words if not re.fullmatch(r"[A-Z_]+=\S*", word))  # settings before a command
    if words[:1] == ("assay",):
        code_blocks.parse(words[1 : words.index("||") if "||" in words else None])
    if words[:1] == ("assay",) and "#" in words:
        pytest.fail(f"{block.place}: a comment that the shell would take for words")
    if words[:1] == ("make",):
        assert re.search(rf"^{words[1]}\b.*:", (ROOT / "Makefile").read_text(), re.MULTILINE), block.place
    if words[:1] == ("python",) and words[1].endswith(".py"):
        assert (ROOT / words[1]).exists(), block.place
    if "pip" in words and "install" in words:
        _check_extras(block, words)


def _check_extras(block: Block, words: tuple[str, ...]) -> None:
    """Extras that pip is asked for exist."""
    for name, extras in re.findall(r"(\S+?)\[(\S+)\]", " ".join(words)):
        where = ROOT / {"./zoo": "zoo", "assay-zoo": "zoo"}.get(name, ".") / "pyproject.toml"
        known = tomllib.loads(where.read_text())["project"]["optional-dependencies"]
        assert set(extras.split(",")) <= known.keys(), block.place


SHOWN = [
    pytest.param(block, command, id=f"{block.place}-{' '.join(command.words[1:2])}")
    for page in pages()
    for block in blocks(page, "console")
    if block.runs
    for command in commands(block)
    if command.shown
]


@pytest.mark.parametrize(("block", "command"), SHOWN)
def test_commands_print_what_the_page_shows(
    block: Block, command: code_blocks.Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    code_blocks.write_files(block.page)
    now = code_blocks.printed(command.words[1:])
    assert code_blocks.alike(command.shown, now), f"{block.place}: run `make docs`; it prints\n" + "\n".join(now)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p.values[0], "json", "toml", "yaml")])
def test_data_is_well_formed(page: Path) -> None:
    for block in blocks(page, "json"):
        assert [json.loads(line) for line in block.code.splitlines()]
    for block in blocks(page, "toml"):
        assert tomllib.loads(block.code)
    for block in blocks(page, "yaml"):
        assert yaml.safe_load(block.code)


def test_a_block_with_a_title_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text('```csv title="a.csv"\ntext\nx\n```\n\n```yaml\nx: 1\n```\n')
    code_blocks.write_files(page)
    assert (tmp_path / "a.csv").read_text() == "text\nx\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "page.md"]


def test_other_words_are_not_alike() -> None:
    shown = ("Why “negative”?", "...", "mess +5.99, but +1.78")
    assert code_blocks.alike(shown, ["Why “negative”?", "a", "b", "mess +6.01, but +2"])
    assert code_blocks.alike(shown, ["Why “negative”?", "", "mess  +6.01, but +2"])
    assert not code_blocks.alike(shown, ["Why “positive”?", "a", "mess +6.01, but +2"])
    assert not code_blocks.alike(shown, ["Why “negative”?", "a", "dull +6.01, but +2"])


def test_wrong_commands_are_found() -> None:
    for wrong in (
        ("explain", "a", "--methd", "lime"),
        ("explain", "a", "--method", "limes"),
        ("explain", "a", "--method", "lime", "-p", "sample=3"),
        ("explainn", "a"),
    ):
        with pytest.raises(Exception, match=r".+"):
            code_blocks.parse(wrong)

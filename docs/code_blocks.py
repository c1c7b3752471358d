"""The code on the pages: what is run, how it is compared, and how what a command printed is written anew.

python docs/code_blocks.py          write what the commands print now under the commands that show what they print

    ```python     run, all blocks of a page in one namespace (see `namespace`), in the directory that `examples` makes
    ```console    `$ assay ...` is parsed, its methods, checks and parameters are looked up; where the page shows what a
                  command prints, it is run and compared: words must agree, numbers, bars and blanks may differ, and a
                  line `...` stands for any lines
    ```sh         the same for `assay ...`; make targets, pip extras and files must exist
    ```json, ```toml, ```yaml    must be JSON lines, TOML or YAML
    ```csv        a table

A block with a title, as in ```csv title="train.csv", is a file: it lies in the directory when its page is run.

A block with a comment `# not run: REASON` is not run; commands in it are still parsed.
Blocks in ```text and indented blocks hold equations, trees of files and output that belongs to no command.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
_RUN = (
    "run reviews.csv --limit 3 --method leave_one_out --check sufficiency --draws 4 --out reviews.run --quiet".split()
)
NOT_RUN = re.compile(r"#\s*not run: \S")
_FENCE = re.compile(r"^(`{3,})(\S*)([^\n]*)\n(.*?)^\1`*\s*$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'title="([\w.]+)"')


def pages() -> list[Path]:
    """Every page with code; CONTRIBUTING and the tutorial have tests of their own."""
    found = [ROOT / "README.md", ROOT / "zoo/README.md", ROOT / "studies/README.md", *sorted(ROOT.glob("docs/**/*.md"))]
    return [page for page in found if page.name != "tutorial.md"]


@dataclass(frozen=True)
class Block:
    """A fenced block of code and where it stands."""

    page: Path
    line: int
    language: str
    title: str
    code: str

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def runs(self) -> bool:
        return not NOT_RUN.search(self.code)


def blocks(page: Path, *languages: str) -> list[Block]:
    """The fenced blocks of a page in these languages."""
    text = page.read_text(encoding="utf-8")
    found = [
        Block(page, text.count("\n", 0, m.start()) + 1, m[2], "".join(_TITLE.findall(m[3])), m[4])
        for m in _FENCE.finditer(text)
    ]
    return [block for block in found if block.language in languages]


def write_files(page: Path) -> None:
    """Write the files that a page shows into the working directory."""
    for block in blocks(page, "csv", "yaml"):
        if block.title:
            Path(block.title).write_text(block.code, encoding="utf-8")


@dataclass(frozen=True)
class Command:
    """A command of a console block, and the lines that the page shows under it."""

    words: tuple[str, ...]
    shown: tuple[str, ...]


def commands(block: Block) -> list[Command]:
    """The commands of a block; in a console block they begin with `$ `, and the other lines are what they print."""
    lines = re.sub(r"\\\n\s*", "", block.code).splitlines()
    if block.language != "console":
        return [Command(_words(line), ()) for line in lines if _words(line)]
    starts = [i for i, line in enumerate(lines) if line.startswith("$ ")]
    ends = [*starts[1:], len(lines)]
    return [Command(_words(lines[i][2:]), _shown(lines[i + 1 : end])) for i, end in zip(starts, ends, strict=True)]


def _words(line: str) -> tuple[str, ...]:
    return tuple(shlex.split(line, comments=True))


def _shown(lines: Sequence[str]) -> tuple[str, ...]:
    kept = [line.rstrip() for line in lines if not line.startswith("# ")]
    while kept and not kept[-1]:
        kept.pop()
    return tuple(kept)


def parse(words: Sequence[str]) -> None:
    """Parse the words of an assay command, and look its methods, checks and parameters up; nothing is run."""
    from typer.main import get_command

    from assay.cli.commands import app
    from assay.cli.options import parts
    from assay.cli.settings import made
    from assay.registry.finding import find_check, find_method

    command: Any = get_command(app)
    rest = list(words)
    if rest in (["--version"], ["--help"]):
        return
    while names := getattr(command, "commands", None):  # a group: the next word names one of its commands
        command, rest = names[rest[0]], rest[1:]
    with _threads_kept():
        given = command.make_context("assay", rest).params
    methods = [find_method(name) for name in parts(given.get("method")) or []]
    checks = [find_check(name) for name in parts(given.get("checks")) or []]
    if methods or checks:
        made(methods, checks, given.get("parameter") or [])


@contextlib.contextmanager
def _threads_kept() -> Iterator[None]:
    """The option --threads takes effect when it is read."""
    import torch

    threads, environment = torch.get_num_threads(), dict(os.environ)
    yield
    torch.set_num_threads(threads)
    os.environ.clear()
    os.environ.update(environment)


@contextlib.contextmanager
def examples(*, with_run: bool = True) -> Iterator[Path]:
    """A directory to run the pages in, with what they speak of: reviews.csv, mine.jsonl, a finished run, examples/."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(ROOT / "examples", Path(place, "examples"))
        shutil.copy(ROOT / "examples/reviews.csv", place)
        shutil.copy(ROOT / "examples/mine.jsonl", place)
        os.chdir(place)
        try:
            if with_run:
                printed(_RUN)
            yield Path(place)
        finally:
            os.chdir(before)


def namespace() -> dict[str, Any]:
    """What every page may take for given: the library, the bundled model, a text, some texts, labelled rows."""
    import assay

    rows = [(row.text, row.label) for row in assay.Sample.of(str(ROOT / "examples/reviews.csv"))]
    texts = [text for text, _ in rows[:4]]
    return {"assay": assay, "model": assay.load("sst2"), "text": texts[0], "texts": texts, "rows": rows}


def printed(words: Sequence[str]) -> tuple[str, ...]:
    """What a command prints at 80 columns, without colour; an error if it fails."""
    from assay.cli import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(words))
    if code:
        raise RuntimeError(f"assay {shlex.join(words)} ends with {code}: {err.getvalue()}")
    return _shown(out.getvalue().splitlines())


def alike(shown: Sequence[str], now: Sequence[str]) -> bool:
    """Whether a page shows what a command prints, but for numbers, bars, marks and blanks."""
    pattern = r"\n".join(r".*?" if line.strip() == "..." else re.escape(_shape(line)) for line in shown)
    return bool(re.fullmatch(pattern, "\n".join(map(_shape, now)), re.DOTALL))


def _shape(line: str) -> str:
    """A line without what a different machine may change."""
    if not re.sub(r"[\s▲▼●·]", "", line):
        return "marks"
    return re.sub(r"\s+", " ", re.sub(r"[−+-]?<?>?\d[\d.,]*(e-\d+)?|[━╌▁▂▃▄▅▆▇█●○]+", "#", line)).strip()


def write() -> None:
    """Put what the commands print now in the place of what the pages show."""
    with examples():
        for page in pages():
            write_files(page)
            for block in blocks(page, "console"):
                if block.runs and any(command.shown for command in commands(block)):
                    text = page.read_text(encoding="utf-8")
                    page.write_text(text.replace(block.code, _anew(block)), encoding="utf-8")


def _anew(block: Block) -> str:
    """The code of a block with what its commands print now; a command that shows nothing still shows nothing."""
    source = re.split(r"^(?=\$ )", block.code, flags=re.MULTILINE)
    made = [part for part in source if not part.startswith("$ ")]
    for part, command in zip([part for part in source if part.startswith("$ ")], commands(block), strict=True):
        typed = re.match(r"\$ (?:.*\\\n)*.*\n", part)
        assert typed is not None
        keep = not command.shown or "..." in command.shown or command.words[:1] != ("assay",)
        made.append(part if keep else typed[0] + "\n".join(printed(command.words[1:])) + "\n")
    return "".join(made)


if __name__ == "__main__":
    os.environ.update(COLUMNS="80", NO_COLOR="1", HF_HUB_OFFLINE="1")
    sys.exit(write())

"""`assay study`: a paper's tables and figures beside the published numbers.

Studies come from other distributions, such as assay-studies, through the entry-point group `assay.studies`: the name of
an entry is that of the study, its object a function that takes what `Study` says and returns what to print.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Annotated, Protocol

import typer
from rich.console import RenderableType

from assay.cli import options as o
from assay.cli import output
from assay.cli.commands import app
from assay.errors import BadInput, UnknownName
from assay.views.visible import to_stderr

_EXAMPLES = """[bold]Examples[/bold]

assay study double_trouble --data DIR --quick

assay study double_trouble --data DIR --out double_trouble --device cuda

assay study attention_is_not_explanation --data DIR --device cuda --workers 16

assay study double_trouble --page double_trouble

The same command again takes what is finished from the directory."""
_PANEL = "How it is run"


class Study(Protocol):
    """A function that makes a study in the directory `out`; `say` hears how far it is."""

    def __call__(
        self,
        *,
        data: Path | None,
        out: Path,
        quick: bool,
        device: str | None,
        sizes: Mapping[str, int],
        workers: int,
        say: Callable[[str], None],
        progress: bool | None,
        command: str,
        page: Path | None = None,
    ) -> Iterable[RenderableType]: ...


def _installed() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group="assay.studies")}


_KNOWN = ", ".join(sorted(_installed())) or "none is installed; install assay-studies"

Name = Annotated[str, typer.Argument(metavar="NAME", help=f"One of: {_KNOWN}.", show_default=False)]
Data = Annotated[Path | None, typer.Option(help="The directory of the data; $ASSAY_DATA by default.", metavar="DIR")]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="Where the results go; NAME.study by default.", metavar="DIR")
]
Page = Annotated[
    Path | None,
    typer.Option(
        "--page", help="Of a finished run: write docs/studies/NAME.md from its tables, and run nothing.", metavar="DIR"
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="A small version, in minutes on two cores.", metavar="")]
Device = Annotated[
    str | None, typer.Option(help="Where the models run: cpu, cuda.", metavar="D", rich_help_panel=_PANEL)
]
Size = Annotated[
    list[str] | None,
    typer.Option(
        "--size", help="A number of texts, samples or seeds. Repeatable.", metavar="KEY=N", rich_help_panel=_PANEL
    ),
]
Workers = Annotated[
    int,
    typer.Option(min=1, help="Processes that share the work of a study.", metavar="N", rich_help_panel=_PANEL),
]


@app.command(rich_help_panel="Whole datasets", epilog=_EXAMPLES)
def study(
    name: Name,
    *,
    data: Data = None,
    out: Out = None,
    quick: Quick = False,
    page: Page = None,
    device: Device = None,
    threads: o.Threads = None,
    size: Size = None,
    workers: Workers = 1,
    quiet: o.Quiet = False,
) -> None:
    """Reproduce a paper's tables beside the published numbers; finished tables are kept."""
    run, place = _find(name), out or Path(f"{name}.study")
    shown = run(
        data=data,
        out=place,
        quick=quick,
        device=device,
        sizes=dict(map(_size, size or [])),
        workers=workers,
        say=_unheard if quiet else to_stderr,
        progress=False if quiet else None,
        command=f"assay {shlex.join(map(_published, sys.argv[1:]))}",
        **({} if page is None else {"page": page}),
    )
    if not quiet:
        output.show(*shown)
    if page is None:
        output.show(f"wrote {place / 'report.md'} and {place / 'report.html'}")


def _find(name: str) -> Study:
    """A study by its name; its package is imported only now."""
    known = _installed()
    if not known:
        raise BadInput("no study is installed; install assay-studies (pip install ./studies).")
    if name not in known:
        raise UnknownName.of("study", name, known)
    study: Study = known[name].load()
    return study


def _size(given: str) -> tuple[str, int]:
    key, _, value = given.partition("=")
    if not key or not value.isdecimal():
        raise BadInput(f"--size takes KEY=N, a name and a number of 0 or more, not {given!r}.")
    return key, int(value)


def _unheard(line: str) -> None:
    """Nobody wants to know."""


def _published(argument: str) -> str:
    """An argument as a page may show it: of a place on this machine its last name alone."""
    return Path(argument).name if Path(argument).is_absolute() else argument

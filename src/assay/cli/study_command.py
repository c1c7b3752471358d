"""`assay study`: a paper's tables and figures beside the published numbers."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from assay.cli import options as o
from assay.cli import output
from assay.cli.commands import app
from assay.errors import BadInput
from assay.studies import STUDIES, Findings, Request, find_study
from assay.views.wide import grid

_EXAMPLES = """[bold]Examples[/bold]

assay study double_trouble --data DIR --quick

assay study double_trouble --data DIR --out double_trouble --device cuda

assay study attention_is_not_explanation --data DIR --device cuda --workers 16

The same command again takes what is finished from the directory."""
_PANEL = "How it is run"

Name = Annotated[str, typer.Argument(metavar="NAME", help=f"One of: {', '.join(STUDIES)}.", show_default=False)]
Data = Annotated[Path | None, typer.Option(help="The directory of the data; $ASSAY_DATA by default.", metavar="DIR")]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="Where the results go; NAME.study by default.", metavar="DIR")
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
    typer.Option(
        min=1, help="Processes that share the models of the studies of attention.", metavar="N", rich_help_panel=_PANEL
    ),
]


@app.command(rich_help_panel="Whole datasets", epilog=_EXAMPLES)
def study(
    name: Name,
    *,
    data: Data = None,
    out: Out = None,
    quick: Quick = False,
    device: Device = None,
    size: Size = None,
    workers: Workers = 1,
    quiet: o.Quiet = False,
) -> None:
    """Make a paper's tables again, beside the published numbers; finished tables are kept."""
    run = find_study(name)
    request = Request(
        data=data,
        out=out or Path(f"{name}.study"),
        quick=quick,
        device=device,
        sizes=dict(map(_size, size or [])),
        say=_unheard if quiet else _said,
        progress=False if quiet else None,
        workers=workers,
        command=f"assay {shlex.join(sys.argv[1:])}",
    )
    findings = run(request)
    if not quiet:
        _show(findings)
    output.show(f"wrote {request.out / 'report.md'} and {request.out / 'report.html'}")


def _size(given: str) -> tuple[str, int]:
    key, _, value = given.partition("=")
    if not key or not value.isdecimal():
        raise BadInput(f"--size takes KEY=N, a name and a number of 0 or more, not {given!r}.")
    return key, int(value)


def _said(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _unheard(line: str) -> None:
    """Nobody wants to know."""


def _show(findings: Findings) -> None:
    for table in findings.tables:
        shown = grid("", *table.columns)
        for row in table.rows:
            shown.add_row(*row)
        output.show(table.heading, shown)
    for part in findings.parts:
        output.show(*part.notes)
    for claim in findings.claims:
        output.show(f"{claim.verdict:>13}  {claim.text}: {claim.evidence}")

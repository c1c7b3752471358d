"""`assay audit`: one page on a whole model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from assay.cli import options as o
from assay.cli import output
from assay.cli.commands import app
from assay.cli.sources import require_fields, sample_of
from assay.engine.engine import Engine
from assay.models import load
from assay.request import TextSource
from assay.storage.parts import PartsFolder
from assay.workflows.model_audit import ModelAudit
from assay.workflows.model_audit import audit as audited
from assay.workflows.model_audit.terminal import headline, shown

_EXAMPLES = """[bold]Examples[/bold]

assay audit --model sst2 --file reviews.csv --label-column label --html audit.html

assay audit --model DIR --file reviews.csv --column text --label-column stars --group source,country --html audit.html

assay audit --model mlm --file texts.txt --quick"""
File = Annotated[Path, o._input("--file", "Texts from a .csv, .tsv, .jsonl, .parquet or .txt file.", "F")]
LabelColumn = Annotated[str | None, o._input("--label-column", "The column of the right labels.", "C")]
Groups = Annotated[
    str | None, o._input("--group", "Further columns by which accuracy is shown, beside label and length.", "C[,C]")
]
Quick = Annotated[bool, typer.Option("--quick", help="A tenth of the work: minutes, not an hour.", metavar="")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="Keep the finished parts here; by default beside the page until it is written.",
        metavar="DIR",
        rich_help_panel=o.OUTPUT,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object.", metavar="", rich_help_panel=o.OUTPUT)]


@app.command("audit", rich_help_panel="Explain and test", epilog=_EXAMPLES)
def audit(
    *,
    file: File,
    model: o.Model = "sst2",
    device: o.Device = "auto",
    threads: o.Threads = None,
    column: o.Column = None,
    pair_column: o.PairColumn = None,
    label_column: LabelColumn = None,
    group: Groups = None,
    limit: o.Limit = None,
    quick: Quick = False,
    out: Out = None,
    seed: o.Seed = 0,
    as_json: Json = False,
    html: o.Html = None,
    quiet: o.Quiet = False,
) -> None:
    """Audit a whole model on one page: by group, biases, attacks, explanations, layers; stopped, it resumes."""
    output.require_place(html, as_json)
    source = TextSource(file=file, column=column, pair_column=pair_column, limit=limit, label_column=label_column)
    sample, found = sample_of(source), load(model, device=device)
    require_fields(found.fields[: len(found.fields) - found.optional], sample.texts, found.name)
    beside = html.with_name(f"{html.name}.parts") if html and not out else None
    how: dict[str, Any] = {"groups": o.parts(group) or (), "quick": quick, "seed": seed, "out": out or beside}
    made = audited(None, sample, **how, engine=Engine(found), progress=False if quiet else None)
    _show(made, as_json, html, quiet)
    if beside:
        PartsFolder(beside).remove(part.name for part in made.parts)


def _show(made: ModelAudit, as_json: bool, html: Path | None, quiet: bool) -> None:
    if html:
        output.write_page(html, made.to_html(), quiet, headline(made))
    elif as_json:
        output.show_json(made.to_json())
    else:
        output.show(shown(made))

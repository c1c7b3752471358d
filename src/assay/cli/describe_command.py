"""`assay describe`: what a method says of a model on a whole sample, or of the model alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli import options as o
from assay.cli import output
from assay.cli.apply_rules import apply_rules
from assay.cli.commands import app
from assay.cli.requests import prepared
from assay.errors import BadFile, BadInput
from assay.explanations.base import Explanation
from assay.registry.finding import describing
from assay.storage.files import write_named
from assay.verbs import PreparedRequest, describe_by
from assay.views import descriptions, page
from assay.views.visible import visible

_EXAMPLES = """[bold]Examples[/bold]

assay describe --file reviews.csv --column text --method sp_lime

assay describe --file reviews.csv -m sp_lime -p picks=8 -p of=integrated_gradients --html page.html

assay describe --file reviews.csv -m sp_lime -p of=lime:samples=200,eraser=mask --json

assay describe --file reviews.csv -m sear --out rules.json

assay describe --file more.csv -m sear --apply rules.json --out changed.jsonl"""

LabelColumn = Annotated[
    str | None,
    typer.Option("--label-column", help="The column of the labels.", metavar="C", rich_help_panel=o.INPUT),
]

Apply = Annotated[
    Path | None,
    typer.Option(
        "--apply",
        help="Rules that --method sear wrote by --out: change the texts by them, without a model.",
        metavar="RULES",
        rich_help_panel=o.INPUT,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="Write the description as JSON; with --apply the changed texts, as .jsonl or .csv.",
        metavar="FILE",
        rich_help_panel=o.OUTPUT,
    ),
]


@app.command(rich_help_panel="Explain and test", epilog=_EXAMPLES)
def describe(
    *,
    method: o.Methods,
    parameter: o.Settings = None,
    model: o.Model = "sst2",
    question: o.Question = None,
    labels: o.Labels = None,
    device: o.Device = "auto",
    threads: o.Threads = None,
    dtype: o.Dtype = None,
    file: o.File = None,
    column: o.Column = None,
    pair_column: o.PairColumn = None,
    label_column: LabelColumn = None,
    limit: o.Limit = None,
    split: o.Split = "words",
    target: o.Target = None,
    against: o.Against = None,
    scalar: o.Scale = "log_odds",
    focus: o.Focus = None,
    seed: o.Seed = 0,
    as_json: o.Json = False,
    html: o.Html = None,
    apply: Apply = None,
    out: Out = None,
    quiet: o.Quiet = False,
) -> None:
    """Describe what a model does with a whole sample of texts, or the model alone."""
    output.require_place(html, as_json)
    _require_out(out, method)
    if apply is not None:
        apply_rules(apply, locals())
    else:
        _describe(prepared(locals()), out, as_json, html, quiet)


def _describe(request: PreparedRequest, out: Path | None, as_json: bool, html: Path | None, quiet: bool) -> None:
    """Describe by every method, and print or write what each says."""
    for card, one in request.methods:
        describing(card, one)
    progress = False if quiet else None
    described = (_kept(describe_by(request, card, one, progress), out) for card, one in request.methods)
    if html:
        made = list(described)
        output.write_page(html, page(made), quiet, descriptions.terminal(made))
        return
    for e in described:
        if as_json:
            output.show_json(e.to_json())
        else:
            output.show(descriptions.terminal([e]), "")
            if out is not None and not quiet:
                print(f"wrote {visible(str(out))}")


def _kept(e: Explanation, out: Path | None) -> Explanation:
    """The description, written to a file where one is named."""
    if out is not None:
        write_named(out, f"{e.to_json()}\n")
    return e


def _require_out(out: Path | None, method: str) -> None:
    """Fail before the work is done."""
    if out is None:
        return
    if "," in method:
        raise BadInput("--out takes the description of one method.")
    if out.is_dir():
        raise BadFile(f"{out} is a directory; --out takes a file.")

"""`assay describe`: what a method says of a model on a whole sample, or of the model alone."""

from __future__ import annotations

from typing import Annotated

import typer

from assay.cli import options as o
from assay.cli import output
from assay.cli.commands import app
from assay.cli.requests import prepared
from assay.registry.finding import describing
from assay.verbs import describe_by
from assay.views import descriptions, page

_EXAMPLES = """[bold]Examples[/bold]

assay describe --file reviews.csv --column text --method sp_lime

assay describe --file reviews.csv -m sp_lime -p picks=8 -p of=integrated_gradients --html page.html

assay describe --file reviews.csv -m sp_lime -p of=lime:samples=200,eraser=mask --json"""

LabelColumn = Annotated[
    str | None,
    typer.Option("--label-column", help="The column of the labels.", metavar="C", rich_help_panel=o.INPUT),
]


@app.command(rich_help_panel="Explain and test", epilog=_EXAMPLES)
def describe(
    *,
    method: o.Methods,
    parameter: o.Settings = None,
    model: o.Model = "sst2",
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
    quiet: o.Quiet = False,
) -> None:
    """Describe what a model does with a whole sample of texts, or the model alone."""
    output.require_place(html, as_json)
    request, progress = prepared(locals()), False if quiet else None
    for card, one in request.methods:
        describing(card, one)
    described = (describe_by(request, card, one, progress) for card, one in request.methods)
    if html:
        made = list(described)
        output.write_page(html, page(made), quiet, descriptions.terminal(made))
        return
    for e in described:
        if as_json:
            output.show_json(e.to_json())
        else:
            output.show(descriptions.terminal([e]), "")

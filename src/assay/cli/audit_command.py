"""`assay audit-attention`: may the attention of a model be read as an explanation?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from assay.cli import options as o
from assay.cli import output
from assay.cli.commands import app
from assay.cli.sources import read, require_fields
from assay.engine.engine import Engine
from assay.models import load
from assay.request import TextSource
from assay.workflows.audit import AttentionAudit
from assay.workflows.audit import audit_attention as audited
from assay.workflows.audit.terminal import headline, shown

_EXAMPLES = """[bold]Examples[/bold]

assay audit-attention --model DIR --file reviews.csv --column text --limit 200 --html audit.html

assay audit-attention --model sst2 --file reviews.csv --head 3 --steps 200

assay audit-attention "a gripping , funny film" "dull from start to end" --model DIR --json"""
_HOW = "How it is tested"


def _how(name: str, text: str, metavar: str, least: float | None = None) -> Any:
    return typer.Option(name, help=text, metavar=metavar, min=least, rich_help_panel=_HOW)


Permutations = Annotated[int, _how("--permutations", "How often the weights of a text are shuffled.", "N", 1)]
K = Annotated[int, _how("--k", "How many adversarial attentions to search for, for each text.", "N", 1)]
Steps = Annotated[int, _how("--steps", "How many steps each search takes.", "N", 1)]
Epsilon = Annotated[float, _how("--epsilon", "How far the answer may move for an attention to count (TVD).", "E", 0)]
Layer = Annotated[int, _how("--layer", "Which layer's attention; −1 is the last.", "N")]
Head = Annotated[
    int | None, _how("--head", "Which head; by default the mean of all heads, put into each of them.", "N", 0)
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object.", metavar="", rich_help_panel=o.OUTPUT)]


@app.command("audit-attention", rich_help_panel="Explain and test", epilog=_EXAMPLES)
def audit_attention(
    texts: o.Texts = None,
    *,
    model: o.Model = "sst2",
    device: o.Device = "auto",
    threads: o.Threads = None,
    pair: o.Pair = None,
    file: o.File = None,
    column: o.Column = None,
    pair_column: o.PairColumn = None,
    limit: o.Limit = None,
    permutations: Permutations = 100,
    k: K = 5,
    steps: Steps = 500,
    epsilon: Epsilon = 0.05,
    layer: Layer = -1,
    head: Head = None,
    seed: o.Seed = 0,
    as_json: Json = False,
    html: o.Html = None,
    quiet: o.Quiet = False,
) -> None:
    """Test whether attention can be read as an explanation: by gradients, leave-one-out, shuffling, an adversary."""
    output.require_place(html, as_json)
    given = read(TextSource(tuple(texts or ()), pair, file, column, pair_column, limit))
    found = load(model, device=device)
    require_fields(found.fields[: len(found.fields) - found.optional], given, found.name)
    search: dict[str, Any] = {"permutations": permutations, "k": k, "steps": steps, "epsilon": epsilon}
    where: dict[str, Any] = {"layer": layer, "head": head, "seed": seed, "progress": False if quiet else None}
    _show(audited(None, given, engine=Engine(found), **search, **where), as_json, html, quiet)


def _show(audit: AttentionAudit, as_json: bool, html: Path | None, quiet: bool) -> None:
    if html:
        output.write_page(html, audit.to_html(), quiet, headline(audit))
    elif as_json:
        output.show_json(audit.to_json())
    else:
        output.show(shown(audit))

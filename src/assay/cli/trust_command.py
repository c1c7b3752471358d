"""`assay trust`: the trust card of a text, or of a file of texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli import options as o
from assay.cli import output
from assay.cli.commands import app
from assay.cli.requests import loaded, request_of, with_texts
from assay.verdicts.trust import TrustCard, trust_card
from assay.views.trust_terminal import headline
from assay.views.trust_terminal import trusted as shown

_EXAMPLES = """[bold]Examples[/bold]

assay trust "the acting is superb but the script is a mess"

assay trust "a gripping , funny film" --html card.html

assay trust --file reviews.csv --column text --limit 50 -m lime,integrated_gradients --html card.html

assay trust --scores mine.jsonl --limit 1

assay trust "A man sleeps ." --pair "Nobody is awake ." --model snli --rationale"""

_OURS = "by default those that suit the model"
Methods = Annotated[
    str | None,
    typer.Option("--method", "-m", help=f"Methods; {_OURS}.", metavar="NAME[,NAME]", rich_help_panel=o.AIM),
]
Checks = Annotated[
    str | None,
    typer.Option("--check", "-c", help=f"Checks; {_OURS}.", metavar="NAME[,NAME]", rich_help_panel=o.AIM),
]
Draws = Annotated[
    int | None,
    typer.Option(
        help="Random maps per text; by default up to 100 of one text, 200 over several.",
        metavar="N",
        min=1,
        rich_help_panel=o.AIM,
    ),
]
EveryWord = Annotated[
    bool,
    typer.Option(
        "--every-word",
        help="All words of a text of more than 100 words, not its sentences first; takes minutes.",
        metavar="",
        rich_help_panel=o.AIM,
    ),
]
Rationale = Annotated[
    bool,
    typer.Option(
        "--rationale",
        help="Also the bundled writer's reasons in words, for this answer and for others; they are not tested.",
        metavar="",
        rich_help_panel=o.AIM,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object.", metavar="", rich_help_panel=o.OUTPUT)]


@app.command(rich_help_panel="Explain and test", epilog=_EXAMPLES)
def trust(
    texts: o.Texts = None,
    *,
    method: Methods = None,
    checks: Checks = None,
    scores: o.Scores = None,
    parameter: o.Settings = None,
    draws: Draws = None,
    every_word: EveryWord = False,
    rationale: Rationale = False,
    model: o.Model = "sst2",
    question: o.Question = None,
    labels: o.Labels = None,
    device: o.Device = "auto",
    threads: o.Threads = None,
    dtype: o.Dtype = None,
    pair: o.Pair = None,
    file: o.File = None,
    column: o.Column = None,
    pair_column: o.PairColumn = None,
    limit: o.Limit = None,
    split: o.Split = "words",
    target: o.Target = None,
    against: o.Against = None,
    scalar: o.Scale = "log_odds",
    focus: o.Focus = None,
    seed: o.Seed = 0,
    table: o.ShowTable = False,
    as_json: Json = False,
    html: o.Html = None,
    quiet: o.Quiet = False,
) -> None:
    """May you believe the heat map? Several methods, every check that applies, one page."""
    output.require_place(html, as_json)
    request = with_texts(request_of(locals()))
    _show(trust_card(request, loaded(request), False if quiet else None), html, as_json, quiet, table)


def _show(card: TrustCard, html: Path | None, as_json: bool, quiet: bool, table: bool) -> None:
    if html:
        output.write_page(html, card.to_html(), quiet, headline(card))
    elif as_json:
        output.show_json(card.to_json())
    else:
        output.show(shown(card, table=table))

"""The commands: read the options, call the verbs, print."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.console import RenderableType

from assay import __version__
from assay.cli import listings, output
from assay.cli import options as o
from assay.cli.app import App
from assay.cli.requests import prepared, recommendation
from assay.cli.sample_requests import checked_sample
from assay.explanations.text_explanation import TextExplanation
from assay.models import bundled, load, writers
from assay.registry.finding import checks as all_checks
from assay.registry.finding import methods as all_methods
from assay.verbs import explain_each
from assay.verdicts.judge import Checked, check_all
from assay.views import page, terminal
from assay.views.say import counted

_DEFAULT = "sst2"
_SHOWN = 3  # texts that the terminal shows beside a page
_BEGIN = """[bold]Begin with[/bold]

assay explain "a gripping , funny film"

assay trust "a gripping , funny film" --html card.html

assay methods"""
_EXPLAIN = """[bold]Examples[/bold]

assay explain "a gripping , funny film"

assay explain "a gripping , funny film" -m leave_one_out,integrated_gradients

assay explain --file reviews.csv --column text -m leave_one_out --json

assay explain "A man sleeps ." --pair "Nobody is awake ." --model snli -m gradient

assay explain "The film was" --model DIR -m input_x_gradient --tokens each

assay explain "so good" -m leave_one_out -p eraser=mask --html page.html

assay explain "so good" -m influence_functions --train train.csv --label-column label"""
_CHECK = """[bold]Examples[/bold]

assay check "a gripping , funny film" -m leave_one_out -c deletion,sufficiency

assay check --file reviews.csv -m gradient -c deletion -p deletion.eraser=mask

assay check --file train.csv --label-column label -m lime -c roar -p roar.seeds=3 --out DIR

assay check --scores mine.jsonl -c deletion,sufficiency

assay check "a gripping , funny film" -m leave_one_out -c deletion --html page.html"""

app = App(
    help="Explain what a text model did, and test whether the explanation can be trusted.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"assay {__version__}")
        raise typer.Exit


@app.callback(epilog=_BEGIN)
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.", metavar="")
    ] = False,
) -> None:
    """Explain what a text model did, and test whether the explanation can be trusted."""


@app.command(rich_help_panel="Look up")
def methods(as_json: o.JsonList = False) -> None:
    """List every method of the survey's Table 1: what it uses, and whether it is built."""
    if as_json:
        output.show_json(json.dumps(listings.method_list(), ensure_ascii=False))
    else:
        output.show(terminal.methods_table(all_methods()))


@app.command(rich_help_panel="Look up")
def checks(as_json: o.JsonList = False) -> None:
    """List every validity test: what it reads, which way is better, its paper."""
    if as_json:
        output.show_json(json.dumps([listings.check_entry(card) for card in all_checks().values()], ensure_ascii=False))
    else:
        output.show(terminal.checks_table(all_checks()))


@app.command(rich_help_panel="Look up")
def models(model: o.OneModel = None, *, as_json: o.JsonList = False) -> None:
    """List the bundled models; or say what was found out about one model, and which methods work with it."""
    if model is not None:
        entry = listings.found_entry(load(model))
        output.show_json(json.dumps(entry, ensure_ascii=False)) if as_json else output.show(terminal.found(entry))
    elif as_json:
        entries = [listings.model_entry(name, card) for name, card in (bundled() | writers()).items()]
        output.show_json(json.dumps(entries, ensure_ascii=False))
    else:
        output.show(terminal.models_table(bundled() | writers()))


@app.command(rich_help_panel="Explain and test", epilog=_EXPLAIN)
def explain(
    texts: o.Texts = None,
    *,
    method: o.TestedMethods = None,
    parameter: o.Settings = None,
    model: o.Model = _DEFAULT,
    question: o.Question = None,
    labels: o.Labels = None,
    device: o.Device = "auto",
    threads: o.Threads = None,
    dtype: o.Dtype = None,
    pair: o.Pair = None,
    file: o.File = None,
    column: o.Column = None,
    pair_column: o.PairColumn = None,
    train: o.TrainFile = None,
    index: o.IndexFolder = None,
    label_column: o.TrainLabels = None,
    limit: o.Limit = None,
    split: o.Split = "words",
    target: o.AnyTarget = None,
    against: o.Against = None,
    scalar: o.Scale = "log_odds",
    focus: o.Focus = None,
    tokens: o.Tokens = None,
    seed: o.Seed = 0,
    table: o.ShowTable = False,
    as_json: o.Json = False,
    html: o.Html = None,
    quiet: o.Quiet = False,
) -> None:
    """Explain predictions by words, edits, training texts or reasons; without --method, by the recommended method."""
    output.require_place(html, as_json)
    given = locals()
    asked = prepared(given)
    _show_explained(explain_each(asked, False if quiet else None), given)
    if method is None and not quiet:
        card, why = recommendation(asked.engine, asked.texts)
        print(f"assay: explained by {card.title}: {why}.", file=sys.stderr)


def _show_explained(explanations: Iterable[Sequence[TextExplanation]], given: Mapping[str, Any]) -> None:
    if given["html"]:
        told = list(explanations)
        output.write_page(given["html"], page([e for one in told for e in one]), given["quiet"], *_first(told))
        return
    for one in explanations:
        if given["as_json"]:
            output.show_json(*(e.to_json() for e in one))
        else:
            output.show(terminal.explained(one, table=given["table"]), "")


def _first(told: Sequence[Sequence[TextExplanation]]) -> Iterator[RenderableType]:
    """The first texts as without a page."""
    for one in told[:_SHOWN]:
        yield terminal.explained(one)
        yield ""
    if len(told) > _SHOWN:
        yield f"{counted(len(told) - _SHOWN, 'more text')} on the page"


@app.command(rich_help_panel="Explain and test", epilog=_CHECK)
def check(
    context: typer.Context,
    texts: o.Texts = None,
    *,
    method: o.TestedMethods = None,
    checks: o.Checks,
    scores: o.Scores = None,
    parameter: o.Settings = None,
    draws: o.Draws = None,
    model: o.Model = _DEFAULT,
    question: o.Question = None,
    labels: o.Labels = None,
    device: o.Device = "auto",
    threads: o.Threads = None,
    dtype: o.Dtype = None,
    pair: o.Pair = None,
    file: o.File = None,
    column: o.Column = None,
    pair_column: o.PairColumn = None,
    label_column: o.LabelColumn = None,
    train: o.TrainFile = None,
    dev: o.DevFile = None,
    test: o.TestFile = None,
    out: o.Trained = None,
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
    """Test explanations against random ones of the same texts; checks that train models need a labelled file."""
    output.require_place(html, as_json)
    given = locals()
    _show_checked(checked_sample(context, given) or check_all(prepared(given), False if quiet else None), given)


def _show_checked(found: Checked, given: Mapping[str, Any]) -> None:
    if given["html"]:
        said = terminal.verdict_table(found.verdicts)
        output.write_page(given["html"], page(found.by_text, found.verdicts), given["quiet"], said)
    elif given["as_json"]:
        output.show_json(*(json.dumps(v.to_dict(), ensure_ascii=False) for v in found.verdicts))
    else:
        output.show(terminal.verdict_table(found.verdicts))
    if found.left_out:
        for one in found.left_out:
            print(f"assay: {one}", file=sys.stderr)
        raise typer.Exit(2)

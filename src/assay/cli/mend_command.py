"""`assay mend`: fine-tune a model until it is unsure of texts without sense, and report what that changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text as Styled

from assay.cli import options as o
from assay.cli import output
from assay.cli.commands import app
from assay.cli.sources import require_fields
from assay.models import load
from assay.text.sample import Sample
from assay.views.wide import grid
from assay.workflows.mend import held_out
from assay.workflows.mend import mend as mended
from assay.workflows.mend.result import MendResult

_EXAMPLES = """[bold]Examples[/bold]

assay mend --data reviews.csv --column text --label-column label --rank 8 --out mended

assay mend --model snli --data pairs.tsv --column premise --pair-column hypothesis --dev dev.tsv --out mended

assay explain "a gripping , funny film" --model mended -m input_reduction

The same command again goes on where it stopped. Where accuracy falls by more than --margin, no model is saved, only
the report, and the exit code is 2; with a wider margin the same command takes the model from there."""
_READ, _HOW = "What is read", "How it is trained"
# Options that are called like the parameters of the verb.
_SAME = (
    *("out", "margin", "beam", "at_least", "limit", "baseline", "seed"),
    *("epochs", "rank", "rate", "batch", "weight", "schedule"),
)


def _how(*names: str, text: str, metavar: str, least: float | None = None) -> Any:
    return typer.Option(*names, help=text, metavar=metavar, min=least, rich_help_panel=_HOW)


def _read(*names: str, text: str, metavar: str) -> Any:
    return typer.Option(*names, help=text, metavar=metavar, rich_help_panel=_READ)


_DATA = "Labelled texts to learn from: a .csv, .tsv, .jsonl or .parquet file."
_OUT = "Where the mended model and the report go; `--model DIR` opens it."
Data = Annotated[Path, _read("--data", text=_DATA, metavar="F")]
Dev = Annotated[
    Path | None, _read("--dev", text="Texts to measure on; by default --dev-share of the data.", metavar="F")
]
Share = Annotated[float, _read("--dev-share", text="The share of the data held out, by the seed.", metavar="R")]
LabelColumn = Annotated[
    str, _read("--label-column", text="The column of labels, named as the model names them.", metavar="C")
]
Limit = Annotated[int | None, _how("--limit", text="Reduce only N texts, drawn by the seed.", metavar="N", least=1)]
Out = Annotated[Path, typer.Option("--out", "-o", help=_OUT, metavar="DIR", show_default=False)]
Epochs = Annotated[int, _how("--epochs", text="How many epochs to train.", metavar="N", least=1)]
Rank = Annotated[
    int, _how("--rank", text="Train low-rank changes only, which is faster; 0: all weights.", metavar="N", least=0)
]
Rate = Annotated[
    float | None, _how("--rate", text="The learning rate; by default 2e-5, low-rank 1e-3.", metavar="R", least=0)
]
Batch = Annotated[int, _how("--batch", text="Texts in a batch.", metavar="N", least=1)]
Weight = Annotated[float, _how("--weight", text="Lambda: how much entropy counts.", metavar="W", least=0)]
Schedule = Annotated[str, _how("--schedule", text="alternate (as released) or joint (as printed).", metavar="NAME")]
Beam = Annotated[int, _how("--beam", text="The beam of input reduction.", metavar="N", least=1)]
AtLeast = Annotated[
    float, _how("--at-least", text="The confidence that reduced texts must keep.", metavar="P", least=0)
]
Margin = Annotated[float, _how("--margin", text="How much accuracy may fall.", metavar="R", least=0)]
_COMPARE = "Train on random reductions too, to compare."
Baseline = Annotated[bool, typer.Option("--baseline/--no-baseline", help=_COMPARE, metavar="", rich_help_panel=_HOW)]
Device = Annotated[str | None, _how("--device", text="Where the model runs: cpu, cuda.", metavar="D")]


@app.command(rich_help_panel="Mend and train", epilog=_EXAMPLES)
def mend(
    *,
    data: Data,
    out: Out,
    model: o.Model = "sst2",
    column: o.Column = None,
    pair_column: o.PairColumn = None,
    label_column: LabelColumn = "label",
    dev: Dev = None,
    dev_share: Share = 0.2,
    focus: o.Focus = None,
    limit: Limit = None,
    beam: Beam = 5,
    at_least: AtLeast = 0.0,
    epochs: Epochs = 3,
    rank: Rank = 0,
    rate: Rate = None,
    batch: Batch = 32,
    weight: Weight = 1.0,
    schedule: Schedule = "alternate",
    margin: Margin = 0.01,
    baseline: Baseline = True,
    device: Device = None,
    threads: o.Threads = None,
    seed: o.Seed = 0,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Mend a model that stays sure of nonsense: fine-tune it by entropy regularisation, and measure the change."""
    result = _mended(locals())
    if as_json:
        output.show_json(json.dumps(result.to_dict(), ensure_ascii=False))
    elif not quiet:
        _show(result, out)


def _mended(given: Mapping[str, Any]) -> MendResult:
    """What costs little is tried first: the files are read before the model is loaded."""
    rows, dev = _rows(given, "data"), _rows(given, "dev") if given["dev"] else None
    learned, measured = (rows, dev) if dev is not None else held_out(rows, given["dev_share"], given["seed"])
    reader = load(given["model"], device=given["device"])
    require_fields(reader.fields[: len(reader.fields) - reader.optional], rows.texts, reader.name)
    same = {name: given[name] for name in _SAME}
    progress = False if given["quiet"] else None
    return mended(reader, learned, measured, focus=o.parts(given["focus"]), progress=progress, **same)


def _rows(given: Mapping[str, Any], name: str) -> Sample:
    """The texts of a file with their labels."""
    columns = {"text": given["column"], "pair": given["pair_column"], "label": given["label_column"]}
    return Sample.of(given[name], **columns)


def _show(result: MendResult, out: Path) -> None:
    table = grid("", *result.titles, "change")
    for line in result.lines():
        table.add_row(*map(Styled, line.cells()))
    output.show(table, *_paragraphs(result), f"wrote {out}: a model, {out / 'report.html'} and report.md")


def _paragraphs(result: MendResult) -> Sequence[str]:
    return [*result.sentences(), *(f"warning: {warning}" for warning in result.warnings)]

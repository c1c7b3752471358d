"""`assay mend-labels`: find rows whose labels look wrong, and measure what their corrections change."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text as Styled

from assay.cli import options as o
from assay.cli import output
from assay.cli.commands import app
from assay.cli.mend_command import Dev, LabelColumn, Share, _how, _read
from assay.cli.sources import require_fields
from assay.models import load
from assay.text.sample import Sample
from assay.views.visible import one_line, visible
from assay.workflows.mend_labels import LabelMending, mend_labels
from assay.workflows.mend_labels.page import PAGE
from assay.workflows.mend_labels.sheet import SHEET

_EXAMPLES = """[bold]Examples[/bold]

assay mend-labels --model DIR --data reviews.csv --out labels

assay mend-labels --model DIR --data reviews.csv --out labels --corrections labels/relabel.csv

The first command writes labels/labels.html to look at and labels/relabel.csv to fill in; the second trains again with
the corrections. Either goes on where it stopped."""
_SHOWN = 10
_FILLED = "The filled-in relabel.csv: train again and measure the change."
Data = Annotated[Path, _read("--data", text="The labelled texts that the model was trained on.", metavar="F")]
Out = Annotated[Path, typer.Option("--out", "-o", help="The directory to work in.", metavar="DIR", show_default=False)]
Corrections = Annotated[Path | None, _read("--corrections", text=_FILLED, metavar="F")]
Recipe = Annotated[
    str | None,
    _how("--recipe", text="How models are trained: words, bag, attentive, finetune:MODEL.", metavar="NAME"),
]
Folds = Annotated[int, _how("--folds", text="Models of the cross-validation.", metavar="N", least=2)]
Listed = Annotated[float, _how("--share", text="The most rows that are listed, as a share.", metavar="R", least=0)]
Seeds = Annotated[int, _how("--seeds", text="Models before and after the corrections.", metavar="N", least=1)]


@app.command("mend-labels", rich_help_panel="Mend and train", epilog=_EXAMPLES)
def mend_labels_command(
    *,
    data: Data,
    out: Out,
    model: o.Model = "sst2",
    column: o.Column = None,
    pair_column: o.PairColumn = None,
    label_column: LabelColumn = "label",
    dev: Dev = None,
    dev_share: Share = 0.2,
    corrections: Corrections = None,
    recipe: Recipe = None,
    folds: Folds = 5,
    share: Listed = 0.2,
    seeds: Seeds = 3,
    device: o.Device = "auto",
    threads: o.Threads = None,
    seed: o.Seed = 0,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Find rows whose labels look wrong, for people to correct; with their corrections, train again and compare."""
    columns: dict[str, Any] = {"text": column, "pair": pair_column, "label": label_column}
    rows, held = Sample.of(data, **columns), Sample.of(dev, **columns) if dev else None
    reader = load(model, device=device)
    require_fields(reader.fields[: len(reader.fields) - reader.optional], rows.texts, reader.name)
    how = {"recipe": recipe, "folds": folds, "share": share, "dev_share": dev_share, "seeds": seeds, "seed": seed}
    found = mend_labels(reader, rows, out=out, dev=held, corrections=corrections, **how)  # type: ignore[arg-type]
    if as_json:
        output.show_json(json.dumps(found.to_dict(), ensure_ascii=False))
    elif not quiet:
        output.show(*_shown(found, out))


def _shown(found: LabelMending, out: Path) -> Iterator[RenderableType]:
    yield from found.sentences()
    if found.correction is not None:
        yield f"wrote {visible(str(out / PAGE))}; the corrected model is {visible(str(out / found.correction.model))}"
        return
    for one in found.suspects[:_SHOWN]:
        head = Styled(f"row {one.row:,}  ")
        head.append(visible(one.given)).append(" → ").append(visible(one.suggested), style="bold")
        yield head.append(f"  {one.signs[0]} of {one.signs[1]} signs", style="dim")
        yield Padding(Styled(one_line(" | ".join(one.strings))), (0, 0, 0, 2))
        yield Padding(Styled(one_line(one.why), style="dim"), (0, 0, 0, 2))
    yield from (f"warning: {visible(warning)}" for warning in found.warnings)
    yield f"wrote {visible(str(out / PAGE))} to look at, and {visible(str(out / SHEET))} to fill in"

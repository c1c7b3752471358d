"""`assay train-editor`: a language model learns to fill blanks toward your labels, for `mice` and `polyjuice`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from assay.cli import options as o
from assay.cli import output
from assay.cli.commands import app
from assay.errors import BadInput
from assay.text.sample import Sample
from assay.views import say

_EXAMPLES = """[bold]Examples[/bold]

assay train-editor --data tickets.csv --column text --label-column team --minutes 30 --out editor

assay explain "the invoice is wrong" --model DIR -m mice -p editor=editor

The same command again goes on where it stopped."""
_HOW = "How it is trained"


def _how(*names: str, text: str, metavar: str, least: float | None = None) -> Any:
    return typer.Option(*names, help=text, metavar=metavar, min=least, rich_help_panel=_HOW)


_BASE = "The causal language model to start from: writer (assay-zoo), or a local directory."
Data = Annotated[Path, o._input("--data", "Labelled texts: a .csv, .tsv, .jsonl or .parquet file.", "F")]
Out = Annotated[Path, o._input("--out", "Where the editor goes; `-p editor=DIR` takes it.", "DIR")]
Labels = Annotated[str, o._input("--label-column", "The labels, named as the explained model names them.", "C")]
Base = Annotated[str, _how("--base", text=_BASE, metavar="M")]
Steps = Annotated[int, _how("--steps", text="How many steps to train.", metavar="N", least=1)]
Minutes = Annotated[float | None, _how("--minutes", text="About so long, instead of --steps.", metavar="T", least=0)]
Batch = Annotated[int, _how("--batch", text="Texts in a batch.", metavar="N", least=1)]
Rate = Annotated[float, _how("--rate", text="The highest learning rate.", metavar="R", least=0)]
Rank = Annotated[int, _how("--rank", text="The rank of the changes; 0: all weights.", metavar="N", least=0)]
Width = Annotated[
    int, _how("--width", text="The most tokens of a text; longer ones are left out.", metavar="N", least=8)
]
Device = Annotated[str | None, _how("--device", text="Where it is trained: cpu, cuda.", metavar="D")]


@app.command("train-editor", rich_help_panel="Mend and train", epilog=_EXAMPLES)
def train_editor_command(
    *,
    data: Data,
    out: Out,
    column: o.Column = None,
    label_column: Labels = "label",
    base: Base = "writer",
    steps: Steps = 600,
    minutes: Minutes = None,
    batch: Batch = 16,
    rate: Rate = 6e-4,
    rank: Rank = 16,
    width: Width = 160,
    device: Device = None,
    threads: o.Threads = None,
    seed: o.Seed = 0,
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> None:
    """Train an editor for labels of your own: it fills blanks of a text toward a label."""
    from assay.training.editor import EditorTraining, train_editor  # torch is slow to import

    rows = list(Sample.of(data, text=column, label=label_column).require_labels())
    if any(len(row.strings) > 1 for row in rows):
        raise BadInput("an editor learns from single texts; these are pairs. Name the column of the text: --column C.")
    how = EditorTraining(base, steps, minutes, batch, rate, rank, width, seed, device)
    texts, labels = [row.strings[0] for row in rows], [str(row.label) for row in rows]
    made = train_editor(texts, labels, out, how, progress=False if quiet else None)
    if as_json:
        told = {"out": str(out), "labels": made.labels, "texts": made.texts, "steps": made.steps, "losses": made.losses}
        output.show_json(json.dumps(told, ensure_ascii=False))
    elif not quiet:
        for line in _said(made):
            output.show(line)


def _said(made: Any) -> list[str]:
    where = f"{made.path} holds an editor for {', '.join(made.labels)}; use it with -p editor={made.path}"
    if not made.steps:
        return [f"nothing was left to do: {where}"]
    first, last = made.losses[0], made.losses[-1]
    return [
        f"{say.counted(made.texts, 'text')}, {say.counted(made.steps, 'step')}: loss {first:.2f} to {last:.2f}",
        where,
    ]

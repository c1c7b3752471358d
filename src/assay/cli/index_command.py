"""`assay index`: the gradients of a training set on disk, for `assay explain --index`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from assay.cli import options as o
from assay.cli.commands import app
from assay.models import load
from assay.text.training_set import TrainingSet
from assay.views.visible import to_stderr
from assay.workflows.indexing import index as make_index

_EXAMPLES = """[bold]Examples[/bold]

assay index --model sst2 --train train.csv --label-column label --out DIR

assay explain "so good" -m trak --index DIR"""


@app.command(rich_help_panel="Mend and train", epilog=_EXAMPLES)
def index(
    *,
    train: Annotated[
        Path, o._input("--train", "What the model was trained on: texts, of a classifier with labels.", "F")
    ],
    out: Annotated[Path, o._input("--out", "The directory of the index; the same command goes on there.", "DIR")],
    column: Annotated[str | None, o._input("--column", "The column of the texts.", "C")] = None,
    pair_column: o.PairColumn = None,
    label_column: o.TrainLabels = None,
    model: o.Model = "sst2",
    device: o.Device = "auto",
    threads: o.Threads = None,
    layers: Annotated[str, o._aim("--layers", text="head, last:N, all, or a pattern.", metavar="L")] = "last:2",
    project: Annotated[int, o._aim("--project", text="Numbers kept of each gradient.", metavar="N", least=1)] = 512,
    seed: o.Seed = 0,
    quiet: o.Quiet = False,
) -> None:
    """Write the gradients of a training set to disk, so that each explanation by it is one matrix product."""
    rows = TrainingSet.of(train, text=column, pair=pair_column, label=label_column)
    loaded = load(model, device=device)
    progress = False if quiet else None
    found = make_index(loaded, rows, out, layers=layers, project=project, seed=seed, progress=progress)
    if not quiet:
        to_stderr(f"assay: {len(found):,} rows of {project} numbers in {out}")

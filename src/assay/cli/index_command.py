"""`assay index`: the gradients of a training set on disk, for `assay explain --index`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from assay.cli import options as o
from assay.cli.commands import app
from assay.cli.executor_options import Address, Executor, Gpus, Workers
from assay.text.training_set import TrainingSet
from assay.views.visible import to_stderr
from assay.workflows.indexing import index as make_index

_EXAMPLES = """[bold]Examples[/bold]

assay index --model sst2 --train train.csv --label-column label --out DIR

assay index --model sst2 --train train.parquet --executor ray --workers 4 --out DIR

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
    executor: Executor = "inline",
    workers: Workers = None,
    gpus_per_worker: Gpus = 0.0,
    address: Address = None,
    quiet: o.Quiet = False,
) -> None:
    """Write the gradients of a training set to disk, so that each explanation by it is one matrix product."""
    rows = TrainingSet.of(train, text=column, pair=pair_column, label=label_column)
    found = make_index(
        model,
        rows,
        out,
        layers=layers,
        project=project,
        seed=seed,
        device=device,
        threads=threads,
        executor=executor,
        workers=workers,
        gpus_per_worker=gpus_per_worker,
        address=address,
        progress=False if quiet else None,
    )
    if not quiet:
        to_stderr(f"assay: {len(found):,} rows of {project} numbers in {out}")

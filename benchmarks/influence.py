"""Influential examples: the time beside captum, and wrong labels found in SST-2.

    python benchmarks/influence.py speed  [--rows 2000] [--queries 50]
    python benchmarks/influence.py labels [--rows 1500] [--repeats 3]         needs ASSAY_DATA with sst2/train.tsv
    python benchmarks/influence.py found  [--rows 300] [--repeats 5]          needs ASSAY_DATA with sst2/dev.tsv

`speed` takes turns in one process and prints the ratio of captum's time to ours with the agreement of the scores.
`labels` changes 10 % of the labels, trains, and sorts the training texts: the share of the changed labels among the
first 20 %, with a 95 % interval over the trainings, beside that of a random order and of the loss alone. `found` does
not train: the bundled sst2 as it is sorts texts that it was not trained on, some of them with changed labels.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import torch
import typer
from torch import Tensor, nn
from torch.utils.data import TensorDataset

import assay
from assay.checks.label_correction import Flipped, LabelCorrection, recovery
from assay.data.sst import glue
from assay.engine.engine import Engine
from assay.registry.finding import find_method
from assay.text.training_set import TrainingSet
from assay.training.attentive import Attend
from assay.training.bag import Bag
from assay.training.finetune import FineTune
from assay.training.fit import Plan
from texts import sentences

app = typer.Typer(add_completion=False)
LABELS = ("negative", "positive")


class Bare(nn.Module):
    """The model as captum wants it: tensors in, logits out."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        logits: Tensor = self.model(input_ids=ids, attention_mask=mask).logits
        return logits


def tensors(tokenizer: Any, texts: list[str]) -> tuple[Tensor, Tensor]:
    found = tokenizer(texts, padding=True, return_tensors="pt")
    return found["input_ids"], found["attention_mask"]


def captum_tracin(model: Any, train: list[tuple[str, str]], queries: list[str], targets: list[int]) -> np.ndarray:
    """TracInCP on the last layer, its faster way of taking gradients, batches of 64."""
    from captum.influence import TracInCP

    bare = Bare(model.model)
    labels = torch.tensor([LABELS.index(label) for _, label in train])
    dataset = TensorDataset(*tensors(model.tokenizer, [text for text, _ in train]), labels)
    peer = TracInCP(
        bare,
        dataset,
        ["as it is"],
        checkpoints_load_func=lambda module, path: 1.0,
        layers=["model.classifier"],
        loss_fn=nn.CrossEntropyLoss(reduction="sum"),
        batch_size=64,
        sample_wise_grads_per_batch=True,
    )
    found: Tensor = peer.influence((*tensors(model.tokenizer, queries), torch.tensor(targets)))
    return found.numpy()


@app.command()
def speed(rows: int = 2000, queries: int = 50, turns: int = 3) -> None:
    """TracIn on the last layer of the bundled sst2: captum's TracInCP and ours, taking turns."""
    model: Any = assay.load("sst2")
    made = sentences(rows + queries, 16)
    train = [(text, LABELS[i % 2]) for i, text in enumerate(made[:rows])]
    asked, times = made[rows:], {"ours": [], "captum": []}
    for _ in range(turns):
        began = perf_counter()
        found = assay.explain(model, asked, "tracin", train=train, engine=Engine(model), progress=False)
        times["ours"].append(perf_counter() - began)
        began = perf_counter()
        theirs = captum_tracin(model, train, asked, [e.target for e in found])
        times["captum"].append(perf_counter() - began)
    agreement = min(float(np.corrcoef(e.scores, row)[0, 1]) for e, row in zip(found, theirs, strict=True))
    ratios = sorted(c / o for c, o in zip(times["captum"], times["ours"], strict=True))
    ours, captum = (median(times[name]) for name in ("ours", "captum"))
    print(f"{rows} training x {queries} texts, last layer: ours {ours:.1f} s, captum {captum:.1f} s")
    print(f"captum / ours {median(ratios):.2f} [{ratios[0]:.2f}, {ratios[-1]:.2f}]; least correlation {agreement:.6f}")


def recipes(chosen: str) -> dict[str, tuple[Any, dict[str, dict[str, Any]]]]:
    """By name: how the model is trained, and the settings of each method."""
    epochs = tuple(range(1, 9))
    every = {
        "bag of words": (Bag(decay=0.001), {"influence_functions": {"damping": 0.002}, "tracin": {}}),
        "attentive BiLSTM": (
            Attend(every_epoch=True, hidden=64),
            {"influence_functions": {}, "tracin": {"checkpoints": epochs}},
        ),
        "fine-tuned encoder": (
            FineTune(plan=Plan(epochs=3, rate=1e-4)),
            {"influence_functions": {}, "tracin": {"layers": "last:2"}},
        ),
    }
    return {name: one for name, one in every.items() if chosen in name}


@app.command()
def labels(
    rows: int = 1500, repeats: int = 3, only: Annotated[str, typer.Option(help="A part of a model's name.")] = ""
) -> None:
    """The share of changed labels among the first fifth of the training texts."""
    place = os.environ.get("ASSAY_DATA")
    if not place:
        sys.exit("set ASSAY_DATA to the directory of datasets.")
    found = [row for row in glue(Path(place) / "sst2" / "train.tsv") if len(row.strings[0].split()) >= 8]
    chosen = np.random.default_rng(0).permutation(len(found))[:rows]
    train = [(found[i].strings[0], str(found[i].label)) for i in chosen]
    for name, (how, settings) in recipes(only).items():
        methods = [find_method(method).make(given) for method, given in settings.items()]
        check = LabelCorrection(recipe=how, repeats=repeats)
        with TemporaryDirectory() as out:
            for verdict in assay.check(None, train, methods, [check], out=out, progress=False):
                low, high = verdict.interval
                facts = verdict.facts
                shown = f"{name}, {verdict.method}: area {verdict.mean:.3f} (random {verdict.random:.3f}, "
                shown += f"difference {verdict.difference:+.3f} [{low:+.3f}, {high:+.3f}]), "
                shown += f"20 % looked at find {facts['found']:.0%}; by the loss alone area {facts['loss_area']:.3f}, "
                print(shown + f"{facts['loss_found']:.0%}", flush=True)


@app.command()
def found(rows: int = 300, repeats: int = 5) -> None:
    """Changed labels among texts of the dev set, by the bundled sst2 as it is."""
    place = os.environ.get("ASSAY_DATA")
    if not place:
        sys.exit("set ASSAY_DATA to the directory of datasets.")
    engine = Engine(assay.load("sst2"))
    dev = list(glue(Path(place) / "sst2" / "dev.tsv"))[:rows]
    shares: dict[str, list[tuple[float, float]]] = {}
    for seed in range(repeats):
        flipped = Flipped.of(dev, LABELS, 0.1, seed)
        for name, settings in {"influence_functions": {}, "tracin": {"layers": "last:2"}}.items():
            made: Any = find_method(name).make({"train": TrainingSet(flipped.sample), **settings})
            order = np.argsort(-next(engine.run([made.self_influence()])).get(), kind="stable").tolist()
            shares.setdefault(name, []).append(recovery(order, set(flipped.wrong)))
    for name, values in shares.items():
        areas, first = np.array(values).T
        spread = f"[{first.min():.0%}, {first.max():.0%}] over {repeats} draws"
        print(f"sst2 as it is, {name}: area {areas.mean():.3f}, 20 % looked at find {first.mean():.0%} {spread}")


if __name__ == "__main__":
    app()

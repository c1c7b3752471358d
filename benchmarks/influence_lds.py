"""Linear datamodeling scores of one fine-tuned model: our methods, and those of other tools, on the same random halves.

    python benchmarks/influence_lds.py DIR [--rows 2000] [--subsets 64] [--queries 50] [--device cuda] [--peers]
    python benchmarks/influence_lds.py DIR --rows 24 --subsets 4 --queries 3 --device cpu          # a small try

The bundled `mlm` is fine-tuned on phrases of SST-2 (ASSAY_DATA with sst2/train.tsv and sst2/dev.tsv), then on random
halves of them (Park et al. 2023, section 4, arXiv:2303.14186). A score is the rank correlation, over the halves, of the
sum of a text's scores with what the model of the half says of the text; its mean over the explained texts has a 95 %
interval over them, in which that all texts share the halves is not: the line of random scores, one for all texts, says
how far their mean strays. `--peers` needs dattri, kronfluence and captum; one that is not there is named.

DIR/trained          the models                DIR/halves.npz      rows of each half and what its model says
DIR/scores/NAME.npy  scores [texts, rows]      DIR/lds.json        each method: mean, interval, every text, seconds
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import typer

import assay
from assay.checks.linear_datamodeling import LinearDatamodeling, Subsets
from assay.data.sst import glue
from assay.engine.engine import Engine
from assay.questions.train import Train
from assay.statistics.intervals import estimate, mean
from assay.statistics.ranks import spearman
from assay.text.example import Example
from assay.text.sample import Sample
from assay.training.finetune import FineTune
from assay.training.fit import Plan

EPOCHS, RATE, BATCH, LEAST = 3, 2e-4, 32, 3  # as in the study `influence`
EVERY = {"checkpoints": tuple(range(1, EPOCHS + 1))}
Scores = Callable[[], np.ndarray]


def ours(rows: int) -> dict[str, tuple[str, dict[str, Any]]]:
    steps = {"rates": (RATE / 2,), "steps": (-(-rows // BATCH),), "project": 512}  # the mean rate of the slope
    return {
        "influence_functions, last layer, exact": ("influence_functions", {}),
        "influence_functions, two layers, EK-FAC": ("influence_functions", {"solver": "ekfac", "layers": "last:2"}),
        "influence_functions, all layers, EK-FAC": ("influence_functions", {"solver": "ekfac", "layers": "all"}),
        "influence_functions, two layers, 2048 numbers": (
            "influence_functions",
            {"layers": "last:2", "project": 2048},
        ),
        "influence_functions, two layers, LiSSA": ("influence_functions", {"solver": "lissa", "layers": "last:2"}),
        "representer_points": ("representer_points", {}),
        "tracin, last layer": ("tracin", EVERY),
        "tracin, two layers": ("tracin", {**EVERY, "layers": "last:2"}),
        "tracin, all layers": ("tracin", {**EVERY, "layers": "all"}),
        "trak, two layers, 512 numbers": ("trak", {}),
        "trak, all layers, 2048 numbers": ("trak", {"layers": "all", "project": 2048}),
        "source, two layers": ("source", {**EVERY, "layers": "last:2", **steps}),
    }


# a pass over the training set for each of ten iterations, and one more back for each text: last, as it is slow
SLOW = {
    "influence_functions, two layers, CG": (
        "influence_functions",
        {"solver": "cg", "layers": "last:2", "iterations": 10},
    )
}


class Case:
    """The fine-tuned model with its checkpoints, its training texts, and the texts that are explained."""

    def __init__(self, out: Path, rows: int, queries: int, device: str) -> None:
        place = os.environ.get("ASSAY_DATA")
        if not place:
            sys.exit("set ASSAY_DATA to the directory of datasets.")
        known = [row for row in glue(Path(place) / "sst2" / "train.tsv") if len(row.strings[0].split()) >= LEAST]
        drawn = np.random.default_rng(0).permutation(len(known))[:rows]
        self.sample = Sample.of(
            [Example(str(i), known[at].strings, known[at].label) for i, at in enumerate(drawn)], name="training texts"
        )
        self.texts = [row.strings[0] for row in list(glue(Path(place) / "sst2" / "dev.tsv"))[:queries]]
        self.recipe = FineTune(plan=Plan(epochs=EPOCHS, rate=RATE), batch=BATCH, device=device)
        nobody = assay.load(lambda texts: np.full((len(list(texts)), 2), 0.5), labels=("negative", "positive"))
        trainer = Engine(nobody, trained=out / "trained")
        whole = FineTune(plan=Plan(epochs=EPOCHS, rate=RATE), batch=BATCH, device=device, every_epoch=True)
        name = str(trainer.ask(Train(whole, self.sample, seed=0)))
        self.model: Any = trainer.models[name]
        self.engine = Engine(self.model, trained=out / "trained")
        self.labels = [self.model.labels.index(str(row.label)) for row in self.sample]
        self.targets: list[int] = self.model.predict(self.texts).argmax(axis=1).tolist()

    def scores(self, method: str, settings: dict[str, Any]) -> list[Any]:
        found: list[Any] = assay.explain(
            None, self.texts, method, engine=self.engine, train=self.sample, progress=False, **settings
        )
        return found

    def halves(self, out: Path, subsets: int) -> list[Subsets]:
        """Trained once, whatever is explained of them."""
        kept = out / "halves.npz"
        if kept.exists():
            held = np.load(kept)
            return [Subsets(held["chosen"], values) for values in held["values"]]
        check = LinearDatamodeling(recipe=self.recipe, subsets=subsets)
        any_method = self.scores("tracin", {})  # the halves are those of the training set
        found = [one.get() for one in self.engine.run([check.against(e) for e in any_method])]
        np.savez_compressed(kept, chosen=found[0].chosen, values=np.array([one.values for one in found]))
        return found


def report(out: Path, name: str, scores: Scores, halves: list[Subsets]) -> None:
    """One method: taken from DIR if it is there, else computed; a line of print and an entry of lds.json."""
    done = json.loads((out / "lds.json").read_text()) if (out / "lds.json").exists() else {}
    if name not in done:
        began = perf_counter()
        found = scores()
        seconds = perf_counter() - began
        if not np.isfinite(found).all():
            raise ValueError("its scores are no numbers")
        (out / "scores").mkdir(exist_ok=True)
        np.save(out / "scores" / f"{name.replace(', ', '-').replace(' ', '_')}.npy", found.astype(np.float32))
        values = [spearman(half.chosen @ row, half.values) for half, row in zip(halves, found, strict=True)]
        shown = estimate(np.array(values), mean)
        assert shown is not None
        done[name] = {"mean": shown.value, "low": shown.low, "high": shown.high, "texts": values, "seconds": seconds}
        (out / "lds.json").write_text(json.dumps(done, indent=1))
    one = done[name]
    took = f"{one['seconds']:.1f} s"
    print(f"{name}: {one['mean']:.3f} [{one['low']:.3f}, {one['high']:.3f}], {took}", flush=True)


def strays(halves: list[Subsets], rows: int, draws: int = 40) -> float:
    """The standard deviation of the score of random numbers that are the same for all texts."""
    rng = np.random.default_rng(0)
    found = (rng.normal(size=rows) for _ in range(draws))
    return float(np.std([np.mean([spearman(half.chosen @ one, half.values) for half in halves]) for one in found]))


def every(case: Case, peers: bool) -> Iterator[tuple[str, Scores]]:
    own: dict[str, Scores] = {
        name: lambda m=method, s=settings: np.array([e.scores for e in case.scores(m, s)])  # type: ignore[misc]
        for name, (method, settings) in (ours(len(case.sample)) | SLOW).items()
    }
    yield from ((name, job) for name, job in own.items() if name not in SLOW)
    if peers:
        from influence_lds_peers import PEERS

        for name, peer in PEERS.items():
            yield name, lambda p=peer: p(case)  # type: ignore[misc]
    yield from ((name, own[name]) for name in SLOW)


def main(
    out: Path,
    rows: int = 2000,
    subsets: int = 64,
    queries: int = 50,
    device: Annotated[str, typer.Option()] = "cuda",
    peers: bool = False,
) -> None:
    out.mkdir(parents=True, exist_ok=True)
    began = perf_counter()
    case = Case(out, rows, queries, device)
    print(f"trained on {rows:,} texts: {perf_counter() - began:.0f} s", flush=True)
    halves = case.halves(out, subsets)
    print(f"{subsets} halves: {perf_counter() - began:.0f} s", flush=True)
    print(f"random scores: 0 ± {2 * strays(halves, rows):.3f}", flush=True)
    for name, scores in every(case, peers):
        try:
            report(out, name, scores, halves)
        except ImportError as error:
            print(f"{name}: not here ({error})", flush=True)
        except (RuntimeError, ValueError, assay.AssayError) as error:  # one tool's failure leaves the others
            print(f"{name}: failed ({error})"[:400], flush=True)


if __name__ == "__main__":
    typer.run(main)

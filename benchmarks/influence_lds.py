"""Linear datamodeling scores of one fine-tuned model: ours and those of other tools, on the same random halves.

    python benchmarks/influence_lds.py DIR [--rows 2000] [--subsets 256] [--seeds 4] [--queries 50] [--peers]
    python benchmarks/influence_lds.py DIR --rows 24 --subsets 4 --seeds 2 --queries 3 --device cpu     # a small try

The bundled `mlm` is fine-tuned on phrases of SST-2 (ASSAY_DATA with sst2/train.tsv and sst2/dev.tsv), then on random
halves of them, each with several seeds (Park et al. 2023, section 4, arXiv:2303.14186); `--side` networks are trained
at once (influence_halves.py). A score is the rank correlation, over the halves, of the sum of a text's scores with what
the models of the half say of the text, in the mean over the texts. Its 95 % interval is over halves and texts. All
texts share the halves, so scores that mean nothing stray from 0 as well: `chance` is how far 95 % of them stay, with
halves in another order. `most` is what a score could reach at all: the root of the reliability of what the models say.
`--peers` needs dattri, kronfluence and captum; one that is not there is named.

DIR/trained          the model                 DIR/halves.npz      rows of each half and what its models say
DIR/scores/NAME.npy  scores [texts, rows]      DIR/lds.json        each method: mean, interval, chance, seconds
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, perf_counter
from typing import Annotated, Any

import numpy as np
import torch
import typer

import assay
from assay.data.sst import glue
from assay.engine.engine import Engine
from assay.questions.train import Train
from assay.text.example import Example
from assay.text.sample import Sample
from assay.training.finetune import FineTune
from assay.training.fit import Plan
from influence_halves import Halves
from influence_ranks import ceiling, datamodeling

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

    def more_halves(
        self, out: Path, subsets: int, seeds: int, side: int, until: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Which rows each half holds [subsets, rows], and log-odds [seeds, subsets, texts]; those of DIR are kept."""
        rng, size = np.random.default_rng(0), len(self.sample)
        chosen = np.zeros((subsets, size), dtype=bool)
        for row in chosen:
            row[rng.permutation(size)[: size // 2]] = True
        values = np.full((seeds, subsets, len(self.texts)), np.nan)
        if (place := out / "halves.npz").exists():
            held = np.load(place)["values"]
            values[: len(held), : held.shape[1]] = held[:seeds, :subsets]
        learner = Halves(self.recipe, [row.strings for row in self.sample], self.labels, self.model.labels)
        for seed in range(seeds):
            for at in range(0, subsets, side):
                part = slice(at, min(subsets, at + side))
                if not np.isnan(values[seed, part]).any() or monotonic() > until:
                    continue
                logits = halved(
                    lambda rows, s=seed: learner.trained(rows, s, [(text,) for text in self.texts]), chosen[part]
                )
                values[seed, part] = signed(logits, self.targets)
                np.savez_compressed(out / "part.npz", chosen=chosen, values=values)
                os.replace(out / "part.npz", place)  # whole, for another process that reads it
        return chosen, values


def halved(work: Callable[[np.ndarray], np.ndarray], rows: np.ndarray) -> np.ndarray:
    """In two halves, and so on, where the networks of all rows do not fit into memory together."""
    try:
        return work(rows)
    except torch.OutOfMemoryError:
        if len(rows) == 1:
            raise
    torch.cuda.empty_cache()
    return np.concatenate([halved(work, part) for part in np.array_split(rows, 2)])


def signed(logits: np.ndarray, targets: list[int]) -> np.ndarray:
    """The log-odds of the explained label, of two [networks, texts]."""
    return np.asarray((logits[..., 1] - logits[..., 0]) * (2 * np.array(targets) - 1))


def score(out: Path, name: str, scores: Scores) -> None:
    """The scores of one method, unless DIR has them; how long they took is kept beside them."""
    place = out / "scores" / f"{name.replace(', ', '-').replace(' ', '_')}.npy"
    done = known(out)
    if name in done and ("failed" in done[name] or place.exists()):
        return
    began = perf_counter()
    found = scores()
    seconds = perf_counter() - began
    if not np.isfinite(found).all():
        raise ValueError("its scores are no numbers")
    place.parent.mkdir(exist_ok=True)
    np.save(place, found.astype(np.float32))
    kept(out, {**done, name: {"file": place.name, "seconds": seconds}})
    print(f"{name}: {seconds:.1f} s", flush=True)


def known(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "lds.json").read_text()) if (out / "lds.json").exists() else {}
    return found


def kept(out: Path, done: dict[str, Any]) -> None:
    (out / "lds.json").write_text(json.dumps(done, indent=1))


def report(out: Path, chosen: np.ndarray, values: np.ndarray) -> None:
    """Every method beside what the models of the halves say: lines of print, and entries of lds.json."""
    done, trained = known(out), ~np.isnan(values).any(axis=2)
    if not trained.any():
        return
    halves = trained[0] if not trained.all(axis=1).any() else trained[trained.all(axis=1)].all(axis=0)
    used = values[[one for one in range(len(values)) if trained[one][halves].all()]][:, halves]
    print(f"{used.shape[1]} halves, {len(used)} models each; most {ceiling(used):.3f}", flush=True)
    for name, one in done.items():
        if "failed" in one:
            continue
        found = np.load(out / "scores" / one["file"])
        foretold = found @ chosen[halves].T.astype(np.float32)
        done[name] = {
            **one,
            **datamodeling(foretold, used.mean(axis=0).T),
            "halves": used.shape[1],
            "models": len(used),
        }
        shown = done[name]
        print(
            f"{name}: {shown['mean']:.3f} [{shown['low']:.3f}, {shown['high']:.3f}], chance {shown['chance']:.3f}",
            flush=True,
        )
    kept(out, done)


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
    subsets: int = 256,
    seeds: int = 4,
    queries: int = 50,
    side: int = 32,
    minutes: float = 600,
    device: Annotated[str, typer.Option()] = "cuda",
    peers: bool = False,
    only: Annotated[str, typer.Option(help="halves or scores, for two processes in one directory.")] = "",
) -> None:
    out.mkdir(parents=True, exist_ok=True)
    began = perf_counter()
    case = Case(out, rows, queries, device)
    print(f"trained on {rows:,} texts: {perf_counter() - began:.0f} s", flush=True)
    until = monotonic() + 60 * minutes
    chosen, values = case.more_halves(out, subsets, seeds, side, 0.0 if only == "scores" else until)
    print(f"halves: {perf_counter() - began:.0f} s", flush=True)
    for name, scores in every(case, peers) if only != "halves" else ():
        try:
            if monotonic() < until:
                score(out, name, scores)
        except ImportError as error:
            print(f"{name}: not here ({error})", flush=True)
        except (RuntimeError, ValueError, assay.AssayError) as error:  # one tool's failure leaves the others
            print(f"{name}: failed ({error})"[:400], flush=True)
            kept(out, {**known(out), name: {"failed": str(error)[:200]}})
    report(out, chosen, values)


if __name__ == "__main__":
    typer.run(main)

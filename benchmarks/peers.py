"""Ours, the peers and the floor, side by side in one process, taking turns.

    OMP_WAIT_POLICY=PASSIVE python benchmarks/peers.py [--texts 64] [--repeats 3] [--samples 256] [--only lime]

The floor is what the rows that ours ran cost with nothing around them: rows of the same lengths made beforehand, sorted
by length, packed to the best of several token budgets, forward (and backward) only. A ratio to the floor of 1.0 means
that explaining cost nothing extra. captum's integrated gradients are its own 50 steps; ours stop by themselves, and
both report how far they miss completeness. interpreto and anchor-exp take part where they are installed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import resource
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

import assay
import other_peers
from captum_peer import Captum
from race import Job, Ours, best, compare
from texts import sentences

PER_EVAL = (1, 4, 16, 64)


@dataclass
class Field:
    """The same model and texts for everyone."""

    model: Any
    texts: list[str]
    repeats: int
    samples: int

    def __post_init__(self) -> None:
        self.captum = Captum(self.model.model, self.model.tokenizer)
        self.function = other_peers.Function(self.model.model, self.model.tokenizer)

    def each(self, one: Callable[[str], object]) -> Job:
        """A peer that goes text by text."""
        return lambda: [one(text) for text in self.texts]

    def best_per_eval(self, method: Callable[[str, int], object]) -> int:
        """Captum's best number of rows a call, tried on a few texts."""
        some = self.texts[:4]
        return int(best({k: lambda k=k: [method(text, k) for text in some] for k in PER_EVAL}))


def gradients(field: Field) -> None:
    ours = Ours(field.model, field.texts, "input_x_gradient", scalar="logit")
    peers = {"captum InputXGradient": field.each(field.captum.input_x_gradient)}
    compare("input_x_gradient (the target is predicted first, in all three)", ours, peers, field.repeats)


def ablation(field: Field) -> None:
    ours = Ours(field.model, field.texts, "leave_one_out", eraser="mask", scalar="logit")
    k = field.best_per_eval(field.captum.feature_ablation)
    peers = {
        "captum FeatureAblation": field.each(partial(field.captum.feature_ablation, per_eval=1)),
        f"captum, {k} per eval": field.each(partial(field.captum.feature_ablation, per_eval=k)),
    }
    compare("leave_one_out (mask)", ours, peers, field.repeats)


def integrated(field: Field) -> None:
    ours = Ours(field.model, field.texts, "integrated_gradients", scalar="logit")
    gaps: list[float] = []
    peers = {
        "captum IntegratedGradients (50)": lambda: gaps.extend(map(field.captum.integrated_gradients, field.texts))
    }
    compare("integrated_gradients", ours, peers, field.repeats, partial(_completeness, ours, gaps))


def _completeness(ours: Ours, gaps: list[float]) -> str:
    steps = np.array([e.facts["steps"] for e in ours.told])
    own = np.array([e.facts["gap"] for e in ours.told])
    return (
        f"\n   gradient rows a text: ours {steps.mean():.1f} (most {steps.max()}), captum 50: "
        f"{50 / steps.mean():.2f}x fewer"
        f"\n   completeness gap: ours median {np.median(own):.2%}, worst {own.max():.2%}; "
        f"captum median {np.median(gaps):.2%}, worst {max(gaps):.2%}"
    )


def lime(field: Field) -> None:
    n = field.samples
    ours = Ours(field.model, field.texts, "lime", samples=n)
    k = field.best_per_eval(lambda text, k: field.captum.lime(text, n // 4, k))
    peers = {
        "lime": field.each(other_peers.lime(field.function, n)),
        f"captum Lime, {k} per eval": field.each(partial(field.captum.lime, samples=n, per_eval=k)),
        **_interpreto("Lime", field),
    }
    compare(f"lime ({n} samples)", ours, peers, field.repeats)


def kernel_shap(field: Field) -> None:
    n = field.samples
    ours = Ours(field.model, field.texts, "kernel_shap", samples=n)
    k = field.best_per_eval(lambda text, k: field.captum.kernel_shap(text, n // 4, k))
    peers = {
        "captum KernelShap": field.each(partial(field.captum.kernel_shap, samples=n, per_eval=1)),
        f"captum, {k} per eval": field.each(partial(field.captum.kernel_shap, samples=n, per_eval=k)),
        "shap KernelExplainer": field.each(other_peers.shap_kernel(field.function, n)),
        **_interpreto("KernelShap", field),
    }
    compare(f"kernel_shap ({n} samples)", ours, peers, field.repeats)


def partition_shap(field: Field) -> None:
    n = field.samples
    ours = Ours(field.model, field.texts, "partition_shap", max_evals=n)
    model, tokenizer = field.model.model, field.model.tokenizer
    peers = {
        "shap Partition, pipeline": field.each(other_peers.shap_pipeline(model, tokenizer, n)),
        "shap Partition, batched function": field.each(other_peers.shap_function(field.function, n)),
    }
    compare(f"partition_shap (at most {n} evaluations)", ours, peers, field.repeats)


def anchors(field: Field) -> None:
    ours = Ours(field.model, field.texts, "anchors", eraser="unknown")
    peer = other_peers.anchor(field.function, field.model.tokenizer.unk_token)
    field.function.rows = 0
    # The released code follows one rule at a time, and is content with a bound 0.05 below the threshold.
    narrow = Ours(field.model, field.texts, "anchors", eraser="unknown", beam=1, threshold=0.9)
    peers: dict[str, Job] = {"ours, as lax as anchor-exp": narrow}
    peers |= {"anchor-exp": field.each(peer)} if peer else {}

    def rows() -> str:
        own = f"; as lax as anchor-exp {narrow.cost.forwards}"
        return f"{own}, anchor-exp {field.function.rows // field.repeats} rows" if peer else own

    compare("anchors (unknown token, precision 0.95)", ours, peers, field.repeats, rows)


def _interpreto(kind: str, field: Field) -> dict[str, Job]:
    made = other_peers.interpreto(kind, field.model.model, field.model.tokenizer, field.samples)
    return {f"interpreto {kind}": lambda: made(field.texts)} if made else {}


RACES = {race.__name__: race for race in (gradients, ablation, integrated, lime, kernel_shap, partition_shap, anchors)}


def long_text(who: str, name: str) -> None:
    """Explain one text of 250 words and print by how many MB the peak of memory grew."""
    model: Any = assay.load(name)
    text = sentences(1, 250, 250)[0]
    model.predict(["warm up"])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if who == "ours":
        assay.explain(model, text, "integrated_gradients")
    else:
        Captum(model.model, model.tokenizer).integrated_gradients(text)
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)


def memory(name: str) -> None:
    print("\nintegrated_gradients on one text of 250 words: added memory")
    for who in ("ours", "captum"):
        command = [sys.executable, __file__, "--long", who, "--model", name]
        grown = subprocess.run(command, capture_output=True, text=True, check=True)
        print(f"  {who:<10} {int(grown.stdout.split()[-1]):6d} MB")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--texts", type=int, default=64)
    arguments.add_argument("--repeats", type=int, default=3)
    arguments.add_argument("--samples", type=int, default=256)
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--model", default="sst2")
    arguments.add_argument("--only", default="", help=f"some of {', '.join(RACES)}, memory")
    arguments.add_argument("--long", default="", help=argparse.SUPPRESS)
    given = arguments.parse_args()
    torch.set_num_threads(given.threads)
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    if given.long:
        return long_text(given.long, given.model)
    model: Any = assay.load(given.model)
    field = Field(model, sentences(given.texts), given.repeats, given.samples)
    print(
        f"{given.model}, {given.texts} sentences of 8 to 40 words, {given.threads} threads, {given.repeats} turns each"
    )
    chosen = given.only.split(",") if given.only else [*RACES, "memory"]
    for name in chosen:
        with contextlib.redirect_stderr(io.StringIO()):  # the peers' progress bars
            RACES[name](field) if name in RACES else memory(given.model)
    return None


if __name__ == "__main__":
    main()

"""Three methods under three checks on a whole development set: rows asked, rows run, and the time beside the floor.

    python benchmarks/checks.py --file dev.tsv [--column sentence] [--model sst2] [--device cuda] [--samples 1000]

leave_one_out, integrated_gradients and lime, each put to deletion, insertion and sufficiency with random explanations
beside them, by one engine, so that a row that several of them ask is run once. The floor is the rows that were run,
bare.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import pandas as pd
import torch

import assay
from assay.engine.engine import Engine
from assay.registry.finding import find_method
from bare import Floor, Recorder

CHECKS = ["deletion", "insertion", "sufficiency"]


def seconds(job: Any) -> float:
    began = perf_counter()
    job()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return perf_counter() - began


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--file", type=Path, required=True)
    arguments.add_argument("--column", default="sentence")
    arguments.add_argument("--model", default="sst2")
    arguments.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    arguments.add_argument("--samples", type=int, default=1000)
    arguments.add_argument("--limit", type=int, default=None)
    arguments.add_argument("--every", type=int, default=1, help="the floor runs every so many-th row, and is scaled up")
    given = arguments.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    texts = pd.read_csv(given.file, sep="\t", quoting=3)[given.column].str.strip().tolist()[: given.limit]
    model: Any = assay.load(given.model, device=given.device)
    lime = find_method("lime").make({"samples": given.samples})
    engine = Engine(model)
    verdicts: list[Any] = []

    def ours() -> None:
        methods = ["leave_one_out", "integrated_gradients", lime]
        verdicts.extend(assay.check(model, texts, methods, CHECKS, engine=engine, progress=False))

    with Recorder(model) as needed:
        took = seconds(ours)
    floor = Floor(model.model, needed, given.every)
    floor.run(model.preferred_tokens) if given.device != "cpu" else None  # to warm up
    budgets = (model.preferred_tokens, 2 * model.preferred_tokens)
    bare = given.every * min(seconds(partial(floor.run, budget)) for budget in budgets)
    cost = engine.totals
    print(f"{given.model} on {given.device}, {len(texts)} texts, lime with {given.samples} samples")
    print(f"  rows asked {cost.sequences}, run {cost.forwards} ({cost.backwards} backward), tokens {cost.tokens}")
    print(f"  ours {took:.1f} s, floor {bare:.1f} s: {took / bare:.2f}x")
    for verdict in verdicts:
        low, high = verdict.interval
        print(f"  {verdict.method:<22} {verdict.check:<12} {verdict.mean:7.3f} random {verdict.random:7.3f}", end=" ")
        print(f"difference {verdict.difference:+.3f} [{low:+.3f}, {high:+.3f}]  {verdict.sentence}")


if __name__ == "__main__":
    main()

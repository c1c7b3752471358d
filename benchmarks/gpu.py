"""A whole development set on a GPU, through the public API: milliseconds a text beside the bare rows.

    python benchmarks/gpu.py --file dev.tsv [--column sentence] [--model sst2] [--device cuda]

The floor is what the same number of rows costs with nothing around them: ids made beforehand, sorted by length, packed
to the model's own budget, forward (and backward) only. Text handling, packing and the method's own arithmetic are what
lies between the floor and ours. `--profile` adds where the time of a method went.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import pandas as pd
import torch

import assay
from assay.engine.engine import Engine
from bare import Floor, Recorder

RACES: dict[str, dict[str, Any]] = {
    "leave_one_out": {},
    "integrated_gradients": {"steps": 50},
    "kernel_shap": {"samples": 512},
    "input_x_gradient": {},
    "integrated_gradients (adaptive)": {},
}


def timed(job: Callable[[], object], device: str, turns: int) -> float:
    """The median over the turns, in seconds, after one turn to warm up."""
    times = []
    for _ in range(turns + 1):
        began = perf_counter()
        job()
        if device != "cpu":
            torch.cuda.synchronize()
        times.append(perf_counter() - began)
    return median(times[1:])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--file", type=Path, required=True)
    arguments.add_argument("--column", default="sentence")
    arguments.add_argument("--model", default="sst2")
    arguments.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    arguments.add_argument("--limit", type=int, default=None)
    arguments.add_argument("--turns", type=int, default=3)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--profile", action="store_true")
    given = arguments.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    texts = pd.read_csv(given.file, sep="\t", quoting=3)[given.column].str.strip().tolist()[: given.limit]
    model: Any = assay.load(given.model, device=given.device)
    name = torch.cuda.get_device_name() if given.device == "cuda" else "CPU"
    print(f"{given.model} on {name}, torch {torch.__version__}, {len(texts)} texts, fp32, {given.turns} turns")
    for title, settings in RACES.items():
        if given.only in title:
            race(model, texts, title, settings, given)


def race(model: Any, texts: list[str], title: str, settings: dict[str, Any], given: argparse.Namespace) -> None:
    method = title.split()[0]
    engine = Engine(model)

    def ours() -> None:
        nonlocal engine
        engine = Engine(model)
        assay.explain(model, texts, method, engine=engine, progress=False, **settings)

    seconds = timed(ours, given.device, given.turns)
    cost = engine.totals
    with Recorder(model) as needed:
        ours()
    floor = Floor(model.model, needed)
    bare = timed(lambda: floor.run(model.preferred_tokens), given.device, given.turns)
    each = 1000 / len(texts)
    rows = f"{cost.sequences} rows asked, {cost.forwards} run, {cost.backwards} backward, {cost.tokens} tokens"
    print(f"{title:<34} {seconds * each:7.2f} ms a text   bare {bare * each:6.2f}   {seconds / bare:5.2f}x   {rows}")
    if given.profile:
        profile = cProfile.Profile()
        profile.runcall(ours)
        pstats.Stats(profile).sort_stats("tottime").print_stats(18)


if __name__ == "__main__":
    main()

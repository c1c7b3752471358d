"""Another state of the code against this one, taking turns: what a row costs the processor in each.

    git worktree add --detach ../before d0d50a8^
    OMP_NUM_THREADS=1 python benchmarks/turns.py ../before [--turns 7] [--only function,lime]

Each state has a process of its own that has opened its model; they run the same job in turn, and a turn's ratio is that
of two neighbours. Time is that of the processor (`process_time`), so other programs on the machine change it little.
Two of the jobs have a model that answers at once (engine.py) and so show the engine alone; the others are ours in the
races of peers.py. Rows are those asked, which differ where the bundled models of the two states do.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

RACES: dict[str, tuple[int, str, dict[str, Any]]] = {  # texts, method, settings
    "input_x_gradient": (64, "input_x_gradient", {"scalar": "logit"}),
    "leave_one_out": (24, "leave_one_out", {"eraser": "mask", "scalar": "logit"}),
    "integrated_gradients": (12, "integrated_gradients", {"scalar": "logit"}),
    "lime": (6, "lime", {"samples": 128}),
    "kernel_shap": (6, "kernel_shap", {"samples": 128}),
    "partition_shap": (6, "partition_shap", {"max_evals": 128}),
    "anchors": (2, "anchors", {"eraser": "unknown"}),
}


def constant(texts: list[str]) -> Any:
    """A model that answers at once."""
    import numpy as np

    return np.full((len(texts), 2), 0.5)


def instant_classifier() -> Any:
    """The bundled classifier with a forward that computes nothing."""
    import torch

    import assay

    model: Any = assay.load("sst2")
    model.model.forward = lambda input_ids, attention_mask: type(
        "Out", (), {"logits": torch.zeros(len(input_ids), 2)}
    )()
    inside = getattr(model, "network", None)
    if inside is None:  # as it was before models were composed
        model._takes = {"input_ids", "attention_mask"}
    else:
        inside.takes = {"input_ids", "attention_mask"}
    model.preferred_tokens = 65_536
    return model


def jobs(texts: int) -> dict[str, Callable[[], Any]]:
    """What can be run here: each job explains its texts, and returns the explanations."""
    import assay
    from texts import sentences

    def job(make: Callable[[], Any], given: Sequence[str], method: str, settings: Any) -> Callable[[], Any]:
        opened: list[Any] = []

        def run() -> Any:
            opened or opened.append(make())
            return assay.explain(opened[0], list(given), method, progress=False, **settings)

        return run

    same = sentences(texts, 20, 20)
    engines = {"function": lambda: assay.load(constant), "classifier": instant_classifier}
    made = {name: job(make, same, "leave_one_out", {}) for name, make in engines.items()}
    for name, (n, method, settings) in RACES.items():
        made[name] = job(lambda: assay.load("sst2"), sentences(n), method, settings)
    return made


def serve(name: str, texts: int) -> None:
    """Run the job once for every line that comes in, and print its microseconds a row."""
    import torch

    torch.set_num_threads(1)
    run = jobs(texts)[name]
    run()  # opens the model, fills its tables
    for _ in sys.stdin:
        began = process_time()
        told = run()
        spent = process_time() - began
        print(spent / sum(e.about.cost.sequences for e in told) * 1e6, flush=True)


class State:
    """A process that runs a job of the code in this directory."""

    def __init__(self, place: Path, name: str, texts: int) -> None:
        path = os.pathsep.join(str(place / part) for part in ("src", "zoo/src"))
        command = [sys.executable, __file__, str(place), "--serve", name, "--texts", str(texts)]
        environment = {**os.environ, "PYTHONPATH": path, "HF_HUB_OFFLINE": "1"}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def turn(self) -> float:
        """Microseconds a row."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def compare(before: Path, name: str, turns: int, texts: int) -> str:
    """A line about one job: the median of each state, of the ratios, and their spread."""
    states = State(before, name, texts), State(Path(__file__).resolve().parents[1], name, texts)
    try:
        times = [tuple(state.turn() for state in _either_way(states, i)) for i in range(turns)]
    finally:
        for state in states:
            state.close()
    pairs = [pair if i % 2 == 0 else pair[::-1] for i, pair in enumerate(times)]
    ratios = sorted(new / old for old, new in pairs)
    old, new = (median(side) for side in zip(*pairs, strict=True))
    spread = f"{ratios[0]:.2f} to {ratios[-1]:.2f}"
    return f"  {name:<22} {old:9.1f} {new:9.1f} microseconds a row   {median(ratios):.3f} ({spread})"


def _either_way(states: Sequence[State], i: int) -> Iterable[State]:
    """Each goes first as often as the other."""
    return states if i % 2 == 0 else states[::-1]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("before", type=Path, help="a checkout of the other state")
    arguments.add_argument("--turns", type=int, default=7)
    arguments.add_argument("--texts", type=int, default=400, help="for the two models that answer at once")
    arguments.add_argument("--only", default="", help=f"some of function, classifier, {', '.join(RACES)}")
    arguments.add_argument("--serve", default="", help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.serve:
        return serve(given.serve, given.texts)
    print(f"{given.turns} turns each, one core: before, now, and the ratio of now to before (median, spread)")
    for name in given.only.split(",") if given.only else ["function", "classifier", *RACES]:
        print(compare(given.before.resolve(), name, given.turns, given.texts), flush=True)
    return None


if __name__ == "__main__":
    main()

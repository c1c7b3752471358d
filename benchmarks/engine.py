"""The engine's own cost: leave-one-out over many texts with models that answer at once.

    python benchmarks/engine.py [--texts 2000]

Two models: a function (strings all the way), and a transformers classifier whose forward returns zeros (ids, padding
and tensors are made as for a real one). Printed are microseconds per row on one core, and resident memory for 1,000
and 20,000 streamed texts.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from time import perf_counter
from typing import Any

import numpy as np
import torch

import assay
from texts import sentences


def constant(texts: list[str]) -> np.ndarray[Any, Any]:
    """A model that answers at once."""
    return np.full((len(texts), 2), 0.5)


def instant_classifier() -> Any:
    """The bundled classifier with a forward that computes nothing."""
    model = assay.load("sst2")
    model.model.forward = lambda input_ids, attention_mask: type(
        "Out", (), {"logits": torch.zeros(len(input_ids), 2)}
    )()
    model.network.takes = {"input_ids", "attention_mask"}
    model.preferred_tokens = 65_536
    return model


def per_row(model: Any, texts: list[str]) -> float:
    """Microseconds a row, the best of three."""
    times = []
    for _ in range(3):
        began = perf_counter()
        told = assay.explain(model, texts, "leave_one_out", progress=False)
        rows = sum(e.about.cost.sequences for e in told)
        times.append((perf_counter() - began) / rows * 1e6)
    return min(times)


def streamed(n: int) -> None:
    """Print the peak of resident memory after streaming n texts, in MB."""
    model = assay.load(constant)
    for outcome in assay.stream(model, sentences(n, 20, 20), "leave_one_out"):
        outcome.get()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--texts", type=int, default=2000)
    arguments.add_argument("--streamed", type=int, default=0, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.streamed:
        return streamed(given.streamed)
    torch.set_num_threads(1)
    texts = sentences(given.texts, 20, 20)
    print(f"leave_one_out over {len(texts)} texts of 20 words, one core")
    print(f"  function that answers at once      {per_row(assay.load(constant), texts):6.1f} microseconds a row")
    print(f"  classifier that answers at once    {per_row(instant_classifier(), texts):6.1f} microseconds a row")
    for n in (1_000, 20_000):
        peak = subprocess.run(
            [sys.executable, __file__, "--streamed", str(n)], capture_output=True, text=True, check=True
        )
        print(f"  peak memory, {n:>6} streamed texts  {int(peak.stdout):6d} MB")
    return None


if __name__ == "__main__":
    main()

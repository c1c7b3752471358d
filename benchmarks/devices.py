"""Whether a card gives the scores that the CPU gives: methods that score words, on the bundled classifiers.

    python benchmarks/devices.py [--device cuda] [--texts 12] [--models sst2,snli] [--only lime,gradient]

For each method the largest difference between the two, as a share of the largest score of its text. Methods that draw
samples draw the same ones on both.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch

import assay
from texts import sentences

METHODS: dict[str, dict[str, Any]] = {
    "gradient": {},
    "input_x_gradient": {},
    "integrated_gradients": {},
    "integrated_gradients (50 steps)": {"steps": 50},
    "smooth_grad": {},
    "leave_one_out": {},
    "input_marginalization": {},
    "lime": {"samples": 200},
    "kernel_shap": {"samples": 128},
    "partition_shap": {},
    "attn_lrp": {},
    "attention": {},
    "attention_rollout": {},
    "value_zeroing": {},
}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--device", default="cuda")
    arguments.add_argument("--texts", type=int, default=12)
    arguments.add_argument("--models", default="sst2,snli")
    arguments.add_argument("--only", default="")
    given = arguments.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    wanted = [name for name in METHODS if not given.only or name.split(" (")[0] in given.only.split(",")]
    for model in given.models.split(","):
        for method in wanted:
            worst = apart(model, method, asked(model, given.texts), given.device)
            print(f"{model:6} {method:32} {worst:.1e}", flush=True)


def asked(model: str, count: int) -> Sequence[Any]:
    """Sentences, or pairs of them where the model reads pairs."""
    lines = sentences(count + 1, seed=5)
    return list(pairwise(lines)) if model == "snli" else lines[:count]


def apart(model: str, method: str, texts: Sequence[Any], device: str) -> float:
    """The largest difference of a score on both devices, as a share of the largest one of its text."""
    name, settings = method.split(" (")[0], METHODS[method]
    here, there = (
        assay.explain(assay.load(model, device=place), texts, method=name, progress=False, **settings)
        for place in ("cpu", device)
    )
    pairs = [(np.asarray(a.scores, float), np.asarray(b.scores, float)) for a, b in zip(here, there, strict=True)]
    return max(float(np.abs(a - b).max() / np.abs(a).max()) for a, b in pairs)


if __name__ == "__main__":
    main()

"""Adversarial attention over many texts: all of them together against one text at a time, in one run.

    python benchmarks/adversary.py --data sst.csv --model DIR [--texts 1725] [--sample 8] [--steps 500] [--k 5]

The same search for the same attentions (Jain and Wallace 2019, Algorithm 3), through the engine both times; one text at
a time is timed on a sample spread evenly over the lengths, and both are told per text. The data are a table with the
columns text and, if texts are to be chosen by it, exp_split. That both found the same is checked.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
import torch

import assay
from assay.checks.adversarial_attention import AdversarialAttention
from assay.engine.engine import Engine
from assay.explanations.token_scores import TokenScores


def texts_of(path: Path, split: str, least: int) -> list[str]:
    """The texts of a split, longer than so many words, as the paper's authors chose them."""
    table = pd.read_csv(path)
    chosen = table[table["exp_split"] == split] if "exp_split" in table else table
    return [text for text in chosen["text"].astype(str) if len(text.split()) > least]


def seconds(engine: Engine, check: AdversarialAttention, maps: list[TokenScores]) -> tuple[float, list[float]]:
    """The time for these maps together, and their scores."""
    began = perf_counter()
    scores = [outcome.get().score for outcome in engine.run(check.examine(e) for e in maps)]
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return perf_counter() - began, scores


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--data", type=Path, required=True)
    arguments.add_argument("--model", required=True)
    arguments.add_argument("--split", default="test")
    arguments.add_argument("--longer-than", type=int, default=5)
    arguments.add_argument("--texts", type=int, default=None)
    arguments.add_argument("--sample", type=int, default=8)
    arguments.add_argument("--steps", type=int, default=500)
    arguments.add_argument("--k", type=int, default=5)
    arguments.add_argument("--threads", type=int, default=None)
    given = arguments.parse_args()
    if given.threads:
        torch.set_num_threads(given.threads)
    model: Any = assay.load(given.model)
    texts = texts_of(given.data, given.split, given.longer_than)[: given.texts]
    engine, check = Engine(model), AdversarialAttention(k=given.k, steps=given.steps)
    maps = assay.explain(model, list(texts), "attention", engine=engine, progress=False)
    seconds(engine, AdversarialAttention(k=given.k, steps=5), maps[:20])  # to warm up
    together, scores = seconds(engine, check, maps)
    order = np.argsort([len(e.text) for e in maps], kind="stable")
    sample = order[np.linspace(0, len(order) - 1, min(given.sample, len(order))).round().astype(int)]
    alone = [seconds(engine, check, [maps[i]]) for i in sample]
    each, one = together / len(maps), float(np.mean([took for took, _ in alone]))
    apart = max(abs(found[0] - scores[i]) for i, (_, found) in zip(sample, alone, strict=True))
    print(f"{len(maps)} texts, k={given.k}, {given.steps} steps, {torch.get_num_threads()} threads, {model.device}")
    print(f"together          {together:8.1f} s   {1e3 * each:8.1f} ms a text")
    print(f"one at a time     {len(alone)} texts   {1e3 * one:8.1f} ms a text")
    print(f"ratio             {one / each:8.1f}   (largest difference of a JSD: {apart:.1e})")
    print(
        f"mean epsilon-max JSD {np.mean(scores):.3f}, above 0.4 in {np.mean(np.array(scores) > 0.4):.1%} of the texts"
    )


if __name__ == "__main__":
    main()

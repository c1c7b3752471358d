"""Mediation of a concept by all heads of a causal model on a GPU: the effects, and the time beside the bare rows.

    ASSAY_WRITER=DIR python benchmarks/mediation_gpu.py --data DIR [--pairs 200] [--device cuda]

The model is the base of the bundled writer (SmolLM2-135M-Instruct), from the directory that ASSAY_WRITER names. The
pairs are templates of Vig et al. (2020) with professions that have as many pieces as "man" or "woman", drawn by the
seed. For every head the indirect and the direct effect, of both words: four rows a head and pair. The floor is what as
many rows of the same lengths cost in the bare model, packed in the same way, with logits at the last piece only.
Printed: the total effect, the share of the heads that carry half of it with its interval, the strongest heads, the
greedy set, mediation_sum, and the ratio of the times (median of `--turns`, after one to warm up).
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import assay
from assay.data.concepts import PAIRS
from assay.data.published_places import published_place
from assay.engine.engine import Engine
from assay.explanations.effects import Effects
from assay.text.sample import Sample
from bare import Recorder


def loaded(place: str, device: str) -> Any:
    """The model and its tokenizer, without any package beside the core."""
    network = AutoModelForCausalLM.from_pretrained(place, dtype=torch.float32, local_files_only=True).to(device).eval()
    tokenizer = AutoTokenizer.from_pretrained(place, local_files_only=True)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return assay.load((network, tokenizer), device=device)


def pairs_of(data: Path, concept: str, tokenizer: Any, count: int, seed: int) -> Sample:
    """Pairs whose two texts have as many pieces, so that all of them count."""
    os.environ.setdefault("ASSAY_DATA", str(data))
    reader, places = PAIRS[concept]
    found = list(reader(published_place(concept, "", places, "concept")))
    pieces = [[len(tokenizer(text)["input_ids"]) for text in (pair.base, pair.changed)] for pair in found]
    equal = [pair for pair, (one, other) in zip(found, pieces, strict=True) if one == other]
    drawn = sorted(np.random.default_rng(seed).permutation(len(equal))[:count].tolist())
    print(f"{concept}: {len(equal):,} of {len(found):,} pairs have texts of one length; {len(drawn)} of them are drawn")
    rows = [((equal[i].base, equal[i].changed), f"{equal[i].word}|{equal[i].against}") for i in drawn]
    return Sample.of(rows, name=concept)


class BareRows:
    """Rows of these lengths, longest first, packed to the model's budget; logits at the last piece only."""

    def __init__(self, network: Any, lengths: list[int], budget: int) -> None:
        self.network, self.budget = network, budget
        self.lengths = sorted(lengths, reverse=True)
        self.device = next(network.parameters()).device
        self.ids = torch.randint(1000, 2000, (1, max(lengths)), device=self.device)

    @torch.no_grad()
    def run(self) -> None:
        at = 0
        while at < len(self.lengths):
            longest = self.lengths[at]
            batch = self.lengths[at : at + max(1, self.budget // longest)]
            sizes = torch.tensor(batch, device=self.device)[:, None]
            mask = (torch.arange(longest, device=self.device) < sizes).long()
            ids = self.ids[:, :longest].expand(len(batch), -1)
            self.network(input_ids=ids, attention_mask=mask, logits_to_keep=1)
            at += len(batch)


def timed(job: Callable[[], object], device: str, turns: int) -> float:
    times = []
    for _ in range(turns + 1):
        began = perf_counter()
        job()
        if device != "cpu":
            torch.cuda.synchronize()
        times.append(perf_counter() - began)
    return median(times[1:] or times)


def told(e: Effects) -> None:
    half = e.half
    print(f"total effect {e.total.shown()} over {e.total.n} pairs")
    if half is not None:
        heads = len(e.ranked)
        edges = f"{half.low * heads:.0f} to {half.high * heads:.0f}"
        print(f"half of it: {half.value * heads:.0f} of {heads} heads, {half.value:.2%}; 95 % interval {edges} heads")
    for layer, head in e.ranked[:8]:
        low, high = e.intervals[layer, head]
        share = e.effects[layer, head] / e.total.value
        print(f"  layer {layer:>2} head {head}   {e.effects[layer, head]:+.3f} [{low:+.3f}, {high:+.3f}]   {share:.1%}")
    greedy = ", ".join(f"{one.layer}.{one.unit} {one.effect / e.total.value:.1%}" for one in e.chosen)
    print(f"one after the other: {greedy or 'not asked'}; direct and indirect miss the total by {e.missed:.1%}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--data", type=Path, required=True)
    arguments.add_argument("--concept", default="professions")
    arguments.add_argument("--pairs", type=int, default=200)
    arguments.add_argument("--greedy", type=int, default=5)
    arguments.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    arguments.add_argument("--turns", type=int, default=2)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--profile", action="store_true")
    given = arguments.parse_args()
    place = os.environ.get("ASSAY_WRITER")
    if not place:
        sys.exit("set ASSAY_WRITER to the directory of the writer's base.")
    torch.backends.cuda.matmul.allow_tf32 = False
    model = loaded(place, given.device)
    sample = pairs_of(given.data, given.concept, model.tokenizer, given.pairs, given.seed)
    race(model, sample, given)


def race(model: Any, sample: Sample, given: argparse.Namespace) -> None:
    engine, settings = Engine(model), {"pairs": given.pairs, "progress": False, "seed": given.seed}
    found: list[Any] = []

    def ours() -> None:
        nonlocal engine
        engine = Engine(model)
        found[:] = [assay.describe(model, sample, "natural_indirect_effect", greedy=0, engine=engine, **settings)]

    seconds = timed(ours, given.device, given.turns)
    cost = engine.totals
    with Recorder(model) as needed:
        ours()
    floor = BareRows(model.model, needed.forward, model.preferred_tokens)
    bare = timed(floor.run, given.device, given.turns)
    name = torch.cuda.get_device_name() if given.device == "cuda" else "CPU"
    print(f"on {name}, torch {torch.__version__}, fp32: {cost.sequences:,} rows, {cost.tokens:,} tokens")
    print(f"ours {seconds:.2f} s, bare {bare:.2f} s, ratio {seconds / bare:.2f}", flush=True)
    if given.profile:
        profile = cProfile.Profile()
        profile.runcall(ours)
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)
    told(found[0])
    if given.greedy:
        settings |= {"greedy": given.greedy, "candidates": 12}
        told(assay.describe(model, sample, "natural_indirect_effect", engine=engine, **settings))
    for verdict in assay.check(
        model, sample, "natural_indirect_effect", "mediation_sum", engine=engine, progress=False
    ):
        print(verdict)


if __name__ == "__main__":
    main()

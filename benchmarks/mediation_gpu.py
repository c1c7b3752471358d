"""Mediation of a concept by all heads of a causal model: the effects, and the time beside the bare forward passes.

    python benchmarks/mediation_gpu.py --data DIR [--concept professions] [--pairs 200] [--device cuda] [--out DIR]

The model is the base of the bundled writer (SmolLM2-135M-Instruct). The pairs are templates of Vig et al. (2020) with
professions that have as many pieces as "man" or "woman" (or WinoBias, Winogender), drawn by the seed. For every head
the indirect and the direct effect. The floor: the batches that went through the model, again, with nothing around them:
the same numbers of rows and pieces, plain forward passes with the model's own attention, and the logits of as many
places. Where both words are read off one row, the floor has it once, too. Printed: the ratio of the times (median of
`--turns`, after one to warm up), the total effect, the share of the heads that carry half of it with its interval, the
strongest heads, the greedy set, mediation_sum. With `--out`, the figures go to DIR/mediation_CONCEPT.json, too.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import torch

import assay
from assay.checks.mediation_sum import MediationSum
from assay.data.concepts import PAIRS
from assay.data.published_places import published_place
from assay.engine.engine import Engine
from assay.explanations.effects import Effects
from assay.text.sample import Sample
from assay.verdicts.judge import judged


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


class BareBatches:
    """The batches of a run, recorded as they go through the model, then run again bare."""

    def __init__(self, model: Any) -> None:
        self.network = model.model
        self.shapes: list[tuple[int, int, int]] = []  # rows, pieces, places that are projected
        self.hooks = [
            self.network.base_model.register_forward_pre_hook(self._began, with_kwargs=True),
            self.network.lm_head.register_forward_pre_hook(self._projects),
        ]

    def _began(self, module: Any, args: Any, kwargs: dict[str, Any]) -> None:
        self.shapes.append((*kwargs["input_ids"].shape, 0))

    def _projects(self, module: Any, args: Any) -> None:
        rows, pieces, _ = self.shapes[-1]
        self.shapes[-1] = rows, pieces, args[0].numel() // args[0].shape[-1]

    def stop(self) -> None:
        for hook in self.hooks:
            hook.remove()

    @property
    def rows(self) -> int:
        return sum(rows for rows, _, _ in self.shapes)

    @property
    def tokens(self) -> int:
        return sum(rows * pieces for rows, pieces, _ in self.shapes)

    @torch.no_grad()
    def run(self) -> None:
        device = next(self.network.parameters()).device
        for rows, pieces, places in self.shapes:
            ids = torch.randint(1000, 2000, (rows, pieces), device=device)
            states = self.network.base_model(input_ids=ids, attention_mask=torch.ones_like(ids), use_cache=False)[0]
            if places:
                self.network.lm_head(states.reshape(rows * pieces, -1)[:places]).log_softmax(-1)


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
    arguments.add_argument("--out", type=Path)
    arguments.add_argument("--profile", action="store_true")
    given = arguments.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    model = assay.load("writer", device=given.device)
    sample = pairs_of(given.data, given.concept, model.tokenizer, given.pairs, given.seed)
    kept = raced(model, sample, given) | measured(model, sample, given)
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
        (given.out / f"mediation_{given.concept}.json").write_text(json.dumps(kept, indent=1))


def raced(model: Any, sample: Sample, given: argparse.Namespace) -> dict[str, Any]:
    def ours() -> Effects:
        settings = {"pairs": given.pairs, "progress": False, "seed": given.seed, "greedy": 0}
        found: Effects = assay.describe(model, sample, "natural_indirect_effect", engine=Engine(model), **settings)
        return found

    seconds = timed(ours, given.device, given.turns)
    bare = BareBatches(model)
    cost = ours().about.cost
    bare.stop()
    floor = timed(bare.run, given.device, given.turns)
    name = torch.cuda.get_device_name() if given.device == "cuda" else "CPU"
    print(f"on {name}, torch {torch.__version__}, fp32: {cost.sequences:,} rows are asked;")
    print(f"{bare.rows:,} rows of {bare.tokens:,} pieces go through the model in {len(bare.shapes):,} batches")
    print(f"ours {seconds:.2f} s, bare {floor:.2f} s, ratio {seconds / floor:.2f}", flush=True)
    if given.profile:
        profile = cProfile.Profile()
        profile.runcall(ours)
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)
    return {"device": name, "rows": bare.rows, "pieces": bare.tokens, "ours": seconds, "bare": floor}


def measured(model: Any, sample: Sample, given: argparse.Namespace) -> dict[str, Any]:
    """The effects with a greedy set, and the check."""
    engine = Engine(model)
    settings = {"pairs": given.pairs, "progress": False, "seed": given.seed}
    e: Effects = assay.describe(
        model, sample, "natural_indirect_effect", engine=engine, greedy=given.greedy, candidates=12, **settings
    )
    told(e)
    verdict = next(judged(engine, [e], [MediationSum()], draws=200, progress=False)).verdict()
    print(verdict, flush=True)
    return {"effects": e.to_dict(), "check": verdict.to_dict()}


if __name__ == "__main__":
    main()

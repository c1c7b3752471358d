"""Ours, the peer and the floor, side by side in one process, taking turns.

    OMP_WAIT_POLICY=PASSIVE python benchmarks/peers.py [--texts 64] [--repeats 3] [--model sst2]

The floor is what the same rows cost with nothing around them: ids made beforehand, sorted by length, packed to the
best of several token budgets, forward (and backward) only. A ratio to the floor of 1.0 means that explaining cost
nothing extra. The peer's integrated gradients are its own 50 steps; ours stop by themselves, and both report how far
they miss completeness.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import torch
from captum.attr import FeatureAblation, LayerGradientXActivation, LayerIntegratedGradients

import assay
from assay.ask import Predict
from assay.engine import Engine
from assay.erasers import Mask, each
from assay.explanation import Cost
from texts import sentences

BUDGETS = (256, 512, 768, 1024, 2048)
PER_EVAL = (1, 4, 16, 64)
Job = Callable[[], object]


@dataclass
class Peer:
    """The bare model with captum around it, one text at a time."""

    model: Any
    tokenizer: Any

    def ids(self, text: str) -> torch.Tensor:
        return self.tokenizer(text, return_tensors="pt")["input_ids"]

    def logit(self, ids: torch.Tensor, target: int) -> torch.Tensor:
        return self.model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[:, target]

    def target(self, ids: torch.Tensor) -> int:
        with torch.no_grad():
            return int(self.model(input_ids=ids).logits.argmax())

    def baseline(self, ids: torch.Tensor) -> torch.Tensor:
        base = torch.full_like(ids, self.tokenizer.pad_token_id)
        base[0, 0], base[0, -1] = ids[0, 0], ids[0, -1]
        return base

    def input_x_gradient(self, text: str) -> None:
        ids = self.ids(text)
        captum = LayerGradientXActivation(self.logit, self.model.get_input_embeddings())
        captum.attribute(ids, additional_forward_args=(self.target(ids),))

    def integrated_gradients(self, text: str) -> float:
        ids = self.ids(text)
        captum = LayerIntegratedGradients(self.logit, self.model.get_input_embeddings())
        _, miss = captum.attribute(
            ids, self.baseline(ids), additional_forward_args=(self.target(ids),), return_convergence_delta=True
        )
        with torch.no_grad():
            change = self.logit(ids, self.target(ids)) - self.logit(self.baseline(ids), self.target(ids))
        return abs(float(miss) / float(change))

    def feature_ablation(self, text: str, per_eval: int) -> None:
        ids, spans = self.ids(text), assay.Text.of(text).spans
        offsets = self.tokenizer(text, return_offsets_mapping=True)["offset_mapping"]
        words = [next((w for w, (a, b) in enumerate(spans) if s < b and a < e), len(spans)) for s, e in offsets]
        target = self.target(ids)
        base = torch.full_like(ids, self.tokenizer.mask_token_id)
        captum = FeatureAblation(lambda rows: self.logit(rows, target))
        with torch.no_grad():
            captum.attribute(ids, base, feature_mask=torch.tensor([words]), perturbations_per_eval=per_eval)


@dataclass
class Bare:
    """The same rows with nothing around them."""

    model: Any
    rows: list[torch.Tensor]

    def run(self, budget: int, backward: bool) -> None:
        order = sorted(self.rows, key=len, reverse=True)
        at = 0
        while at < len(order):
            batch = order[at : at + max(1, budget // len(order[at]))]
            ids = torch.nn.utils.rnn.pad_sequence(batch, batch_first=True)
            mask = (torch.arange(ids.shape[1]) < torch.tensor([[len(row)] for row in batch])).long()
            self._forward(ids, mask, backward)
            at += len(batch)

    def _forward(self, ids: torch.Tensor, mask: torch.Tensor, backward: bool) -> None:
        if not backward:
            with torch.no_grad():
                self.model(input_ids=ids, attention_mask=mask)
            return
        with torch.no_grad():
            embedded = self.model.get_input_embeddings()(ids)
        embedded.requires_grad_()
        logits = self.model(inputs_embeds=embedded, attention_mask=mask).logits
        torch.autograd.grad(logits[:, 0].sum(), embedded)


def timed(job: Job) -> float:
    began = perf_counter()
    job()
    return perf_counter() - began


def best(jobs: dict[Any, Job]) -> Any:
    """The fastest setting, tried once each."""
    times = {name: timed(job) for name, job in jobs.items()}
    return min(times, key=lambda name: times[name])


def compare(title: str, jobs: dict[str, Job], texts: int, repeats: int) -> dict[str, list[float]]:
    """Let the contestants take turns; print seconds a text and the ratio to ours, with the spread over the turns."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            times[name].append(timed(job))
    print(f"\n{title}")
    for name, seconds in times.items():
        ratios = sorted(a / b for a, b in zip(seconds, times["ours"], strict=True))
        spread = f"{median(ratios):5.2f}x ours ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        print(f"  {name:<32} {median(seconds) / texts * 1000:8.1f} ms a text   {spread}")
    return times


def ours(model: assay.TextModel, texts: list[str], method: str, kept: dict[str, Any], **settings: Any) -> Job:
    def job() -> None:
        engine = Engine(model)
        kept[method] = assay.explain(model, texts, method, engine=engine, progress=False, scalar="logit", **settings)
        kept[f"{method} cost"] = engine.totals

    return job


def said(cost: Cost) -> str:
    rows = f"rows asked {cost.sequences}, run {cost.forwards} ({cost.backwards} backward)"
    return f"{rows}, tokens with padding {cost.tokens}"


def gradients(model: Any, peer: Peer, texts: list[str], repeats: int) -> None:
    kept: dict[str, Any] = {}
    ids = [peer.ids(text)[0] for text in texts]
    predict, bare = Bare(peer.model, ids), Bare(peer.model, ids)
    forward = best({b: lambda b=b: predict.run(b, False) for b in BUDGETS})
    budget = best({b: lambda b=b: bare.run(b, True) for b in BUDGETS})
    jobs: dict[str, Job] = {
        "ours": ours(model, texts, "input_x_gradient", kept),
        "captum InputXGradient": lambda: [peer.input_x_gradient(text) for text in texts],
        f"floor ({budget} tokens a batch)": lambda: [predict.run(forward, False), bare.run(budget, True)],
    }
    compare("input_x_gradient (the target is predicted first, in all three)", jobs, len(texts), repeats)
    print("  ", said(kept["input_x_gradient cost"]))


def ablation(model: Any, peer: Peer, texts: list[str], repeats: int) -> None:
    kept: dict[str, Any] = {}
    rows = [row for text in map(assay.Text.of, texts) for row in _rows(model, text)]
    bare = Bare(peer.model, [torch.tensor(ids) for ids, _ in model.encoder.rows(rows)])
    tried = Bare(peer.model, bare.rows[::4])
    budget = best({b: lambda b=b: tried.run(b, False) for b in BUDGETS})
    some = texts[:8]
    per_eval = best({k: lambda k=k: [peer.feature_ablation(t, k) for t in some] for k in PER_EVAL})
    jobs: dict[str, Job] = {
        "ours": ours(model, texts, "leave_one_out", kept, eraser="mask"),
        "captum FeatureAblation": lambda: [peer.feature_ablation(t, 1) for t in texts],
        f"captum, {per_eval} per eval": lambda: [peer.feature_ablation(t, per_eval) for t in texts],
        f"floor ({budget} tokens a batch)": lambda: bare.run(budget, False),
    }
    compare("leave_one_out (mask)", jobs, len(texts), repeats)
    print("  ", said(kept["leave_one_out cost"]))


def _rows(model: Any, text: assay.Text) -> Sequence[Any]:
    """The rows that leave-one-out asks for: the text and each of its words masked."""
    try:
        next(Mask().erase(text, each(len(text))))
    except StopIteration as stop:
        return Predict(text, stop.value).rows(model)
    raise AssertionError("masking asks nothing")


def integrated(model: Any, peer: Peer, texts: list[str], repeats: int) -> None:
    kept: dict[str, Any] = {}
    job = ours(model, texts, "integrated_gradients", kept)
    job()
    told = kept["integrated_gradients"]
    rows = [peer.ids(text)[0] for text, e in zip(texts, told, strict=True) for _ in range(e.facts["steps"])]
    bare = Bare(peer.model, rows)
    tried = Bare(peer.model, rows[::8])
    budget = best({b: lambda b=b: tried.run(b, True) for b in BUDGETS})
    gaps: list[float] = []
    jobs: dict[str, Job] = {
        "ours": job,
        "captum IntegratedGradients (50)": lambda: gaps.extend([peer.integrated_gradients(t) for t in texts]),
        f"floor ({budget} tokens a batch)": lambda: bare.run(budget, True),
    }
    compare("integrated_gradients", jobs, len(texts), repeats)
    steps, own = np.array([e.facts["steps"] for e in told]), np.array([e.facts["gap"] for e in told])
    print("  ", said(kept["integrated_gradients cost"]))
    print(
        f"   gradient rows a text: ours {steps.mean():.1f} (most {steps.max()}), captum 50: "
        f"{50 / steps.mean():.2f}x fewer"
    )
    print(
        f"   completeness gap: ours median {np.median(own):.2%}, worst {own.max():.2%}; "
        f"captum median {np.median(gaps):.2%}, worst {max(gaps):.2%}"
    )


def long_text(who: str, name: str) -> None:
    """Explain one text of 250 words and print by how many MB the peak of memory grew."""
    model: Any = assay.load(name)
    text = sentences(1, 250, 250)[0]
    model.predict(["warm up"])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if who == "ours":
        assay.explain(model, text, "integrated_gradients")
    else:
        Peer(model.model, model.tokenizer).integrated_gradients(text)
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
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--model", default="sst2")
    arguments.add_argument("--only", default="", choices=["", "gradients", "ablation", "integrated"])
    arguments.add_argument("--long", default="", help=argparse.SUPPRESS)
    given = arguments.parse_args()
    torch.set_num_threads(given.threads)
    if given.long:
        return long_text(given.long, given.model)
    model: Any = assay.load(given.model)
    peer, texts = Peer(model.model, model.tokenizer), sentences(given.texts)
    print(
        f"{given.model}, {len(texts)} sentences of 8 to 40 words, {given.threads} threads, {given.repeats} turns each"
    )
    for race in (gradients, ablation, integrated):
        if given.only in ("", race.__name__):
            race(model, peer, texts, given.repeats)
    return memory(given.model)


if __name__ == "__main__":
    main()

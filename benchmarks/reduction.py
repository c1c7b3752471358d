"""Input reduction of SNLI hypotheses: all together, one text at a time, and the bare rows, in one run.

    python benchmarks/reduction.py --data DIR [--texts 1000] [--alone 50] [--device cuda]

DIR holds s1.dev, s2.dev and labels.dev. The floor is what the unique rows, recorded while ours ran, cost with nothing
around them: sorted by length over the whole run, packed to a budget of tokens, forward (and backward) only, at the best
of several budgets. One text at a time goes through the same code with nothing shared between texts. All turns must find
the same paths and the same shortest versions.
"""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path
from statistics import mean, median
from typing import Any

import torch

import assay
from assay.data.esnli import pairs
from assay.engine.engine import Engine
from assay.explanations.edits import Edits
from bare import Floor, Recorder
from race import Job, best, timed

BUDGETS = {"cpu": (256, 512, 1024, 2048), "cuda": (8192, 32_768, 131_072)}
METHOD = "input_reduction"


def together(model: Any, texts: list[Any], beam: int) -> list[Edits]:
    return assay.explain(model, texts, METHOD, beam=beam, engine=Engine(model), progress=False)


def alone(model: Any, texts: list[Any], beam: int) -> list[Edits]:
    return [together(model, [text], beam)[0] for text in texts]


def found(told: list[Edits]) -> list[Any]:
    """What must be the same however the texts were run."""
    return [([edit.kept for edit in e.edits], sorted(edit.kept for edit in e.shortest)) for e in told]


def synchronised(job: Job, device: str) -> Job:
    def run() -> None:
        job()
        if device != "cpu":
            torch.cuda.synchronize()

    return run


def race(model: Any, texts: list[Any], given: argparse.Namespace) -> None:
    with Recorder(model) as needed:
        told = together(model, texts, given.beam)
    some, every = Floor(model.model, needed, every=16), Floor(model.model, needed)
    kind = given.device.partition(":")[0]
    budget = best({b: synchronised(lambda b=b: some.run(b), kind) for b in BUDGETS[kind]})
    few, again = texts[: given.alone], list[list[Edits]]()
    jobs: dict[str, Job] = {
        "together": lambda: again.append(together(model, texts, given.beam)),
        "floor": lambda: every.run(budget),
        "few together": lambda: together(model, few, given.beam),
        "few alone": lambda: alone(model, few, given.beam),
    }
    turns = [{name: timed(synchronised(job, kind)) for name, job in jobs.items()} for _ in range(given.turns)]
    rows = f"{len(needed.forward):,} rows forward, {len(needed.backward):,} backward"
    print(f"{len(texts):,} texts, beam {given.beam}: {rows}; floor at {budget:,} tokens a batch")
    ratio("all texts together / floor", turns, "together", "floor", len(texts))
    ratio(f"{len(few)} texts one at a time / together", turns, "few alone", "few together", len(few))
    per_text = sorted(turn["few alone"] / len(few) * len(texts) / turn["together"] for turn in turns)
    spread = f"{median(per_text):.2f} ({per_text[0]:.2f} to {per_text[-1]:.2f})"
    print(f"{'a text alone / a text among all':<42} {spread}")
    same = sum(a == b for a, b in zip(found(alone(model, few, given.beam)), found(told), strict=False))
    whole = all(found(one) == found(told) for one in again)
    print(f"the same paths and shortest versions: {same} of {len(few)} texts alone; all texts again: {whole}")
    lengths(told)


def ratio(title: str, turns: list[dict[str, float]], above: str, below: str, texts: int) -> None:
    ratios = sorted(turn[above] / turn[below] for turn in turns)
    first, second = (median(turn[name] for turn in turns) * 1000 / texts for name in (above, below))
    spread = f"{median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
    print(f"{title:<42} {spread}   {first:.1f} and {second:.1f} ms a text")


def lengths(told: list[Edits]) -> None:
    before, after = [len(e.words) for e in told], [len(e.edits[-1].kept) for e in told]
    one = mean(n == 1 for n in after)
    print(f"words: {mean(before):.2f} before, {mean(after):.2f} after; {one:.1%} of the texts are reduced to one word")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--data", type=Path, required=True)
    arguments.add_argument("--texts", type=int, default=1000)
    arguments.add_argument("--alone", type=int, default=50)
    arguments.add_argument("--beam", type=int, default=5)
    arguments.add_argument("--turns", type=int, default=3)
    arguments.add_argument("--model", default="snli")
    arguments.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    given = arguments.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    texts = [example.text for example in islice(pairs(given.data, "dev"), given.texts)]
    model: Any = assay.load(given.model, device=given.device)
    cpu = f"CPU, {torch.get_num_threads()} threads"
    name = torch.cuda.get_device_name() if given.device.startswith("cuda") else cpu
    print(f"{given.model} on {name}, torch {torch.__version__}, fp32, {given.turns} turns")
    race(model, texts, given)


if __name__ == "__main__":
    main()

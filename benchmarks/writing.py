"""Writing on a CPU: tokens a second of the bundled writer beside transformers' own greedy search; and cage by the pair.

    python benchmarks/writing.py [--rows 3 30 90] [--threads 2] [--turns 5] [--data DIR]

The prompts are cage's: pairs of SNLI test (DIR/esnli_dev_test_nile) or made-up ones, each told its three labels.
transformers writes the same rows, padded on the left, in one batch, by the same weights, until the last row has ended.
Then cage on ten pairs together against each of them alone, with the writer open, as it is from the second call on, and
with opening it; and the floor of both: the same products of numbers by the writer's weights, in the same order and of
the same sizes, with nothing between them. Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

import assay
from assay.engine.engine import Engine
from assay.models import held
from assay.models.transformers import writing_fast
from assay.questions.base import Conversation
from assay.questions.generation import Generate, Generated
from texts import sentence

LABELS = ("entailment", "neutral", "contradiction")
MOST = 48
Product = tuple[torch.nn.Linear, int]  # a layer, and how many rows it is given


def pairs(many: int, data: Path | None) -> list[tuple[str, str]]:
    """Premises and hypotheses of SNLI test, or made-up ones of their length."""
    rng = random.Random(0)
    if data is not None:
        with lzma.open(data / "esnli_dev_test_nile/test.tsv.xz", "rt", encoding="utf-8") as file:
            rows = [line.split("\t") for line in file]
        return [(row[2], row[3]) for row in rng.sample(rows, many)]
    return [(sentence(rng, rng.randint(10, 22)), sentence(rng, rng.randint(5, 10))) for _ in range(many)]


def prompts(many: int, data: Path | None) -> list[str]:
    """Each pair told its labels one after the other."""
    choices = "The choices are entailment, neutral, or contradiction. The answer is"
    told = [f"premise: {a}\nhypothesis: {b}\n{choices} {c} because" for a, b in pairs(many, data) for c in LABELS]
    return told[:many]


def ours(engine: Engine, asked: Sequence[str]) -> int:
    """Write them all; how many tokens that were."""

    def ask(prompt: str) -> Conversation[list[Generated]]:
        return (yield Generate(prompt, max_tokens=MOST))

    return sum(outcome.get()[0].written for outcome in engine.run(map(ask, asked)))


def theirs(model: Any, tokenizer: Any, asked: Sequence[str]) -> None:
    """The same by transformers."""
    tokenizer.padding_side = "left"
    coded = tokenizer(list(asked), return_tensors="pt", padding=True)
    with torch.no_grad():
        model.generate(**coded, do_sample=False, max_new_tokens=MOST, pad_token_id=2, eos_token_id=2)


def seconds(do: Callable[[], Any], turns: int) -> float:
    """The median of several turns."""
    found = []
    for _ in range(turns):
        start = time.perf_counter()
        do()
        found.append(time.perf_counter() - start)
    return median(found)


def written(writer: Any, many: int, turns: int, data: Path | None) -> dict[str, float]:
    """Tokens a second, ours and theirs: every row's own tokens, and no padding."""
    asked = prompts(many, data)
    tokens = ours(Engine(writer), asked)
    own = seconds(lambda: ours(Engine(writer), asked), turns)
    other = seconds(lambda: theirs(writer.model, writer.tokenizer, asked), turns)
    return {"rows": many, "tokens_s": tokens / own, "transformers_tokens_s": tokens / other, "times": other / own}


@contextmanager
def noting() -> Iterator[list[Product]]:
    """The products by weights that are taken within it, one after the other."""
    found: list[Product] = []
    plain = writing_fast._product

    def noted(layer: torch.nn.Linear, x: torch.Tensor) -> torch.Tensor:
        found.append((layer, x.numel() // layer.in_features))
        return plain(layer, x)

    with patch.object(writing_fast, "_product", noted):
        yield found


@torch.no_grad()
def again(found: Sequence[Product]) -> float:
    """Seconds of these products with nothing between them."""
    inputs = {(layer.in_features, rows): torch.randn(rows, layer.in_features) for layer, rows in found}
    start = time.perf_counter()
    for layer, rows in found:
        writing_fast._product(layer, inputs[layer.in_features, rows])
    return time.perf_counter() - start


def timed(model: Any, texts: Sequence[Any], *, opening: bool) -> tuple[float, float]:
    """Seconds a pair of cage, and of its products alone."""
    if opening:
        held.forget()
    with noting() as found:
        start = time.perf_counter()
        assay.explain(model, list(texts), "cage", progress=False)
        spent = time.perf_counter() - start
    return spent / len(texts), 0.0 if opening else again(found) / len(texts)


def by_the_pair(turns: int, data: Path | None) -> dict[str, float]:
    """Seconds of cage for one pair alone, and for the same pairs ten at a time: with the writer open, and with opening.

    Each call has an engine of its own, which knows no answers. Alone, a turn is the mean of its ten pairs; with opening
    it is one of them. Of the calls with the writer open the products are taken again: the floor.
    """
    model = assay.load("snli")
    every = pairs(2 + 10 * turns, data)
    assay.explain(model, every[:2], "cage", progress=False)
    found: dict[str, float] = {}
    for name, opening in (("warm", False), ("opening", True)):
        ones, tens = [], []
        for turn in range(turns):
            ten = every[2 + 10 * turn : 12 + 10 * turn]
            ones.append(np.mean([timed(model, [one], opening=opening) for one in ten[: 1 if opening else 10]], axis=0))
            tens.append(timed(model, ten, opening=opening))
        for k, what in enumerate((name,) if opening else (name, "floor")):
            times = [one[k] / ten[k] for one, ten in zip(ones, tens, strict=True)]
            found |= {f"{what}_one_s": median(one[k] for one in ones), f"{what}_of_ten_s": median(t[k] for t in tens)}
            found |= {f"{what}_times": median(times)}
            found |= {f"{what}_times_least": min(times), f"{what}_times_most": max(times)}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[3, 30, 90])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--data", type=Path)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    writer = assay.load("writer:explainer")
    ours(Engine(writer), prompts(3, given.data))
    found: dict[str, Any] = {"written": [written(writer, many, given.turns, given.data) for many in given.rows]}
    found |= by_the_pair(given.turns, given.data)
    print(json.dumps(found, indent=1, default=float))


if __name__ == "__main__":
    main()

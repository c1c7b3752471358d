"""Writing on a CPU: tokens a second of the bundled writer beside transformers' own greedy search; and cage by the pair.

    python benchmarks/writing.py [--rows 3 30 90] [--threads 2] [--turns 5] [--data DIR]

The prompts are cage's: pairs of SNLI test (DIR/esnli_dev_test_nile) or made-up ones, each told its three labels.
transformers writes the same rows, padded on the left, in one batch, by the same weights, until the last row has ended.
Then cage on ten pairs together against each of them alone, with the writer open, as it is from the second call on, and
with opening it. Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import torch

import assay
from assay.engine.engine import Engine
from assay.models import held
from assay.questions.base import Conversation
from assay.questions.generation import Generate, Generated
from texts import sentence

LABELS = ("entailment", "neutral", "contradiction")
MOST = 48


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


def by_the_pair(turns: int, data: Path | None) -> dict[str, float]:
    """Seconds of cage for one pair alone, and for the same pairs ten at a time: with the writer open, and with opening.

    Each call has an engine of its own, which knows no answers. Alone, a turn is the mean of its ten pairs; with opening
    it is one of them.
    """
    model = assay.load("snli")
    every = pairs(2 + 10 * turns, data)
    assay.explain(model, every[:2], "cage", progress=False)

    def cage(texts: Sequence[Any]) -> float:
        start = time.perf_counter()
        assay.explain(model, list(texts), "cage", progress=False)
        return time.perf_counter() - start

    found: dict[str, float] = {}
    for name, opening in (("warm", False), ("opening", True)):
        ones, tens, times = [], [], []
        for turn in range(turns):
            ten = every[2 + 10 * turn : 12 + 10 * turn]
            spent: list[float] = []
            for some in (*([one] for one in ten[: 1 if opening else 10]), ten):
                if opening:
                    held.forget()
                spent.append(cage(some) / len(some))
            ones, tens = [*ones, sum(spent[:-1]) / len(spent[:-1])], [*tens, spent[-1]]
            times.append(ones[-1] / tens[-1])
        found |= {f"{name}_one_s": median(ones), f"{name}_of_ten_s": median(tens), f"{name}_times": median(times)}
        found |= {f"{name}_times_least": min(times), f"{name}_times_most": max(times)}
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

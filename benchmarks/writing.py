"""Writing on a CPU: tokens a second of the bundled writer beside transformers' own greedy search; and cage by the pair.

    python benchmarks/writing.py [--rows 3 30 90] [--threads 2] [--turns 3] [--data DIR]

The prompts are cage's: pairs of SNLI test (DIR/esnli_dev_test_nile) or made-up ones, each told its three labels.
transformers writes the same rows, padded on the left, in one batch, by the same weights, until the last row has ended.
Then cage on ten pairs together against one pair alone, both with the writer loaded, and as a user calls it, where the
writer is loaded each time. Prints JSON.
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
    """Seconds of cage for one pair alone, and for each of ten."""
    model = assay.load("snli")
    engine = Engine(model)
    every = pairs(2 + 11 * turns, data)
    assay.explain(None, every[:2], "cage", engine=engine, progress=False)

    def cage(texts: Sequence[Any], warm: bool) -> float:
        with_engine = {"engine": engine} if warm else {}
        start = time.perf_counter()
        assay.explain(None if warm else model, list(texts), "cage", progress=False, **with_engine)
        return time.perf_counter() - start

    found: dict[str, float] = {}
    for name, warm in (("warm", True), ("called", False)):
        fresh = iter(every[2:])  # the engine knows what it was asked before
        texts = [[next(fresh) for _ in range(size)] for _ in range(turns) for size in (1, 10)]
        if not warm:
            texts = texts[:2]
        spent = [cage(one, warm) / len(one) for one in texts]
        found |= {f"{name}_one_s": median(spent[::2]), f"{name}_of_ten_s": median(spent[1::2])}
        found[f"{name}_times"] = found[f"{name}_one_s"] / found[f"{name}_of_ten_s"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[3, 30, 90])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=3)
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

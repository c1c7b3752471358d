"""Eight threads, four methods, one model: bit-identical to one thread, and a ninth thread's own forwards untouched.

    python benchmarks/threads.py [--explanations 200] [--threads 8] [--model sst2]

Every thread explains as many texts by each of the four methods, one text a call, as a server does, each beginning with
another method: two ask for predictions or attention, two for gradients, so that every pair of them meets. The texts are
short: what is tested is the meeting of threads and not the work between. A ninth thread calls the model itself, as
its user would, and compares with what it answered before. Printed are how many maps and how many forwards came out
otherwise, and the time of one thread and of all; exit status 1 if one did.
"""

from __future__ import annotations

import argparse
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, product
from time import perf_counter, sleep
from typing import Any

import torch

import assay

METHODS: dict[str, dict[str, Any]] = {
    "leave_one_out": {},
    "input_x_gradient": {},
    "attention": {},
    "integrated_gradients": {"steps": 8},
}
WHAT = [
    "the plot",
    "the ending",
    "her voice",
    "this film",
    "the camera",
    "a sequel",
    "every joke",
    "the cast",
    "his debut",
]
WHAT += ["the music", "the script", "that scene", "the villain", "my patience", "their love story", "the pace"]
DOES = [
    "drags .",
    "shines",
    "is a mess",
    "never dies !",
    "works",
    "falls flat .",
    "is pure joy",
    "lost me ,",
    "grew on me",
]
DOES += ["is not bad", "wins", "was dull , sadly", "surprises us ."]


def short_texts(n: int) -> list[str]:
    """Texts of three to six words, no two the same."""
    texts = [f"{what} {does}" for what, does in islice(product(WHAT, DOES), n)]
    if len(texts) < n:
        sys.exit(f"threads.py has {len(texts)} texts: --explanations {n} is more.")
    return texts


def maps(model: Any, name: str, texts: list[str]) -> list[bytes]:
    return [assay.explain(model, text, name, progress=False, **METHODS[name]).scores.tobytes() for text in texts]


class Ninth:
    """The user's own forwards, one after the other until the others have ended."""

    def __init__(self, model: Any, texts: list[str]) -> None:
        self.net, self.inputs = model.model, [model.tokenizer(text, return_tensors="pt") for text in texts]
        self.before = [self.forward(one) for one in self.inputs]
        self.ended, self.seen, self.other = threading.Event(), 0, 0

    def forward(self, inputs: Any) -> bytes:
        with torch.no_grad():
            return bytes(self.net(**inputs).logits.numpy().tobytes())

    def __call__(self) -> None:
        while not self.ended.is_set():
            i = self.seen % len(self.inputs)
            self.other += self.forward(self.inputs[i]) != self.before[i]
            self.seen += 1
            sleep(0.05)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--explanations", type=int, default=200)
    arguments.add_argument("--threads", type=int, default=8)
    arguments.add_argument("--model", default="sst2")
    given = arguments.parse_args()
    model, texts = assay.load(given.model), short_texts(given.explanations)
    ninth = Ninth(model, texts[:8])
    began = perf_counter()
    alone = {name: maps(model, name, texts) for name in METHODS}
    one = perf_counter() - began

    def explained(first: int) -> int:
        names = [*list(METHODS)[first:], *list(METHODS)[:first]]
        return sum(a != b for name in names for a, b in zip(maps(model, name, texts), alone[name], strict=True))

    with ThreadPoolExecutor(given.threads + 1) as pool:
        watching = pool.submit(ninth)
        began = perf_counter()
        try:
            wrong = sum(pool.map(explained, [i % len(METHODS) for i in range(given.threads)]))
        finally:
            ninth.ended.set()
        both = perf_counter() - began
        watching.result()
    total = given.threads * len(METHODS) * len(texts)
    print(f"{given.threads} threads, {len(METHODS)} methods, {len(texts)} explanations each, {given.model}")
    print(f"  maps that differ from one thread's    {wrong} of {total}")
    print(f"  the user's own forwards that differ   {ninth.other} of {ninth.seen}")
    print(f"  one thread {one:.1f} s, all {both:.1f} s: {both / one / given.threads:.2f} of {given.threads} times one")
    sys.exit(bool(wrong or ninth.other))


if __name__ == "__main__":
    main()

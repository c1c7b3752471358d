"""Hostile texts over methods and models: counts crashes, numbers that are none, and markup or signs that get through.

    python tests/fuzz/campaign.py --seconds 300         every explanation is drawn from --seed and its number
    python tests/fuzz/campaign.py --first 1234 --count 1         the same one again

A refusal is a fine answer: an AssayError of one line, unless the model itself failed. Everything else is a finding,
and makes the exit code 1.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from io import StringIO
from time import monotonic
from typing import Any

import numpy as np
import tiny
import torch
from rich.console import Console

import assay
from assay.errors import ModelFailed
from assay.explanations.case import Case
from assay.models.loading import bundled
from assay.registry.finding import methods
from assay.views import page, terminal
from contracts.common import engine, quick, word_counter
from fuzz.hostile_texts import hostile

METHODS = {name: card for name, card in methods().items() if card.reads is Case}
FAMILIES: Mapping[str, Callable[[], Any]] = {
    **{name: lambda build=build: assay.load(build()) for name, build in tiny.FAMILIES.items()},
    "causal_lm": lambda: assay.load(tiny.causal_lm()),
    "masked_lm": lambda: assay.load(tiny.masked_lm()),
    "token_tagger": lambda: assay.load(tiny.token_tagger()),
    "seq2seq": lambda: assay.load(tiny.seq2seq()),
    "attentive": lambda: assay.load(tiny.attentive()),
}
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u206f\u200e\u200f\u061c]")
# What our pages are made of; anything else came out of a text.
TAGS = {
    *"html head meta title style body main article section header h1 h2 h3 h4 p div span b small s u bdi".split(),
    *"details summary table thead tbody tr th td del ins".split(),
}


@dataclass
class Tally:
    """What came out of a campaign."""

    outcomes: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        yield f"{sum(self.outcomes.values()):,} texts: " + ", ".join(
            f"{n:,} {name}" for name, n in self.outcomes.items()
        )
        yield "refused: " + ", ".join(f"{n:,} {name}" for name, n in self.refusals.most_common())
        yield from self.findings


class _Tags(HTMLParser):
    """The elements that a browser would find and we did not write."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.foreign: list[str] = []
        self.styles = 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.styles += tag == "style"
        self.foreign += [tag] if tag not in TAGS else []
        self.foreign += [name for name, _ in attrs if name.startswith("on") or name in ("src", "href")]


@cache
def _model(name: str) -> Any:
    return FAMILIES[name]() if name in FAMILIES else assay.load(name)


def _chosen(rng: random.Random, names: list[str]) -> Any:
    """A model; the black box is made anew, with hostile names."""
    name = rng.choice([*names, "black_box"])
    if name != "black_box":
        return _model(name)
    names = [" ".join(hostile(rng).split()) + end for end in ("", "0", "1")]
    return assay.BlackBox(word_counter, labels=names[1:], name=names[0] or "box")


def _text(rng: random.Random, model: Any) -> Any:
    """A text for each field; the second is often a word of the first, which taggers and language models ask for."""
    # The bundled models have long windows, which some methods take minutes to fill.
    first, fields = hostile(rng)[: 200 if model.name in bundled() else None], len(model.fields)
    if fields == 1:
        return first
    words = first.split() or ["film"]
    return first, *(rng.choice([hostile(rng), rng.choice(words), "film"]) for _ in range(fields - 1))


def one(seed: int, number: int, names: list[str], only: Sequence[str] = ()) -> tuple[str, str]:
    """One explanation: its outcome, and what there is to say about it."""
    rng = random.Random(f"{seed} {number}")
    model, method = _chosen(rng, names), rng.choice(sorted(only or METHODS))
    text = _text(rng, model)
    told = f"number {number}: {method} of {model.name!a:.40} on {text!a:.150}"
    try:
        e = assay.explain(
            model, text, method, engine=engine(model), progress=False, seed=seed, **quick(METHODS[method])
        )
    except ModelFailed as error:
        return "failed within the model", f"{told}: {error!a:.300}"
    except assay.AssayError as error:
        lined = "\n" not in str(error)
        return ("refused", type(error).__name__) if lined else ("refused in several lines", f"{told}: {error!r}")
    except Exception as error:
        return "crashed", f"{told}: {type(error).__name__}: {error!a:.300}"
    found = next(filter(None, (_numbers(e), _pages(e), _terminal(e))), "")
    return (found, told) if found else ("explained", "")


def _numbers(e: Any) -> str:
    told = e.to_dict()
    if any(not math.isfinite(x) for x in _leaves({**told, "facts": {}})):
        return "NaN without a name"
    return "" if json.loads(json.dumps(told)) == told else "JSON that does not come back"


def _leaves(value: Any) -> Iterator[float]:
    if isinstance(value, float | np.floating):
        yield float(value)
    elif isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _leaves(part)


def _pages(e: Any) -> str:
    for html in (e.to_html(), page([e])):
        read = _Tags(html)
        if read.foreign or read.styles != 1:
            return f"injected {read.foreign[:3]}"
        if re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", html):
            return "steering sign on a page"
    return ""


def _terminal(e: Any) -> str:
    stream = StringIO()
    Console(file=stream, width=80, color_system=None, markup=False).print(terminal.explained([e]))
    return "steering sign in a terminal" if STEERS.search(stream.getvalue()) else ""


def campaign(
    names: list[str],
    *,
    seed: int = 0,
    first: int = 0,
    count: int = 10**9,
    seconds: float = 1e9,
    methods: Sequence[str] = (),
) -> Tally:
    """Explanations until their number or the time is used up, by all methods or by these."""
    tally, began, number = Tally(), monotonic(), first
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while number < first + count and monotonic() - began < seconds:
            outcome, told = one(seed, number, names, methods)
            tally.outcomes[outcome] += 1
            if outcome == "refused":
                tally.refusals[told] += 1
            elif outcome != "explained":
                tally.findings.append(f"{outcome}: {told}")
            number += 1
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, kind, usual in (("seed", int, 0), ("first", int, 0), ("count", int, 10**9), ("seconds", float, 300.0)):
        parser.add_argument(f"--{name}", type=kind, default=usual)
    parser.add_argument(
        "--methods", nargs="*", default=(), choices=sorted(METHODS), help="names; all of them by default"
    )
    torch.set_num_threads(1)
    tally = campaign([*FAMILIES, *bundled()], **vars(parser.parse_args()))
    print(*tally.lines(), sep="\n")
    return 1 if tally.findings else 0


if __name__ == "__main__":
    sys.exit(main())

"""How often the trust card of a single text lets a random map pass, and how often leave-one-out.

    ASSAY_DATA=DIR python benchmarks/random_cards.py [--texts 200] [--skip 0] [--maps 10] [--most 30] [--seed 0]

The sentences are drawn from the dev set of SST-2, of at most `--most` words; `--skip` goes on behind others. Every text
gets the tests that a card of it counts, with as many random maps as the card draws, and a level for leave-one-out and
for each of `--maps` further random maps. All maps of a text are compared with the same draws, so a further random map
costs a hundredth. Prints one line of JSON; the exit code is 1 where more than 1 of 200 random maps pass, or
leave-one-out on less than half of the texts.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

import assay
from assay.data.sst import glue
from assay.engine.engine import Engine
from assay.explanations.about import About
from assay.explanations.token_scores import TokenScores
from assay.registry.cards import CheckCard
from assay.registry.finding import resolve_check
from assay.registry.parameters import parameters
from assay.statistics.verdict import Verdict
from assay.verdicts.measuring import TextResult, measure, with_random
from assay.verdicts.standing import Level, Standing
from assay.verdicts.trust import default_checks, single_text_draws

TOGETHER = 10  # texts in one run of the engine
LIMIT = 1 / 200
COUNTED = ("comprehensiveness", "deletion", "infidelity", "insertion", "sufficiency")  # levels rest on these alone
Counts = Counter[tuple[str, Level]]


def sentences(place: Path, texts: int, skip: int, most: int, seed: int) -> list[str]:
    """So many sentences of the dev set, the shorter first: neighbours are compared with as many random maps."""
    short = [text for row in glue(place) if len(assay.Text.of(text := row.strings[0])) <= most]
    drawn = np.random.default_rng(seed).permutation(len(short))[skip : skip + texts]
    return sorted((short[i] for i in drawn), key=lambda text: len(assay.Text.of(text)))


def portions(maps: Sequence[TokenScores]) -> Iterator[tuple[int, Sequence[TokenScores]]]:
    """The texts that are compared with as many random maps, a few at a time, and that number."""
    for draws, same in groupby(maps, lambda e: single_text_draws(len(e.text))):
        texts = list(same)
        yield from ((draws, texts[at : at + TOGETHER]) for at in range(0, len(texts), TOGETHER))


def random_maps(e: TokenScores, count: int) -> list[TokenScores]:
    """Maps that are not among those that the card draws."""
    rng = np.random.default_rng([e.text.seed, 77])
    about = About(method="random", title="Random", labels=e.about.labels)
    return [e.told(scores=rng.standard_normal(len(e.text)), about=about) for _ in range(count)]


def levels(engine: Engine, maps: Sequence[TokenScores], draws: int, count: int, checks: Sequence[Any]) -> Counts:
    """The level of each map of each text, counted by method."""
    own = [[e, *random_maps(e, count)] for e in maps]
    sets = [*zip(*own, strict=True), *with_random(maps, draws)[1:]]
    results = [measure(check, sets, lambda asked: engine.run(begin() for begin in asked)) for _, check in checks]
    counts: Counts = Counter()
    for i, of_text in enumerate(own):
        for j, e in enumerate(of_text):
            found = [_verdict(e, *pair, result[i], j, count) for pair, result in zip(checks, results, strict=True)]
            counts[e.about.method, Standing(e.about.method, e.about.title, (e,), tuple(found)).level] += 1
    return counts


def _verdict(e: TokenScores, card: CheckCard, check: Any, result: TextResult, j: int, count: int) -> Verdict:
    """The verdict on map j of a text: the first is the method's, `count` random ones follow, then the draws."""
    assert result.measured is not None, result
    scores, named = [result.measured.score, *result.random], parameters(check)
    one, draws = np.array([scores[j]]), np.array([scores[count + 1 :]])
    return Verdict(e.about.method, card.name, card.better, one, draws, parameters=named, chance=card.chance)


def measured(options: argparse.Namespace) -> dict[str, Any]:
    engine = Engine(assay.load(options.model))
    texts = sentences(options.data / "sst2" / "dev.tsv", options.texts, options.skip, options.most, options.seed)
    maps = assay.explain(engine.model, texts, "leave_one_out", engine=engine, split=options.split, progress=False)
    found = map(resolve_check, default_checks(engine.model))
    checks = [(card, check) for card, check in found if card.name in COUNTED]
    counts: Counts = Counter()
    for draws, some in portions(maps):
        counts += levels(engine, some, draws, options.maps, checks)
        print(sum(counts.values()), dict(counts), file=sys.stderr, flush=True)
    shown: dict[str, Any] = {"texts": len(texts), "checks": [card.name for card, _ in checks]}
    for name in ("random", "leave_one_out"):
        mine = {level: counts[name, level] for level in ("yes", "partly", "open", "no")}
        shown[name] = mine | {"passes": mine["yes"] / sum(mine.values())}
    return shown


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=os.environ.get("ASSAY_DATA"), help="by default $ASSAY_DATA")
    options.add_argument("--model", default="sst2")
    options.add_argument("--split", default="words")
    for name, default in {"texts": 200, "skip": 0, "maps": 10, "most": 30, "seed": 0}.items():
        options.add_argument(f"--{name}", type=int, default=default)
    found = measured(options.parse_args())
    print(json.dumps(found))
    return int(found["random"]["passes"] > LIMIT or found["leave_one_out"]["passes"] < 0.5)


if __name__ == "__main__":
    sys.exit(main())

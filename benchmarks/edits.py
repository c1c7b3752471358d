"""Adversarial and counterfactual edits of sentences: how many flip, how small and how fluent they are, what they cost.

    python benchmarks/edits.py --file FILE [--column sentence] [--texts 200] [--model sst2]
        [--only hotflip|floor|mice|sea] [--editor auto|mlm|writer:editor] [--revised REVISED] [--device cuda]
        [--words 200] [--timed 60] [--constrained 300] [-p samples=24]...
    assay run FILE --column sentence --limit 200 --method mice -p versions=1 --shard-size 10 --out DIR
    python benchmarks/edits.py --run DIR

The second way measures the edits of a run, which goes on where it was stopped: of mice or of sea.
FILE is any table with a column of texts (SST-2's dev.tsv, say). HotFlip is run with one, two and three flips, with and
without constraints, beside random flips: random words at as many random places as each flip took. MiCE is run as it
stands, with the editor that is named; SEA as it stands, and how many of its paraphrases were tried, flip, and flip and
mean the same. -p sets their parameters. --words leaves longer texts out. With --revised, a column of the same texts as
people revised them for the other label, their edits are measured beside those of MiCE. `rows` are forward passes, and
the floor is the bare rows: the same sequences, recorded while ours ran, sorted, packed and
passed through the model with nothing around them; the two take turns, on the first --timed texts.
The constraint on the cosine is tried on the first --constrained texts.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import replace
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np

import assay
from assay.engine.engine import Engine
from assay.explanations.edits import Edits
from assay.questions.generation import Likelihood
from assay.questions.likelihoods import word_likelihoods, words_of
from assay.registry.finding import find_check, find_method
from assay.statistics.intervals import estimate
from assay.text.distance import edit_distance
from assay.text.sample import Sample
from assay.text.text import Text
from assay.verdicts.judge import judge
from race import Ours, compare

_SHOWN = 8  # edits
_TURNS = 3  # of which the middle one counts
HOTFLIP: dict[str, dict[str, Any]] = {
    "any word": {"stop_words": "any"},
    "no grammar words": {},
    "cosine >= .3": {"similar": 0.3},
}


def hotflip(model: Any, texts: list[str], constrained: int) -> None:
    """One search for up to three flips is also the search for one, and for two: it ends with the first that flips."""
    print(f"{'hotflip, ' + str(len(texts)) + ' texts':<24} flips  success (95 %)          random   rows a text")
    for name, settings in HOTFLIP.items():
        engine = Engine(model)
        some = texts[: constrained if settings.get("similar") else None]
        found = assay.explain(model, some, "hotflip", engine=engine, progress=False, flips=3, versions=1, **settings)
        for flips in (1, 2, 3):
            part = [at_most(e, flips) for e in found]
            (verdict,) = judge(engine, part, [find_check("flip_rate").make()], draws=1, progress=False)
            share = estimate(np.array([float(bool(e.edits)) for e in part]))
            rows = np.mean([rows_of(e, flips) for e in found])
            success = f"{verdict.mean:>8.3f} [{share.low:.3f}, {share.high:.3f}]"
            print(f"{name:<24} {flips:>5} {success} {verdict.random:>7.3f}  {rows:>9.1f}", flush=True)


def floors(model: Any, texts: list[str]) -> None:
    """HotFlip beside its bare rows."""
    for flips in (1, 2, 3):
        ours = Ours(model, texts, "hotflip", flips=flips, versions=1, **HOTFLIP["any word"])
        compare(f"any word, up to {flips} flips, {len(texts)} texts", ours, {}, _TURNS)


def at_most(e: Edits, flips: int) -> Edits:
    """What a search for so many flips would have found; an attempt of that size where it would have found nothing."""
    shown = e.edits[0] if e.edits else e.nearest
    if shown is None or len(shown.operations) <= flips:
        return e
    return replace(e, edits=(), nearest=replace(shown, operations=shown.operations[:flips], flips=False))


def rows_of(e: Edits, flips: int) -> int:
    """Forward passes, those with a gradient among them."""
    return 1 + sum(step["gradients"] + step["tried"] for step in e.facts["path"][:flips])


def engine_of(model: Any, device: str | None) -> Engine:
    """Other models that the methods ask are on the same device."""
    return Engine(model, resolve=lambda name: assay.load(name, device=device))


def explained(model: Any, texts: list[str], method: str, device: str | None, settings: dict[str, str]) -> list[Edits]:
    """With the time and the rows that it took."""
    engine, start = engine_of(model, device), perf_counter()
    made = find_method(method).make(settings)
    found: list[Edits] = assay.explain(model, texts, made, engine=engine, progress=False)
    taken = perf_counter() - start
    print(f"{method}: {engine.totals.forwards / len(texts):.0f} rows and {taken / len(texts):.2f} s a text")
    return found


def of_run(directory: str) -> list[Edits]:
    """What `assay run` left in its directory."""
    found = list(assay.open(directory).explanations())
    costs = [e.about.cost for e in found]
    rows, tokens = np.mean([cost.sequences for cost in costs]), np.mean([cost.generated for cost in costs])
    print(f"{found[0].about.method}: {len(found)} texts, {rows:.0f} rows and {tokens:.0f} written tokens a text")
    return found


def sea(found: list[Edits]) -> None:
    share = estimate(np.array([float(bool(e.edits)) for e in found]))
    counts = [e.facts["paraphrases"] for e in found]
    print(f"sea: {share.value:.3f} ({share.low:.3f} to {share.high:.3f}) of {len(found)} texts have a flip at S >= 0.8")
    print(", ".join(f"{name} {np.mean([one[name] for one in counts]):.1f}" for name in counts[0]), "a text")
    for e in islice((e for e in found if e.edits), _SHOWN):
        print(f"  {e.text}\n  -> {e.edits[0].text}  {dict(e.edits[0].scores)}")


def mice(model: Any, found: list[Edits], device: str | None) -> None:
    engine, flipped = engine_of(model, device), [e for e in found if e.edits]
    pairs = [(e.text.strings[0], e.edits[0].text) for e in flipped]
    size = estimate(np.array([share(*pair) for pair in pairs]))
    print(f"mice by {found[0].facts['editor']}: {len(flipped)} of {len(found)} flip", end="; ")
    print(f"minimality {size.value:.3f} ({size.low:.3f} to {size.high:.3f})")
    fluencies(engine, pairs)
    by = Counter(e.facts.get("editors", [e.facts["editor"]])[0] for e in flipped)
    print("first versions by " + ", ".join(f"{name} {count}" for name, count in by.most_common()))
    for before, after in pairs[:_SHOWN]:
        print(f"  {before}\n  -> {after}")


def fluencies(engine: Engine, pairs: list[tuple[str, str]]) -> None:
    """By the masked model, and by the writer's base."""
    ratios = np.exp(list(log_ratios(engine, pairs)))
    print(f"pseudo-perplexity, edited over original: median {np.median(ratios):.2f}, mean {ratios.mean():.2f}")
    causal = np.exp(list(causal_log_ratios(engine, pairs)))
    print(f"perplexity by the writer, edited over original: median {np.median(causal):.2f}, mean {causal.mean():.2f}")


def people(model: Any, pairs: list[tuple[str, str]], device: str | None) -> None:
    """What people changed to get the other label, by the same measures."""
    before, after = (model.predict(list(part)).argmax(axis=1) for part in zip(*pairs, strict=True))
    size = estimate(np.array([share(*pair) for pair in pairs]))
    print(f"people: {int((before != after).sum())} of {len(pairs)} flip; minimality {size.value:.3f}")
    fluencies(engine_of(model, device), pairs)


def share(before: str, after: str) -> float:
    """The edit distance in words, over the words of the text."""
    old, new = Text.of(before).words, Text.of(after).words
    return edit_distance(old, new) / len(old)


def log_ratios(engine: Engine, pairs: list[tuple[str, str]]) -> Any:
    """Over all words of the text and of its version."""

    def conversation(pair: tuple[str, str]) -> Any:
        before, after = words_of(pair)
        values = yield from word_likelihoods([*before, *after], "mlm")
        return float(np.nanmean(values[: len(before)]) - np.nanmean(values[len(before) :]))

    return (outcome.get() for outcome in engine.run(map(conversation, pairs)))


def causal_log_ratios(engine: Engine, pairs: list[tuple[str, str]]) -> Any:
    """By a language model that took no part in the search, for a token of each."""

    def conversation(pair: tuple[str, str]) -> Any:
        before, after = yield Likelihood("\n", *pair, model="writer")
        return before.mean - after.mean

    return (outcome.get() for outcome in engine.run(map(conversation, pairs)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given_by = parser.add_mutually_exclusive_group(required=True)
    given_by.add_argument("--file")
    given_by.add_argument("--run")
    parser.add_argument("--column", default="sentence")
    parser.add_argument("--texts", type=int, default=200)
    parser.add_argument("--model", default="sst2")
    parser.add_argument("--only", choices=["hotflip", "floor", "mice", "sea"])
    parser.add_argument("--device")
    parser.add_argument("--words", type=int, default=10**9)
    parser.add_argument("-p", "--parameter", action="append", default=[])
    parser.add_argument("--editor", default="auto")
    parser.add_argument("--timed", type=int, default=60)
    parser.add_argument("--constrained", type=int, default=300)
    parser.add_argument("--revised")
    given = parser.parse_args()
    model = assay.load(given.model, device=given.device)
    if given.run:
        found = of_run(given.run)
        sea(found) if found[0].about.method == "sea" else mice(model, found, given.device)
        return
    every = Sample.of(given.file, text=given.column, pair=given.revised)
    rows = list(islice((row for row in every if len(row.strings[0].split()) <= given.words), given.texts))
    texts = [row.strings[0] for row in rows]
    settings = dict(one.split("=", 1) for one in given.parameter)
    if given.only in (None, "hotflip"):
        hotflip(model, texts, given.constrained)
    if given.only in (None, "floor"):
        floors(model, texts[: given.timed])
    if given.only in (None, "mice"):
        own = {"versions": "1", "editor": given.editor, **settings}
        mice(model, explained(model, texts, "mice", given.device, own), given.device)
    if given.only == "sea":
        sea(explained(model, texts, "sea", given.device, settings))
    if given.revised:
        people(model, [(row.strings[0], row.strings[1]) for row in rows], given.device)


if __name__ == "__main__":
    main()

"""writer:paraphraser: the same in other words; an adapter for semantically equivalent adversaries (SEA).

Ribeiro, Singh and Guestrin (2018) translate there and back; here a language model is trained on pairs of sentences that
mean the same: `x` and `in other words:` -> ` x'`. Pairs that repeat each other, or share too little, are left out.
"""

import re
from pathlib import Path

import numpy as np
from data import lines
from options import options
from writing import Pair, Writing, run

HELD = 0.03  # of the pairs, by their first sentence, are kept for scoring
MOST = 50_000


def overlap(one: str, two: str) -> float:
    """The share of words that both have, of all that either has."""
    first, second = (set(re.findall(r"\w+", text.lower())) for text in (one, two))
    return len(first & second) / max(1, len(first | second))


def sources(data: Path) -> list[tuple[str, str]]:
    """Pairs of every corpus, in file order."""
    quora = [row.split("\t") for row in lines(data / "qqp" / "qqp.tsv.xz")]
    pairs = [(row[1], row[2]) for row in quora if row[0] == "1"]
    tatoeba = [row.split("\t") for row in lines(data / "tatoeba_eng_eng" / "pairs.tsv.xz")]
    pairs += [(row[0], row[1]) for row in tatoeba if len(row) == 2 and overlap(*row) < 0.7]
    mrpc = [row.split("\t") for row in lines(data / "mrpc" / "train.tsv.xz")]
    pairs += [(row[1], row[2]) for row in mrpc if row[0] == "1"]
    science = [row.split("\t") for row in lines(data / "parasci_acl" / "pairs.tsv.xz")]
    pairs += [(row[1], row[2]) for row in science if len(row) == 3 and row[0] != "split"]
    captions = [row.split("\t") for row in lines(data / "multi30k" / "task2_train.5captions.en.tsv.xz")]
    pairs += [(row[-2], row[-1]) for row in captions if len(row) > 1 and overlap(row[-2], row[-1]) > 0.45]
    return [(one.strip(), two.strip()) for one, two in pairs if one.strip() and two.strip() and one != two]


def split(data: Path, *, held: bool) -> list[Pair]:
    """The pairs for training or for scoring, shuffled once and for all."""
    pairs = sources(data)
    order = np.random.default_rng(0).permutation(len(pairs))[:MOST]
    cut = int(HELD * len(order))
    return [(f"{pairs[i][0]}\nin other words:", f" {pairs[i][1]}") for i in (order[:cut] if held else order[cut:])]


TASK = Writing(
    name="paraphraser",
    title="the same in other words",
    train=lambda data: split(data, held=False),
    parts={"held-out pairs": lambda data: split(data, held=True)},
    data=(
        (
            "QQP duplicates, Tatoeba, MRPC, ParaSCI, Multi30k captions",
            "each its own: Quora terms, CC BY-NC-SA 4.0, MSR research, none stated, research use",
        ),
    ),
    kept_out="3 % of the pairs; a sentence that stands in several pairs may be on both sides.",
    bad_at=(
        "It may drop a clause: compare the meaning by a sentence encoder, and the length.",
        "Captions of one picture do not always say the same.",
    ),
)

if __name__ == "__main__":
    run(TASK, options(__doc__))

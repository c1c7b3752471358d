"""The rows that writer:editor learns from: fills toward a label, and fills for the edit that a control code names.

    python zoo/recipes/editor_rows.py --data DIR --out DIR        writes DIR/editor_rows.jsonl.xz

They are made once, without a model, and can be carried to the machine that trains: there --data names the file. The
labels are those of the bundled classifiers: film reviews (SST-2), pairs (SNLI) and news (AG News).
"""

import json
import lzma
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
from assay.text.blanks import SHORTEST, training_pair, training_pairs
from assay.text.coded_blanks import coded_training_pair
from assay.text.text import Text
from clean import snli_clean, sst2_train
from coded_pairs import coded_pairs, snli_subset
from data import NLI_LABELS, Labelled, ag_news, lines, sst2
from options import options
from writing import Pair

FILE = "editor_rows.jsonl.xz"
SENTIMENTS = ("negative", "positive")
TOPICS = ("world", "sports", "business", "sci/tech")
HELD = 0.02  # of the coded pairs are kept for scoring
PREMISES = 4  # of so many pairs one has the blanks in its premise
SCORED = 2000  # rows of a part that is scored
TRAIN, PARTS = "train", ("SST-2 dev", "SNLI, clean dev pairs", "AG News test", "held-out edits")
Rows = dict[str, list[Pair]]


@cache
def editor_rows(data: Path) -> Rows:
    """The rows by their part: read from a file, or made of the data in a directory."""
    if data.is_file():
        found: Rows = {part: [] for part in (TRAIN, *PARTS)}
        for part, prompt, answer in map(json.loads, lines(data)):
            found[part].append((prompt, answer))
        return found
    return _made(data)


def _made(data: Path) -> Rows:
    edits = coded(data)
    held = int(HELD * len(edits))
    pairs = [((premise, hypothesis), NLI_LABELS.index(label)) for (premise, hypothesis), label in snli_subset(data)]
    train = reviews(sst2_train(data), 0) + of_pairs(pairs, 0) + news(ag_news(data, "train"), 0) + edits[held:]
    order = np.random.default_rng(0).permutation(len(train))
    scored = (reviews(sst2(data, "dev"), 1), of_pairs(snli_clean(data, "dev"), 1), news(ag_news(data, "test"), 1))
    parts = dict(zip(PARTS, (*scored, edits[:held]), strict=True))
    return {TRAIN: [train[i] for i in order]} | {part: rows[:SCORED] for part, rows in parts.items()}


def reviews(rows: Iterable[Labelled], seed: int) -> list[Pair]:
    """Every long enough phrase once, with blanks of its own."""
    return training_pairs(((texts[0], SENTIMENTS[label]) for texts, label in rows), seed)


def news(rows: Iterable[Labelled], seed: int) -> list[Pair]:
    """Titles and descriptions, in words as Assay splits them."""
    return training_pairs(((spaced(texts[0]), TOPICS[label]) for texts, label in rows), seed)


def of_pairs(rows: Iterable[Labelled], seed: int) -> list[Pair]:
    """Pairs with blanks in the hypothesis, or, for some, in the premise; the other text is shown beside it."""
    rng = np.random.default_rng(seed)
    found = []
    for i, ((premise, hypothesis), label) in enumerate(rows):
        edited = spaced(hypothesis if i % PREMISES else premise)
        if len(edited.split()) >= SHORTEST:
            beside = (premise, None) if i % PREMISES else (None, hypothesis)
            found.append(training_pair(edited, NLI_LABELS[label], rng, beside))
    return found


def coded(data: Path) -> list[Pair]:
    """Pairs of sentences with the code of their edit."""
    rng = np.random.default_rng(0)
    rows = (coded_training_pair(old, new, code, rng) for code, old, new in coded_pairs(data, 0))
    return [row for row in rows if row is not None]


def spaced(text: str) -> str:
    """The words of a text with blanks between them, as `mice` shows them to the editor."""
    return " ".join(Text.of(text).words)


def written(rows: Rows) -> Iterator[str]:
    """The lines of the file."""
    for part, pairs in rows.items():
        yield from (json.dumps([part, *pair], ensure_ascii=False) + "\n" for pair in pairs)


if __name__ == "__main__":
    chosen = options(__doc__)
    made = editor_rows(chosen.data)
    with lzma.open(chosen.out / FILE, "wt", encoding="utf-8", preset=6) as stream:
        stream.writelines(written(made))
    print({part: len(pairs) for part, pairs in made.items()})

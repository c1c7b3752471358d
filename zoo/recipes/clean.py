"""What training may see: everything that is held out is taken away here, by a normalised match and by word runs.

Held out: SST dev and test sentences (trees and GLUE), SNLI dev and test, IMDb test (never read). The masked language
model has read texts of SNLI dev and test without their labels, but none of the clean premises.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

import data as read
from data import Labelled

from assay_zoo.heldout import is_clean_snli_premise, normalise

RUN = 6


def heldout_sst(data: Path) -> list[str]:
    """Every dev and test sentence of SST."""
    trees = [text for split in ("dev", "test") for text, _ in read.sst_trees(data, split)]
    return trees + [texts[0] for texts, _ in read.sst2(data, "dev")] + read.sst2_test_texts(data)


def not_equal_to(held: Iterable[str]) -> Callable[[str], bool]:
    """A test that a text is none of the held-out ones, whatever its spacing and case."""
    keys = {normalise(text) for text in held}
    return lambda text: normalise(text) not in keys


def shares_no_run_with(held: Iterable[str]) -> Callable[[str], bool]:
    """A test that a text shares no run of six words with a held-out one: for sources that quote the same reviews."""
    runs = {run for text in held for run in word_runs(text)}
    return lambda text: runs.isdisjoint(word_runs(text))


def word_runs(text: str) -> set[tuple[str, ...]]:
    """All runs of six words."""
    words = text.lower().split()
    return {tuple(words[i : i + RUN]) for i in range(len(words) - RUN + 1)}


def sst2_train(data: Path) -> list[Labelled]:
    """SST-2 training phrases without those that are a whole dev or test sentence."""
    allowed = not_equal_to(heldout_sst(data))
    return [row for row in read.sst2(data, "train") if allowed(row[0][0])]


def snli_clean(data: Path, split: Literal["dev", "test"]) -> list[Labelled]:
    """The held-out pairs of SNLI."""
    return [row for row in read.snli(data, split) if is_clean_snli_premise(row[0][0], split)]


def highlighted(data: Path) -> list[Labelled]:
    """The dev pairs that carry human highlights."""
    rows = read.snli(data, "dev")
    return [rows[i] for i in read.highlighted(data)]


def snli_train(data: Path) -> list[Labelled]:
    """Pairs of SNLI train and counterfactual pairs made from them, with no premise of SNLI dev or test."""
    held = read.snli(data, "dev") + read.snli(data, "test")
    allowed = not_equal_to(texts[0] for texts, _ in held)
    rows = dict.fromkeys(read.snli_train_subset(data) + read.counterfactual_nli(data, "train"))
    return [row for row in rows if allowed(row[0][0])]


def snli_rest(data: Path) -> list[Labelled]:
    """The rest of dev and test, and the counterfactual train pairs, whose texts the masked language model has read."""
    allowed = not_equal_to(texts[0] for texts, _ in both_clean(data))
    rows = read.snli(data, "dev") + read.snli(data, "test") + read.counterfactual_nli(data, "train")
    return [row for row in rows if allowed(row[0][0])]


def both_clean(data: Path) -> list[Labelled]:
    """All held-out pairs."""
    return snli_clean(data, "dev") + snli_clean(data, "test")


def snli_for_reading(data: Path) -> list[tuple[str, ...]]:
    """Pairs for masked-LM training: no held-out hypothesis either."""
    allowed = not_equal_to(text for texts, _ in both_clean(data) for text in texts)
    return [texts for texts, _ in snli_rest(data) if all(map(allowed, texts))]

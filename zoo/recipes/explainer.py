"""writer:explainer: why an answer is right, in a sentence; an adapter trained on human explanations of SNLI pairs.

Camburu et al. (2018, arXiv:1812.01193), in the two prompts of Rajani et al. (2019, arXiv:1906.02361): the answer is
given ("The answer is neutral because"), and every eighth explanation is learnt without it too ("My commonsense tells
me"). What NILE (Kumar and Talukdar 2020, arXiv:2005.12116), trained on all of e-SNLI, wrote for the same pairs is
learnt beside it, behind another prompt. Three teachers that learnt all of this explain pairs of SNLI train, and the
adapter learns from them too (distil.py).
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Literal

from clean import not_equal_to, snli_train
from data import NLI_LABELS, lines, snli
from distil import Teaching, taught
from options import options
from writing import Pair, Writing, run

from assay_zoo.heldout import position

CHOICES = "The choices are entailment, neutral, or contradiction."
SPACED = re.compile(r"\s+([.,;:!?)]|n't\b|'(?:s|re|m|ve|ll|d)\b)")
EACH = 3  # explanations of a pair
REASONING = 8  # every such explanation is learnt without the answer too
CHOOSING = 0.04  # of the dev premises
NILE_LABELS, COULD_BE = ("entailment", "contradiction", "neutral"), "The answer could be {}, because"
Split = Literal["dev", "test"]


def tidy(text: str) -> str:
    """A sentence as people write it: no blanks before punctuation."""
    return re.sub(r"\s+", " ", SPACED.sub(r"\1", text.replace("``", '"').replace("''", '"'))).strip()


def prompt(premise: str, hypothesis: str, label: str | None, given: str = "The answer is {} because") -> str:
    """The published prompt: with the answer a rationalisation, without it a reasoning."""
    asked = "My commonsense tells me" if label is None else given.format(label)
    return f"premise: {tidy(premise)}\nhypothesis: {tidy(hypothesis)}\n{CHOICES} {asked}"


def explanations(data: Path, split: str, each: int) -> list[list[str]]:
    """The first `each` human explanations of every pair of SNLI dev or test."""
    files = [lines(data / "esnli" / f"preproc1_expl_{i}.{split}") for i in range(1, each + 1)]
    return [[tidy(one) for one in row] for row in zip(*files, strict=True)]


def pairs(data: Path, split: Split, each: int) -> Iterator[tuple[tuple[str, ...], int, str]]:
    """Texts, label and explanation, for `each` explanations of every pair."""
    rows = zip(snli(data, split), explanations(data, split, each), strict=True)
    yield from ((texts, label, reason) for (texts, label), own in rows for reason in own if reason)


def train(data: Path) -> list[Pair]:
    """Explanations of dev pairs with no premise of test; some premises are kept for choosing the settings."""
    elsewhere = not_equal_to(texts[0] for texts, _ in snli(data, "test"))

    def allowed(premise: str) -> bool:
        return elsewhere(premise) and position(premise) >= CHOOSING

    kept = [row for row in pairs(data, "dev", EACH) if allowed(row[0][0])]
    named = [(prompt(*texts, NLI_LABELS[label]), f" {reason}") for texts, label, reason in kept]
    without = [(prompt(*texts, None), f" {reason}") for texts, _, reason in kept[::REASONING]]
    return named + without + generated(data, allowed)


def generated(data: Path, allowed: Callable[[str], bool]) -> list[Pair]:
    """What NILE wrote for each label of a pair, right or wrong, behind words that no user's prompt has."""
    rows = (line.split("\t") for line in lines(data / "esnli_dev_test_nile" / "dev.tsv.xz"))
    known = ((row[2:4], zip(NILE_LABELS, row[-3:], strict=True)) for row in rows if allowed(row[2]))
    named = ((texts, label, tidy(reason)) for texts, own in known for label, reason in own)
    return [(prompt(*texts, label, COULD_BE), f" {reason}") for texts, label, reason in named if reason]


def unexplained(data: Path) -> list[str]:
    """Prompts for pairs of SNLI train, with no premise of dev or test."""
    return [prompt(*texts, NLI_LABELS[label]) for texts, label in snli_train(data)]


def choosing(data: Path) -> list[Pair]:
    """Dev pairs that training has not seen: steps and dropout were chosen by them."""
    rows = (row for row in pairs(data, "dev", 1) if position(row[0][0]) < CHOOSING)
    return [(prompt(*texts, NLI_LABELS[label]), f" {reason}") for texts, label, reason in rows]


def test(data: Path) -> list[Pair]:
    """The first explanation of every test pair."""
    return [(prompt(*texts, NLI_LABELS[label]), f" {reason}") for texts, label, reason in pairs(data, "test", 1)]


TASK = Writing(
    name="explainer",
    title="why an answer is right, in a sentence",
    train=train,
    parts={"e-SNLI test": test, "e-SNLI dev, kept for choosing": choosing},
    data=(
        (
            "e-SNLI explanations of SNLI dev, those that NILE generated for it, and those that the teachers wrote for "
            "the part of SNLI train that is at hand",
            "e-SNLI MIT-style; NILE Apache-2.0; SNLI CC BY-SA 4.0; counterfactual data Apache-2.0",
        ),
    ),
    kept_out="all of SNLI test, and every pair with one of its premises.",
    steps=1600,
    rate=1.5e-3,
    rows=partial(taught, Teaching(unexplained)),
    bad_at=(
        "It argues for whatever answer it is given, right or wrong: run the check answer_sensitivity.",
        "It knows nothing of the explained model but its answer: what it writes is what people would say.",
        "Not trained on other text than captions of photographs and short claims about them.",
    ),
)

if __name__ == "__main__":
    run(TASK, options(__doc__))

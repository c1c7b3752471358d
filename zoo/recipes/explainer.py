"""writer:explainer: why an answer is right, in a sentence; an adapter trained on human explanations of SNLI pairs.

Camburu et al. (2018, arXiv:1812.01193), in the two prompts of Rajani et al. (2019, arXiv:1906.02361): the answer is
given ("The answer is neutral because"), or, for every fourth explanation, it is not ("My commonsense tells me").
"""

import re
from pathlib import Path
from typing import Literal

from clean import both_clean, not_equal_to
from data import NLI_LABELS, lines, snli
from options import options
from writing import Pair, Writing, run

from assay_zoo.heldout import is_clean_snli_premise

CHOICES = "The choices are entailment, neutral, or contradiction."
SPACED = re.compile(r"\s+([.,;:!?)]|n't\b|'(?:s|re|m|ve|ll|d)\b)")
EACH = 3  # explanations of a pair
REASONING = 4  # every such explanation is learnt without the answer


def tidy(text: str) -> str:
    """A sentence as people write it: no blanks before punctuation."""
    return re.sub(r"\s+", " ", SPACED.sub(r"\1", text.replace("``", '"').replace("''", '"'))).strip()


def prompt(premise: str, hypothesis: str, label: str | None) -> str:
    """The published prompt: with the answer a rationalisation, without it a reasoning."""
    asked = "My commonsense tells me" if label is None else f"The answer is {label} because"
    return f"premise: {tidy(premise)}\nhypothesis: {tidy(hypothesis)}\n{CHOICES} {asked}"


def explanations(data: Path, split: str, each: int) -> list[list[str]]:
    """The first `each` human explanations of every pair of SNLI dev or test."""
    files = [lines(data / "esnli" / f"preproc1_expl_{i}.{split}") for i in range(1, each + 1)]
    return [[tidy(one) for one in row] for row in zip(*files, strict=True)]


def train(data: Path) -> list[Pair]:
    """Explanations of the dev pairs whose premises are not held out."""
    allowed = not_equal_to(texts[0] for texts, _ in both_clean(data))
    rows = zip(snli(data, "dev"), explanations(data, "dev", EACH), strict=True)
    kept = [(texts, label, reason) for (texts, label), own in rows for reason in own if allowed(texts[0]) and reason]
    named = [(texts, None if i % REASONING == 0 else NLI_LABELS[label], r) for i, (texts, label, r) in enumerate(kept)]
    return [(prompt(*texts, label), f" {reason}") for texts, label, reason in named]


def heldout(data: Path, split: Literal["dev", "test"]) -> list[Pair]:
    """The first explanation of the clean pairs."""
    rows = zip(snli(data, split), explanations(data, split, 1), strict=True)
    clean = [row for row in rows if is_clean_snli_premise(row[0][0][0], split)]
    return [(prompt(*texts, NLI_LABELS[label]), f" {own[0]}") for (texts, label), own in clean if own[0]]


TASK = Writing(
    name="explainer",
    title="why an answer is right, in a sentence",
    train=train,
    parts={"e-SNLI test, clean half": lambda where: heldout(where, "test")},
    data=(("e-SNLI explanations of SNLI dev without the clean part", "e-SNLI MIT-style; SNLI CC BY-SA 4.0"),),
    kept_out="all pairs of the clean premises, see assay_zoo.heldout; nothing of SNLI test was read.",
    bad_at=(
        "It argues for whatever answer it is given, right or wrong: run the check answer_sensitivity.",
        "It knows nothing of the explained model but its answer: what it writes is what people would say.",
        "Not trained on other text than captions of photographs and short claims about them.",
    ),
)

if __name__ == "__main__":
    run(TASK, options(__doc__))

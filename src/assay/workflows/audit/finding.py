"""A question about the attention with its answer, and the one answer that all of them come to.

Attention may be read as an explanation only so far as three things hold: it ranks the words as other measures of
importance do, the answer depends on it, and no very different attention gives the same answer (Jain and Wallace 2019).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

TOO_FEW, UNKNOWN = "Too few texts to say", "Cannot be answered"
MOST, FEW = "For most texts", "For few texts"


@dataclass(frozen=True)
class Finding:
    """A question about the attention, a word or two, and the numbers in a sentence."""

    question: str
    short: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.question} {self.short}. {self.sentence}"


def overall(gradients: Finding, left_out: Finding, shuffled: Finding, others: Finding) -> Finding:
    """May it be read as an explanation? From the answers to the questions of the page."""
    question = "May the attention be read as an explanation?"
    if {one.short for one in (gradients, left_out, shuffled, others)} & {TOO_FEW}:
        return Finding(question, TOO_FEW, "The numbers are of these texts alone; give more of them.")
    reasons = [*_ranks(gradients, left_out), *_depends(shuffled), *_only_one(others)]
    speaks_for = [reason for good, reason in reasons if good]
    against = [reason for good, reason in reasons if not good]
    parts = [
        f"For it: {_listed(speaks_for)}." if speaks_for else "",
        f"Against it: {_listed(against)}." if against else "",
    ]
    return Finding(question, _verdict(len(speaks_for), len(against)), " ".join(part for part in parts if part))


def _verdict(speaks_for: int, against: int) -> str:
    if not against and speaks_for == 3:
        return "Yes, as far as these tests go"
    return "No" if against > speaks_for else "With caution"


def _ranks(gradients: Finding, left_out: Finding) -> Iterator[tuple[bool, str]]:
    shorts = {gradients.short, left_out.short}
    if shorts <= {"Yes", "Mostly"}:
        yield True, "it ranks the words as gradients and leave-one-out do"
    elif shorts & {"Weakly", "Hardly", "No"}:
        low = [("gradients", gradients), ("leave-one-out", left_out)]
        named = " and ".join(name for name, one in low if one.short in ("Weakly", "Hardly", "No"))
        yield False, f"it ranks the words otherwise than {named}"


def _depends(shuffled: Finding) -> Iterator[tuple[bool, str]]:
    if shuffled.short in (MOST, FEW):
        yield shuffled.short == MOST, f"shuffling it changes the answer {shuffled.short.lower()}"


def _only_one(others: Finding) -> Iterator[tuple[bool, str]]:
    if others.short in (MOST, FEW):
        yield others.short == FEW, f"a very different attention gives the same answer {others.short.lower()}"


def _listed(reasons: Sequence[str]) -> str:
    *most, last = reasons
    return f"{', '.join(most)}, and {last}" if most else last

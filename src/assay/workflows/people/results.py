"""What the answers of people say (Feng et al. 2018, Tables 1 and 3).

    accuracy      right answers among all answers, on whole and on reduced texts; Fisher's exact test between the two
    vs. random    the reduced version among the answers that prefer one; two-sided exact binomial test against one half
    agreement     Krippendorff's alpha among the people who answered the same items

Shares have exact intervals (Clopper and Pearson). These want independent counts, which several answers to one item are
not; so every item counts once, with what most people said to it (a draw counts as "cannot tell"). With one answer to
each item this is the plain share; `by="answers"` counts every answer on its own.

"Cannot tell" is not a right answer, and no preference; it is counted apart. An answer in people's own words is right
if it is the same words as SQuAD compares them; its F1 is given too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from assay.errors import BadInput
from assay.statistics.exact import Share, against_half, fisher
from assay.workflows.people.answers import Answered, Collected
from assay.workflows.people.free_answers import f1, plain
from assay.workflows.people.krippendorff import alpha
from assay.workflows.people.tasks import CANNOT_TELL, ROLES, Key, Role

UNITS = ("items", "answers")
ALL = "all"


@dataclass(frozen=True)
class Vote:
    """One answer that counts, and the key of its item."""

    key: Key
    answer: str

    @property
    def right(self) -> bool:
        return self.answer == self.key.label if self.key.choices else plain(self.answer) == plain(self.key.label)

    @property
    def undecided(self) -> bool:
        return self.answer == CANNOT_TELL

    @property
    def f1(self) -> float:
        return 0.0 if self.undecided else f1(self.answer, self.key.label)


@dataclass(frozen=True)
class Line:
    """One line of Table 1: a label, or all of them. The p-values are None where there is nothing to test."""

    label: str
    original: Share
    reduced: Share
    p_accuracy: float | None
    preferred: Share
    p_preferred: float | None
    undecided: dict[Role, int] = field(default_factory=dict)
    f1: dict[Role, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Scores:
    """The lines, the agreement in each role, and how complete the answers are."""

    lines: tuple[Line, ...]
    agreement: dict[Role, float | None]
    by: str
    answers: int
    annotators: int
    items: int
    missing: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def overall(self) -> Line:
        return self.lines[-1]

    def to_dict(self) -> dict[str, Any]:
        lines = [asdict(line) | _values(line) for line in self.lines]
        return asdict(self) | {"lines": lines}


def score(collected: Collected, by: str = "items") -> Scores:
    """All lines, one for each label that occurs and the last for all."""
    if by not in UNITS:
        raise BadInput(f"count by items or by answers, not by {by!r}.")
    if not collected.count:
        raise BadInput("there is no answer to count.")
    votes = [vote for one in collected.items for vote in _votes(one, by)]
    keys = [one.key for one in collected.items]
    labels = sorted({key.label for key in keys}) if all(key.choices for key in keys) else []
    lines = [_line(label, [v for v in votes if v.key.label == label]) for label in labels]
    return Scores(
        (*lines, _line(ALL, votes)),
        {role: _agreement(collected.items, role) for role in ROLES},
        by,
        collected.count,
        len({who for one in collected.items for who in one.answers}),
        sum(bool(one.answers) for one in collected.items),
        collected.missing,
        tuple(completeness(collected)),
    )


def _votes(one: Answered, by: str) -> Iterator[Vote]:
    answers = _spelled(one)
    return (Vote(one.key, answer) for answer in ([majority(answers)] if by == "items" and answers else answers))


def _spelled(one: Answered) -> list[str]:
    """The answers; in people's own words, those that count as the same are spelled the same."""
    answers = list(one.answers.values())
    return answers if one.key.choices else [plain(answer) or answer for answer in answers]


def majority(answers: Sequence[str]) -> str:
    """What most people said; where two answers are equally frequent, nobody can tell."""
    ranked = Counter(answers).most_common(2)
    draw = len(ranked) == 2 and ranked[0][1] == ranked[1][1]
    return CANNOT_TELL if draw else ranked[0][0]


def _line(label: str, votes: Sequence[Vote]) -> Line:
    of = {role: [vote for vote in votes if vote.key.role == role] for role in ROLES}
    original, reduced = (Share.exact(sum(v.right for v in of[r]), len(of[r])) for r in ROLES[:2])
    decided = [vote for vote in of["preference"] if not vote.undecided]
    preferred = Share.exact(sum(vote.answer == vote.key.reduced for vote in decided), len(decided))
    return Line(
        label,
        original,
        reduced,
        fisher(original, reduced),
        preferred,
        against_half(preferred),
        {role: sum(vote.undecided for vote in of[role]) for role in ROLES},
        {role: _mean_f1(of[role]) for role in ROLES[:2] if of[role] and not of[role][0].key.choices},
    )


def _mean_f1(votes: Sequence[Vote]) -> float:
    return float(np.mean([vote.f1 for vote in votes]))


def _agreement(items: Iterable[Answered], role: Role) -> float | None:
    return alpha(_spelled(one) for one in items if one.key.role == role)


def _values(line: Line) -> dict[str, Any]:
    """The shares as numbers beside their counts."""
    return {
        name: asdict(share) | {"value": share.value}
        for name, share in (("original", line.original), ("reduced", line.reduced), ("preferred", line.preferred))
    }


def completeness(collected: Collected) -> Iterator[str]:
    """What is wrong with the collection as a whole."""
    if collected.missing:
        yield f"{collected.missing} answers are missing: people who leave out what is hard make the rest look easy."
    if collected.unasked:
        yield f"{collected.unasked} answers are on nobody's list."
    if collected.seen_twice:
        yield f"people met a text in more than one role {collected.seen_twice} times, so that they knew it already."

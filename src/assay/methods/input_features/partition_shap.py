"""PartitionSHAP: Owen values, the Shapley values of words that come and go in nested groups.

    share(g, C, w) = share(l, C, w/2) + share(l, C + r, w/2) + share(r, C, w/2) + share(r, C + l, w/2)     for g = l + r
                   = w (f_c(C + g) - f_c(C))        for a single word, and for a group when there are no rows left

C are the words that are there already; the whole text, where there is nothing yet and w = 1, is shared out. A word gets
the mean of what it adds over those orders of the words in which every group stands together: Owen (1977), Values of
Games with a Priori Unions. The recursion is PartitionExplainer's in the shap library (Lundberg and Lee 2017,
arXiv:1705.07874): a split asks two rows, the share that is largest is split first, and when `max_evals` rows are spent
the words of a group get equal parts of what it still holds. So the scores sum to f_c(x) - f_c(nothing) in every case.

Groups are halves of the word order (`balanced`), or follow the marks (`text`): fields, sentences, clauses, and halves
of each. Where the rows are enough for every split, all open shares are split at once; else `SPLITS` in a round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.questions.base import Conversation
from assay.questions.erasers import Delete, Eraser
from assay.questions.predict import Predict
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.statistics.arrays import Floats, Ints
from assay.text.text import Masks, Text

Tree: TypeAlias = "int | tuple[Tree, Tree]"

SPLITS = 16
_STOPS = (".", "!", "?", "…", "。", "！", "？", "؟", "।")
_PAUSES = (*_STOPS, ",", ";", ":", ")", "–", "—", "，", "；", "：", "、", "،", "؛")


@method(
    title="PartitionSHAP",
    row=Row.INPUT_FEATURES,
    uses=Uses.BLACK_BOX,
    paper="arXiv:1705.07874",
    section="6.4",
    needs=(Predict,),
)
@dataclass(frozen=True, kw_only=True)
class PartitionShap:
    """Each word's fair share of the prediction, where words come and go with their phrase."""

    max_evals: int = 500
    hierarchy: Literal["balanced", "text"] = "text"
    eraser: Eraser = Delete()

    def explain(self, case: Case) -> Conversation[TokenScores]:
        groups = self.groups(case.text)
        shares = yield from self._first(case, groups)
        facts = {"value": float(shares.high[0]), "baseline": float(shares.low[0])}
        left = most = (self.max_evals - 2) // 2
        at_once = most if groups.splits <= most else SPLITS
        held = np.zeros(len(groups.members))
        while True:
            shares = shares.settle(shares.group < len(case.text), held)
            chosen = np.argsort(-np.abs(shares.moves), kind="stable")[: max(0, min(at_once, left))]
            if not len(chosen):
                break
            parts = yield from self._split(case, groups, shares[chosen])
            left -= len(chosen)
            shares = shares.without(chosen) + parts
        facts |= {"exact": not len(shares), "samples": 2 + 2 * (most - left)}
        open_groups = len(np.unique(shares.group))
        shares.settle(np.ones(len(shares), dtype=bool), held)
        which = "1 group of words shares" if open_groups == 1 else f"{open_groups} groups of words share"
        unfinished = f"unfinished: too few rows, so {which} equally; raise max_evals"
        return TokenScores(case, groups.shared(held), facts=facts, warnings=(unfinished,) if open_groups else ())

    def groups(self, text: Text) -> Groups:
        return Groups.of(balanced(range(len(text))) if self.hierarchy == "balanced" else by_marks(text))

    def _first(self, case: Case, groups: Groups) -> Conversation[Shares]:
        """The whole text beside nothing."""
        nothing = np.zeros((1, len(case.text)), dtype=bool)
        empty = yield from self.eraser.erase(case.text, nothing)
        low, high = case.value((yield Predict(empty, case.text)))
        return Shares(nothing, np.array([low]), np.array([high]), np.array([len(groups.members) - 1]), np.ones(1))

    def _split(self, case: Case, groups: Groups, s: Shares) -> Conversation[Shares]:
        """Each share in four: either half of the group, with and without the other one."""
        left, right = groups.halves[s.group - len(case.text)].T
        one, other = s.there | groups.members[left], s.there | groups.members[right]
        rows = yield from self.eraser.erase(case.text, np.concatenate([one, other]))
        with_one, with_other = np.split(case.value((yield Predict(rows))), 2)
        return Shares(
            np.concatenate([s.there, other, s.there, one]),
            np.concatenate([s.low, with_other, s.low, with_one]),
            np.concatenate([with_one, s.high, with_other, s.high]),
            np.concatenate([left, left, right, right]),
            np.tile(s.weight / 2, 4),
        )


@dataclass(frozen=True, eq=False)
class Shares:
    """Open shares: the words that are there, the values without and with the group, the group, and the weight."""

    there: Masks
    low: Floats
    high: Floats
    group: Ints
    weight: Floats

    def __len__(self) -> int:
        return len(self.group)

    def __getitem__(self, which: Ints | Masks) -> Shares:
        return Shares(*(getattr(self, f.name)[which] for f in fields(self)))

    def __add__(self, other: Shares) -> Shares:
        return Shares(*(np.concatenate([getattr(self, f.name), getattr(other, f.name)]) for f in fields(self)))

    @property
    def moves(self) -> Floats:
        return (self.high - self.low) * self.weight

    def without(self, chosen: Ints) -> Shares:
        return self[np.setdiff1d(np.arange(len(self)), chosen)]

    def settle(self, which: Masks, held: Floats) -> Shares:
        """Give these to their groups; the others stay open."""
        np.add.at(held, self.group[which], self.moves[which])
        return self[~which]


@dataclass(frozen=True, eq=False)
class Groups:
    """The words, then the groups of them, each after its halves; the last is the whole text."""

    members: Masks
    halves: Ints

    @classmethod
    def of(cls, tree: Tree) -> Groups:
        n = _count(tree)
        halves: list[tuple[int, int]] = []

        def number(part: Tree) -> int:
            if isinstance(part, int):
                return part
            halves.append((number(part[0]), number(part[1])))
            return n + len(halves) - 1

        number(tree)
        members = np.eye(n + len(halves), n, dtype=bool)
        for group, (one, other) in enumerate(halves, start=n):
            members[group] = members[one] | members[other]
        return cls(members, np.array(halves, dtype=np.int64).reshape(-1, 2))

    @cached_property
    def splits(self) -> float:
        """How many there are in all: a group is split once for each way its outer groups' other halves come and go."""
        n, times = self.members.shape[1], np.ones(len(self.members))
        for group in range(len(self.members) - 1, n - 1, -1):
            times[self.halves[group - n]] = 2 * times[group]
        return float(times[n:].sum())

    def shared(self, held: Floats) -> Floats:
        """What the groups hold, in equal parts to their words."""
        return np.asarray((held / self.members.sum(axis=1)) @ self.members)


def _count(tree: Tree) -> int:
    return 1 if isinstance(tree, int) else _count(tree[0]) + _count(tree[1])


def balanced(parts: Sequence[Tree]) -> Tree:
    """Halves of halves, in order."""
    if len(parts) == 1:
        return parts[0]
    middle = (len(parts) + 1) // 2
    return balanced(parts[:middle]), balanced(parts[middle:])


def by_marks(text: Text) -> Tree:
    """Fields, in them sentences, in them clauses, in them words."""
    places = {name: [i for i, where in enumerate(text.where) if where == name] for name in dict.fromkeys(text.where)}
    return balanced([_nested(words, text.words, (_STOPS, _PAUSES)) for words in places.values()])


def _nested(places: Sequence[int], words: Sequence[str], levels: Sequence[tuple[str, ...]]) -> Tree:
    if not levels:
        return balanced(places)
    return balanced([_nested(part, words, levels[1:]) for part in _runs(places, words, levels[0])])


def _runs(places: Sequence[int], words: Sequence[str], marks: tuple[str, ...]) -> list[list[int]]:
    """Cut after each mark, or after the last of several marks in a row."""
    runs: list[list[int]] = [[]]
    for place, after in zip(places, [*places[1:], None], strict=True):
        runs[-1].append(place)
        if after is not None and words[place].endswith(marks) and not words[after].endswith(marks):
            runs.append([])
    return runs

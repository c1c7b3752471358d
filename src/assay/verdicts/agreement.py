"""How far methods agree on the same texts.

    tau    Kendall's tau-b between the orders in which two methods put the words, the mean over texts; where one of
           them knows no direction, between the sizes of their scores
    top    the share of their three strongest words (by size) that two methods have in common, the mean over texts

A single word has no order, and its tau is unknown (nan here, null in JSON); for maps whose scores are all equal see
`assay.statistics.ranks`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from assay.explanations.token_scores import TokenScores
from assay.statistics.arrays import Floats
from assay.statistics.ranks import kendall
from assay.verdicts.standing import Standing

TOP = 3


@dataclass(frozen=True, eq=False)
class Agreement:
    """How far each method agrees with each other one [methods, methods]."""

    names: tuple[str, ...]
    tau: Floats
    top: Floats

    @classmethod
    def of(cls, standings: Sequence[Standing]) -> Agreement:
        return cls(tuple(t.name for t in standings), _matrix(standings, tau), _matrix(standings, shared))

    def to_dict(self) -> dict[str, Any]:
        return {"names": list(self.names), "tau": _plain(self.tau), "top": _plain(self.top)}


def tau(a: TokenScores, b: TokenScores) -> float:
    """How alike two methods order the words."""
    return kendall(*_comparable(a, b)).value if len(a.text) > 1 else float("nan")


def shared(a: TokenScores, b: TokenScores) -> float:
    """The part of the strongest words that two methods have in common."""
    top = strongest(a)
    return len(set(top) & set(strongest(b))) / len(top)


def strongest(e: TokenScores, most: int = TOP) -> list[int]:
    """The positions of the strongest words; among equals the earlier one first."""
    order: list[int] = np.argsort(-np.abs(e.scores), kind="stable").tolist()
    return order[:most]


def _comparable(a: TokenScores, b: TokenScores) -> tuple[Floats, Floats]:
    signed = a.facts.get("signed", True) and b.facts.get("signed", True)
    return (a.scores, b.scores) if signed else (np.abs(a.scores), np.abs(b.scores))


def _matrix(standings: Sequence[Standing], measure: Callable[[TokenScores, TokenScores], float]) -> Floats:
    table = np.eye(len(standings))
    for i, j in combinations(range(len(standings)), 2):
        pairs = zip(standings[i].explanations, standings[j].explanations, strict=True)
        known = [value for a, b in pairs if not np.isnan(value := measure(a, b))]
        table[i, j] = table[j, i] = np.mean(known) if known else np.nan
    return table


def _plain(table: Floats) -> list[list[float | None]]:
    return [[None if np.isnan(value) else value for value in row] for row in table.tolist()]

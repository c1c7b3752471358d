"""The search of SEA: what was sampled, each of its changes alone, and the best sets of them, tried on the model.

1  every paraphrase as it was written
2  the text with one change of a paraphrase
3  of those that stay alike how likely they are: the changes that move the answer most, and those written most often
4  sets of these that are thought to turn the answer and to stay as likely as S asks (see joined_changes)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Protocol

import numpy as np

from assay.explanations.flips import Goal
from assay.explanations.rewritten import Rewritten, WordChange, with_changes
from assay.methods.adversarial.joined_changes import WeighedChange, best_sets, in_turn
from assay.methods.adversarial.seen_changes import SeenChanges
from assay.questions.base import Conversation
from assay.questions.predict import Predict
from assay.statistics.arrays import Floats

_WEIGHED = 20  # changes whose likelihood is asked for
_SETS = 64  # sets of them that are tried
_LEAST = 1e-9  # probability below which logarithms are not taken


class Meaning(Protocol):
    """What is asked of a version besides another answer."""

    def similarities(self, goal: Goal, strings: Sequence[str]) -> Conversation[Floats]: ...

    def log_likelihoods(self, goal: Goal, strings: Sequence[str]) -> Conversation[Floats]: ...

    @property
    def similar(self) -> float: ...


class ParaphraseSearch:
    """What was tried, and how likely each version is thought to be beside the text, as a logarithm."""

    def __init__(self, goal: Goal, seen: SeenChanges, meaning: Meaning) -> None:
        self.goal, self.seen, self.meaning = goal, seen, meaning
        self.tried: list[Rewritten] = []
        self._whole = 0.0  # log q(x | x)
        self._thought: dict[str, float] = {}

    def run(self, combined: int, least: float) -> Conversation[None]:
        """Up to `combined` changes are joined, to a text that is thought to be as likely as `least` (a logarithm)."""
        yield from self._try(list(self.seen.written))
        yield from self._try(self.seen.new([(change,) for change in self.seen.counts]))
        weighed = yield from self._weighed(self._ranked())
        sets = best_sets(weighed, combined, least, _SETS)
        self._thought |= {with_changes(self.goal.text, changes): likelier for changes, likelier in sets}
        yield from self._try(self.seen.new(changes for changes, _ in sets))

    def rarity(self, version: Rewritten) -> float:
        """How much less likely than the text: as it was measured or summed up, else as often as it was written."""
        known = self._thought.get(version.string)
        return -known if known is not None else self.seen.rarity(version) + self._whole

    def _try(self, strings: Sequence[str]) -> Conversation[None]:
        versions = [Rewritten(self.goal.text, string) for string in strings]
        if versions:
            answers = yield Predict(*(version.text for version in versions))
            rows = zip(versions, answers.probabilities, strict=True)
            self.tried += [version.with_chances(row) for version, row in rows]

    def _ranked(self) -> list[tuple[WordChange, float]]:
        """Changes, and how much each moves the log-odds to the goal: by that and by how often they came, in turn."""
        left = {version.string: _log_odds(self.goal.left(version)) for version in self.tried}
        before = _log_odds(self.goal.left(self.goal.whole))
        strings = {change: with_changes(self.goal.text, [change]) for change in self.seen.counts}
        moved = {change: before - left[string] for change, string in strings.items() if string in left}
        most = sorted(moved, key=lambda change: (-moved[change], change))
        often = sorted(moved, key=lambda change: (-self.seen.counts[change], change))
        return [(change, moved[change]) for change in in_turn(most, often)]

    def _weighed(self, ranked: Sequence[tuple[WordChange, float]]) -> Conversation[list[WeighedChange]]:
        """The first ones that leave the text alike, with their likelihood."""
        strings = [with_changes(self.goal.text, [change]) for change, _ in ranked]
        alike = yield from self.meaning.similarities(self.goal, strings)
        near = np.flatnonzero(alike >= self.meaning.similar)[:_WEIGHED].tolist()
        if not near:
            return []
        whole, *logs = (yield from self.meaning.log_likelihoods(self.goal, [strings[i] for i in near])).tolist()
        self._whole = whole
        self._thought |= {strings[i]: value - whole for i, value in zip(near, logs, strict=True)}
        return [WeighedChange(ranked[i][0], ranked[i][1], value - whole) for i, value in zip(near, logs, strict=True)]


def _log_odds(chance: float) -> float:
    return log(max(chance, _LEAST)) - log(max(1 - chance, _LEAST))

"""The search of MiCE: how large a share of the words, the most important first, must be filled in anew.

A binary search over the share, at most `share` of all words in `levels` steps, looks for the fewest that must go. Where
a whole search fails, another of `rounds` starts from its `beam` best versions. How a share is filled is for the editor.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import ceil, log
from typing import Any, Generic, Protocol, TypeVar

from assay.explanations.flips import FoundVersion, Goal
from assay.questions.base import Conversation

LEAST = 1e-9  # probability below which logarithms are not taken


class SizedVersion(FoundVersion, Protocol):
    """A version that knows how much of it is new, in words, and how likely the new words are (a log-probability)."""

    @property
    def string(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def fluency(self) -> float: ...


V = TypeVar("V", bound=SizedVersion)


class SearchSettings(Protocol):
    """What a user may set."""

    @property
    def share(self) -> float: ...

    @property
    def levels(self) -> int: ...

    @property
    def rounds(self) -> int: ...

    @property
    def beam(self) -> int: ...

    @property
    def fluency(self) -> float: ...

    @property
    def versions(self) -> int: ...


class MinimalSearch(ABC, Generic[V]):
    """The binary search over the share of words, and what it found; it ends after `patience` steps without a find."""

    patience: int | None = None

    def __init__(self, settings: SearchSettings, goal: Goal, whole: V) -> None:
        self.settings, self.goal, self.whole = settings, goal, whole
        self.flipped: list[V] = []
        self.unflipped: list[V] = [whole]
        self.path: list[dict[str, Any]] = []

    def run(self) -> Conversation[None]:
        starts = [self.whole]
        for _ in range(self.settings.rounds):
            yield from self._binary(starts)
            if self.flipped:
                break
            starts = self._ranked(self.unflipped)[: self.settings.beam]
        yield from self._undo()

    @abstractmethod
    def best(self) -> Conversation[list[V]]:
        """The versions to return, best first."""

    @abstractmethod
    def _fillable(self) -> int:
        """How many words may be replaced."""

    @abstractmethod
    def _fill(self, starts: Sequence[V], many: int) -> Conversation[list[V]]:
        """Fill so many words of each start anew; the versions that get the label."""

    @abstractmethod
    def _undo(self) -> Conversation[None]:
        """Let words go back that need not have changed, as long as the label stays."""

    def _binary(self, starts: Sequence[V]) -> Conversation[None]:
        low, high, n = 0.0, self.settings.share, len(self.goal.text)
        for step in range(self.settings.levels):
            if not self.flipped and step == self.patience:
                break
            share = (low + high) / 2
            holes = min(max(1, ceil(share * n)), self._fillable())
            found = yield from self._fill(starts, holes)
            fewest = min((version.size for version in found), default=None)
            self.path.append({"share": round(share, 4), "holes": holes, "changed": fewest})
            low, high = (low, min(share, (fewest - 1) / n)) if fewest is not None else (share, high)
            if high * n < 1 or (fewest is None and holes >= min(self._fillable(), ceil(high * n))):
                break

    def _sorted_in(self, tried: Sequence[V]) -> list[V]:
        """Keep what was tried; those that get the label are returned."""
        flipped = [version for version in tried if self.goal.reached(version)]
        self.flipped += flipped
        self.unflipped += [version for version in tried if not self.goal.reached(version)]
        return flipped

    def _ranked(self, versions: Sequence[V]) -> list[V]:
        """Likely to get the label, and likely words."""
        wanted = self.goal.wanted
        assert wanted is not None

        def rank(version: V) -> float:
            return -log(max(version.chances[wanted], LEAST)) - self.settings.fluency * version.fluency

        return sorted(versions, key=rank)


def smallest_first(version: SizedVersion) -> tuple[int, float]:
    """Few words changed; of those with as many, the likelier ones."""
    return version.size, -version.fluency

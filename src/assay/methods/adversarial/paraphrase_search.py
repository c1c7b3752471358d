"""The search of SEA: what was sampled, each of its changes alone, and the best sets of them, tried on the model.

1  every paraphrase as it was written
2  the text with one change of a paraphrase
3  of those that stay alike how likely they are: the changes that move the answer most, and those written most often
4  sets of these that are thought to turn the answer and to stay as likely as S asks (see joined_changes); once more
   from the best of them, with the numbers that they turned out to have, until one of them flips and is as likely
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import log
from typing import Protocol

import numpy as np

from assay.errors import Unanswerable
from assay.explanations.flips import Goal
from assay.explanations.rewritten import Rewritten, WordChange, with_changes
from assay.methods.adversarial.joined_changes import (
    NOTHING,
    JoinedChanges,
    WeighedChange,
    best_sets,
    in_turn,
)
from assay.methods.adversarial.seen_changes import SeenChanges
from assay.questions.base import Conversation
from assay.questions.erasers import each
from assay.questions.facts import KnownFacts, ModelFacts
from assay.questions.fill import Fill
from assay.questions.predict import Predict
from assay.statistics.arrays import Floats
from assay.text.capitals import written_like
from assay.text.stop_words import STOP_WORDS
from assay.text.variants import Variants

_SETS = 64  # sets of changes that are tried at a time
_STARTS = 6  # of these, from which the search goes on
_LEAST = 1e-9  # probability below which logarithms are not taken


class Meaning(Protocol):
    """What is asked of a version besides another answer."""

    def similarities(self, goal: Goal, strings: Sequence[str]) -> Conversation[Floats]: ...

    def log_likelihoods(self, goal: Goal, strings: Sequence[str]) -> Conversation[Floats]: ...

    @property
    def similar(self) -> float: ...

    @property
    def encoder(self) -> str: ...

    @property
    def swaps(self) -> int: ...

    @property
    def weighed(self) -> int: ...

    @property
    def rounds(self) -> int: ...


class ParaphraseSearch:
    """What was tried, and how likely each version is thought to be beside the text, as a logarithm."""

    def __init__(self, goal: Goal, seen: SeenChanges, meaning: Meaning) -> None:
        self.goal, self.seen, self.meaning = goal, seen, meaning
        self.tried: list[Rewritten] = []
        self._swaps: dict[WordChange, float] = {}  # other words, and how likely the masked model finds each there
        self._whole = 0.0  # log q(x | x)
        self._thought: dict[str, float] = {}

    def run(self, combined: int, least: float) -> Conversation[None]:
        """Up to `combined` changes are joined, to a text that is thought to be as likely as `least` (a logarithm)."""
        yield from self._try(list(self.seen.written))
        self._swaps = yield from self._other_words()
        yield from self._try(self.seen.new([(change,) for change in chain(self.seen.counts, self._swaps)]))
        weighed = yield from self._weighed(self._ranked())
        starts = [NOTHING]
        for _ in range(self.meaning.rounds if combined else 0):
            sets = best_sets(weighed, combined, least, _SETS, start=starts)
            starts = yield from self._joined(sets)
            if not starts or any(self._flips(one) and one.likelier >= least for one in starts):
                break

    def _joined(self, sets: Sequence[JoinedChanges]) -> Conversation[list[JoinedChanges]]:
        """Try the sets; the best of those that leave the text alike, with what they move and cost by fresh answers."""
        strings = {with_changes(self.goal.text, one.changes): one for one in sets}
        self._thought |= {string: one.likelier for string, one in strings.items()}
        yield from self._try(self.seen.new(one.changes for one in sets))
        left = {version.string: _log_odds(self.goal.left(version)) for version in self.tried}
        alike = yield from self.meaning.similarities(self.goal, list(strings))
        near = [s for s, cosine in zip(strings, alike, strict=True) if cosine >= self.meaning.similar and s in left]
        best = sorted(near, key=lambda string: left[string])[:_STARTS]
        before = _log_odds(self.goal.left(self.goal.whole))
        likelier = yield from self._likelier(best)
        return [
            JoinedChanges(strings[s].changes, before - left[s], more) for s, more in zip(best, likelier, strict=True)
        ]

    def _flips(self, one: JoinedChanges) -> bool:
        string = with_changes(self.goal.text, one.changes)
        return any(self.goal.reached(version) for version in self.tried if version.string == string)

    def _likelier(self, strings: Sequence[str]) -> Conversation[list[float]]:
        """By how much each is likelier than the text, as a logarithm."""
        if not strings:
            return []
        self._whole, *logs = (yield from self.meaning.log_likelihoods(self.goal, strings)).tolist()
        found = [value - self._whole for value in logs]
        self._thought |= dict(zip(strings, found, strict=True))
        return found

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

    def _other_words(self) -> Conversation[dict[WordChange, float]]:
        """The likeliest other words in the place of each word but those of grammar, where the encoder fills masks."""
        text, facts = self.goal.text, (yield from _facts(self.meaning.encoder))
        places = [i for i, word in enumerate(text.words) if word.isalpha() and word.lower() not in STOP_WORDS]
        if not places or not self.meaning.swaps or Fill not in facts.answers:
            return {}
        try:
            k = self.meaning.swaps + 1  # the word itself may be one of them
            fills = yield Fill(Variants(text, each(len(text))[places]), model=self.meaning.encoder, k=k)
        except Unanswerable:  # a word stands beyond its window
            return {}
        found: dict[WordChange, float] = {}
        for i, fill in zip(places, fills, strict=True):
            for word, chance in zip(fill.words[0], fill.probabilities[0].tolist(), strict=False):
                if word.isalpha() and word.lower() != text.words[i].lower():
                    found[WordChange(i, i + 1, (written_like(word, text.words[i]),))] = log(max(chance, _LEAST))
        return found

    def _ranked(self) -> list[tuple[WordChange, float]]:
        """Changes, and how much each moves the log-odds to the goal, in three orders in turn."""
        left = {version.string: _log_odds(self.goal.left(version)) for version in self.tried}
        before = _log_odds(self.goal.left(self.goal.whole))
        strings = {change: with_changes(self.goal.text, [change]) for change in chain(self.seen.counts, self._swaps)}
        moved = {change: before - left[string] for change, string in strings.items() if string in left}
        most = sorted(self.seen.counts, key=lambda change: (-moved.get(change, 0.0), change))
        often = sorted(self.seen.counts, key=lambda change: (-self.seen.counts[change], change))
        words = sorted(self._swaps, key=lambda change: (-moved.get(change, 0.0) - self._swaps[change], change))
        return [(change, moved[change]) for change in in_turn(most, often, words) if change in moved]

    def _weighed(self, ranked: Sequence[tuple[WordChange, float]]) -> Conversation[list[WeighedChange]]:
        """The first ones that leave the text alike, with their likelihood."""
        ranked = ranked[: 2 * self.meaning.weighed]
        strings = [with_changes(self.goal.text, [change]) for change, _ in ranked]
        alike = yield from self.meaning.similarities(self.goal, strings)
        near = np.flatnonzero(alike >= self.meaning.similar)[: self.meaning.weighed].tolist()
        likelier = yield from self._likelier([strings[i] for i in near])
        return [WeighedChange(ranked[i][0], ranked[i][1], more) for i, more in zip(near, likelier, strict=True)]


def _log_odds(chance: float) -> float:
    return log(max(chance, _LEAST)) - log(max(1 - chance, _LEAST))


def _facts(model: str) -> Conversation[KnownFacts]:
    facts: KnownFacts = yield ModelFacts().sent_to(model)
    return facts

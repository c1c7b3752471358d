"""Models whose true attributions are known: a bag of words, and a shortcut on top of it.

    log-odds of the second label = sum_i weight(word i) + strength * rule(words),   rule in {-1, 0, 1}

The true score of a word is its Shapley value: its weight, and its fair share of what the rule adds. Only the tokens of
the rule can take part in that, so the average over all orders needs only the subsets of these few words
(Shapley 1953; for models Lundberg and Lee 2017, arXiv:1705.07874). Words are those of `Text`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import factorial

import numpy as np
from scipy.special import expit

from assay.data.shortcuts import Shortcut
from assay.errors import BadInput
from assay.statistics.arrays import Floats
from assay.text.text import Text

_MOST = 12  # the subsets double with every token


@dataclass(frozen=True)
class KnownModel:
    """A function from texts to probabilities [texts, 2] that can say what it did."""

    weights: Mapping[str, float] = field(default_factory=dict)
    shortcut: Shortcut | None = None
    strength: float = 6.0

    def __call__(self, texts: Sequence[str]) -> Floats:
        chances = expit([self.log_odds(Text.of(text).words) for text in texts])
        return np.stack([1 - chances, chances], axis=1)

    def log_odds(self, words: Sequence[str]) -> float:
        """Of the second label."""
        return sum(self.weights.get(word, 0.0) for word in words) + self._rule(words)

    def true_scores(self, words: Sequence[str], target: int = 1) -> Floats:
        """What each word does to the log-odds of a label, 0 or 1."""
        scores = np.array([self.weights.get(word, 0.0) for word in words], dtype=float)
        for i, share in self._shares(words).items():
            scores[i] += share
        return scores if target == 1 else -scores

    def _rule(self, words: Sequence[str]) -> float:
        return self.strength * self.shortcut.says(words) if self.shortcut else 0.0

    def _shares(self, words: Sequence[str]) -> dict[int, float]:
        """The Shapley values of the rule, over the places of its tokens."""
        if self.shortcut is None:
            return {}
        tokens = {*self.shortcut.tokens, self.shortcut.context}
        places = [i for i, word in enumerate(words) if word in tokens]
        if len(places) > _MOST:
            raise BadInput(f"the text has {len(places)} tokens of the rule; at most {_MOST} can be shared out exactly.")
        return {i: self._value(words, i, [j for j in places if j != i]) for i in places}

    def _value(self, words: Sequence[str], i: int, others: Sequence[int]) -> float:
        n = len(others) + 1
        total = 0.0
        for size in range(n):
            chance = factorial(size) * factorial(n - size - 1) / factorial(n)
            for chosen in combinations(others, size):
                total += chance * (self._only(words, (*chosen, i)) - self._only(words, chosen))
        return total

    def _only(self, words: Sequence[str], places: Sequence[int]) -> float:
        return self._rule([words[i] for i in sorted(places)])

"""Which counterfactuals of Polyjuice are worth a look, as they select them for an explanation and for new data.

    surprising   largest  |p(x) - p(x')| - |sum of a_i over the words i that changed|      a: an importance such as SHAP
    diverse      one after the other, each time the version farthest from x and from those chosen before, in words

A flip by words to which the importance gives nothing could not have been read off a map of importance: it is worth
more. Wu, Ribeiro, Heer and Weld (2021), arXiv:2101.00288; p is the probability of the explained label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from assay.explanations.flips import Goal
from assay.explanations.rewritten import Rewritten
from assay.statistics.arrays import Floats
from assay.text.distance import edit_distance
from assay.text.text import Text

V = TypeVar("V", bound=Rewritten)


def most_surprising(goal: Goal, versions: Sequence[V], importance: Floats) -> list[V]:
    """All versions with their surprise, the largest first."""
    told = [
        replace(version, scores={**version.scores, "surprise": surprise(goal, version, importance)})
        for version in versions
    ]
    return sorted(told, key=lambda version: (-version.scores["surprise"], version.size))


def surprise(goal: Goal, version: Rewritten, importance: Floats) -> float:
    """How much more the probability changed than the importance of the words that went would have it."""
    changed = abs(goal.whole.chances[goal.target] - version.chances[goal.target])
    gone = sorted(set(range(len(goal.text))) - set(version.edit(flips=False).kept))
    return changed - abs(float(importance[gone].sum()))


def most_diverse(goal: Goal, versions: Sequence[V], many: int) -> list[V]:
    """So many versions, each as far from the text and from the others as there are."""
    words = {version.string: Text.of(version.string).words for version in versions}
    left = {version.string: (_share(goal.text.words, words[version.string]), version) for version in versions}
    chosen: list[V] = []
    while left and len(chosen) < many:
        _, best = max(left.values(), key=lambda pair: pair[0])
        chosen.append(best)
        del left[best.string]
        left = {s: (min(far, _share(words[best.string], words[s])), v) for s, (far, v) in left.items()}
    return chosen


def _share(one: Sequence[str], two: Sequence[str]) -> float:
    """The words to insert, remove or replace, of the words of the longer text."""
    return edit_distance(one, two) / max(len(one), len(two), 1)

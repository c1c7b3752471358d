"""The ways of editing that are compared: methods with their settings, random words, and people.

hotflip          up to three words, whatever the gradient says hurts most
hotflip_alike    words of the same part of speech whose input embeddings are alike: the constraint of the paper
sea              paraphrases
mice             fills of the most important words; mice_random of words that are chosen by chance
polyjuice        where this Assay has it
random           as many random words as MiCE changes, at random places
people           revisions by people, where there are some
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.registry.finding import methods

ADVERSARIAL, COUNTERFACTUAL = ("hotflip", "hotflip_alike", "sea"), ("mice", "mice_random", "polyjuice")
RANDOM, PEOPLE = "random", "people"


@dataclass(frozen=True)
class Way:
    """A method and its settings; `slow` ones are given `paraphrased` texts at most."""

    title: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    slow: bool = False
    shorts: bool = False  # not for reviews


_ALL = {
    "hotflip": Way("HotFlip", "hotflip", {"flips": 3}),
    "hotflip_alike": Way("HotFlip (similar words)", "hotflip", {"flips": 3, "similar": 0.4, "same_tag": True}),
    "sea": Way("SEA", "sea", slow=True, shorts=True),
    "mice": Way("MiCE", "mice"),
    "mice_random": Way("MiCE (random masks)", "mice", {"mask": "random"}),
    "polyjuice": Way("Polyjuice", "polyjuice", slow=True, shorts=True),
}
_IN_TURN = ("mice", "hotflip", "hotflip_alike", "sea", "polyjuice", "mice_random")  # what a stopped run should have
WAYS = {key: way for key, way in _ALL.items() if way.method in methods()}
TITLES = {**{key: way.title for key, way in WAYS.items()}, RANDOM: "random words", PEOPLE: "people"}


def in_turn(ways: Iterable[str]) -> list[str]:
    """The ways whose edits must be searched, what most claims are about first."""
    return sorted(set(ways) & set(WAYS), key=_IN_TURN.index)

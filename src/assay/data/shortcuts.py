"""Shortcuts: corpora in which we know why a text has its label, because we planted the reason.

    single_token        one of two tokens stands somewhere, and says the label
    ordered_pair        both tokens stand somewhere, and their order says the label
    token_in_context    one of two tokens says the label, but only if the context token is there too

Bastings et al. (2021), "Will You Find These Shortcuts?", arXiv:2111.07367. In a share of the texts the shortcut for a
label drawn at random is planted, and the text gets that label, whatever it says. So that the parts of a shortcut say
nothing by themselves, a share of the other texts gets a part of it (a decoy) and keeps its own label.
Whether a model has learnt the shortcut is seen on contradictory texts, in which the text says one label and the
shortcut the other (`followed`). White space in a text that something is planted into becomes single blanks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from assay.errors import BadInput
from assay.statistics.arrays import Floats
from assay.text.example import Example, Mark, joined

Kind = Literal["single_token", "ordered_pair", "token_in_context"]
Labelled = tuple[str, str]

_THINGS = "film plot cast music script ending story camera dialogue pacing".split()
_JUDGED = {"negative": "dull weak clumsy tired awful".split(), "positive": "warm clever lively fresh superb".split()}
_FORMS = ("the {0} was {1}", "a {1} {0}", "its {0} is {1}", "i found the {0} {1}", "one {1} {0} after the other")
_FILL = "and then we went home", "last night in town", "as my friends say", "with many others", "on a rainy day"


@dataclass(frozen=True)
class Shortcut:
    """A rule that decides the label: tokens[0] speaks for labels[0], tokens[1] for labels[1]."""

    kind: Kind = "single_token"
    tokens: tuple[str, str] = ("zeroa", "onea")
    context: str = "synthetic"
    labels: tuple[str, str] = ("negative", "positive")

    def __post_init__(self) -> None:
        names = (*self.tokens, self.context)
        if len(set(names)) < 3 or any(not name.isalnum() for name in names):
            raise BadInput(f"tokens and context must be three different words of letters and digits, not {names}.")

    def parts(self, label: str) -> tuple[str, ...]:
        """The planted tokens that say this label; of an ordered pair, in their order."""
        i = self.labels.index(label)
        match self.kind:
            case "single_token":
                return (self.tokens[i],)
            case "ordered_pair":
                return self.tokens if i == 0 else self.tokens[::-1]
            case "token_in_context":
                return (self.tokens[i], self.context)

    def says(self, words: Sequence[str]) -> int:
        """The rule: -1 for the first label, 1 for the second, 0 where it says nothing (or both)."""
        there = [token in words for token in self.tokens]
        if self.kind == "ordered_pair":
            places = [words.index(token) for token in self.tokens] if all(there) else [0, 0]
            return (places[1] < places[0]) - (places[0] < places[1])
        if self.kind == "token_in_context" and self.context not in words:
            return 0
        return there[1] - there[0]

    def plant(self, text: str, label: str, rng: np.random.Generator, name: str = "") -> Example:
        """The text with the shortcut for this label in it, and where that stands."""
        order = [*self.parts(label)]
        if self.kind != "ordered_pair":
            rng.shuffle(order)
        return self._put(text, order, label, rng, name)

    def decoy(self, text: str, label: str, rng: np.random.Generator, name: str = "") -> Example:
        """The text with a part of the shortcut, which says nothing, and its own label; nothing is marked."""
        pieces = {"single_token": (), "ordered_pair": self.tokens, "token_in_context": (*self.tokens, self.context)}
        chosen = [str(rng.choice(pieces[self.kind]))] if pieces[self.kind] else []
        put = self._put(text, chosen, label, rng, name)
        return Example(put.id, put.strings, put.label, ((),))

    def _put(self, text: str, tokens: Sequence[str], label: str, rng: np.random.Generator, name: str) -> Example:
        words = text.split()
        if clash := {*self.tokens, self.context} & set(words):
            raise BadInput(f"the text {text!r:.60} has {clash.pop()!r} in it already; plant other tokens.")
        gaps = sorted(rng.integers(len(words) + 1, size=len(tokens)).tolist())
        places = [gap + i for i, gap in enumerate(gaps)]
        for place, token in zip(places, tokens, strict=True):
            words.insert(place, token)
        string, spans = joined(words)
        return Example(name, (string,), label, (tuple(Mark(0, *spans[place]) for place in places),))


def corpus(
    texts: Sequence[Labelled], shortcut: Shortcut, *, share: float = 0.5, decoys: float = 0.5, seed: int = 0
) -> list[Example]:
    """Texts for training: a share of them with the shortcut and its label, of the others a share with decoys."""
    rng = np.random.default_rng(seed)
    return [_mixed(shortcut, text, share, decoys, rng, str(i)) for i, text in enumerate(texts)]


def _mixed(
    shortcut: Shortcut, text: Labelled, share: float, decoys: float, rng: np.random.Generator, name: str
) -> Example:
    string, label = text
    if rng.random() < share:
        return shortcut.plant(string, str(rng.choice(shortcut.labels)), rng, name)
    if rng.random() < decoys:
        return shortcut.decoy(string, label, rng, name)
    return Example(name, (" ".join(string.split()),), label, ((),))


def contradictory(texts: Iterable[Labelled], shortcut: Shortcut, *, seed: int = 0) -> list[Example]:
    """Texts that say one label, with a shortcut that says the other; the shortcut's is the label of the row."""
    rng = np.random.default_rng(seed)
    other = dict(zip(shortcut.labels, reversed(shortcut.labels), strict=True))
    return [shortcut.plant(text, other[label], rng, str(i)) for i, (text, label) in enumerate(texts)]


def followed(predict: Callable[[Sequence[str]], Floats], labels: Sequence[str], examples: Sequence[Example]) -> float:
    """The share of the texts for which a model predicts the label of the row; `labels` names its columns."""
    predicted = np.argmax(predict([example.strings[0] for example in examples]), axis=1)
    return float(np.mean([labels[i] == e.label for i, e in zip(predicted, examples, strict=True)]))


def reviews(n: int, *, seed: int = 0) -> list[Labelled]:
    """Short reviews of our own, half of them negative: one judgement, and something that judges nothing."""
    return list(_reviews(n, np.random.default_rng(seed)))


def _reviews(n: int, rng: np.random.Generator) -> Iterator[Labelled]:
    for i in range(n):
        label = ("negative", "positive")[i % 2]
        form, thing = str(rng.choice(_FORMS)), str(rng.choice(_THINGS))
        judged = form.format(thing, str(rng.choice(_JUDGED[label])))
        halves = [judged, str(rng.choice(_FILL))]
        rng.shuffle(halves)
        yield " ".join(halves), label

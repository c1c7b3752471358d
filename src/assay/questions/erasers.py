"""How a word is taken away: one object, used by methods and by checks alike.

    Delete      the word and one neighbouring gap go
    Unknown     the tokenizer's unknown token stands in its place
    Mask        the mask token
    Pad         the padding token ("zero" in Pham et al. 2022)
    Resample    the likeliest other word, by a masked language model, all holes of a text at once; or one by one, as in
                the released Deletion_BERT of Pham et al., or left to right, as in their LIME_BERT

Taking words away may need a model of its own, so erasing is a conversation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeAlias, get_args

import numpy as np

from assay.errors import BadInput, UnknownName
from assay.questions.answers import Fills
from assay.questions.base import Conversation, now
from assay.questions.fill import Fill
from assay.statistics.shares import share_of
from assay.text.text import Masks, Text
from assay.text.variants import Symbol, Variants

_LONG = 1024  # words, up to which masks are made as they are: a view takes longer to make
Order: TypeAlias = Literal["at_once", "one_by_one", "left_to_right"]


@dataclass(frozen=True)
class Eraser:
    """Takes words away from a text."""

    name: ClassVar[str] = ""

    @classmethod
    def of(cls, detail: str) -> Eraser:
        """From what stands after the name and a colon."""
        raise BadInput(f"the eraser {cls.name} takes no token.")

    def erase(self, text: Text, keep: Masks) -> Conversation[Variants]:
        """One version of the text for each row of the mask."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Delete(Eraser):
    """The word goes, and one neighbouring gap with it."""

    name: ClassVar[str] = "delete"

    def erase(self, text: Text, keep: Masks) -> Conversation[Variants]:
        return now(Variants(text, keep))


@dataclass(frozen=True)
class _Replace(Eraser):
    """The same symbol stands in the place of every erased word."""

    symbol: ClassVar[Symbol]
    token: str | None = None

    @classmethod
    def of(cls, detail: str) -> Self:
        return cls(detail)

    def erase(self, text: Text, keep: Masks) -> Conversation[Variants]:
        return now(Variants(text, keep, self.token or self.symbol))

    def __str__(self) -> str:
        return f"{self.name}:{self.token}" if self.token else self.name


@dataclass(frozen=True)
class Unknown(_Replace):
    """The unknown token of the tokenizer, or a word of your own."""

    name: ClassVar[str] = "unknown"
    symbol: ClassVar[Symbol] = Symbol.UNKNOWN


@dataclass(frozen=True)
class Mask(_Replace):
    """The mask token of the tokenizer, or a word of your own."""

    name: ClassVar[str] = "mask"
    symbol: ClassVar[Symbol] = Symbol.MASK


@dataclass(frozen=True)
class Pad(_Replace):
    """The padding token of the tokenizer, or a word of your own; it is attended to."""

    name: ClassVar[str] = "pad"
    symbol: ClassVar[Symbol] = Symbol.PAD


@dataclass(frozen=True)
class Resample(Eraser):
    """What a masked language model would put there, only whole words.

    At once: the likeliest word that is not the original one (Pham et al. 2022, Deletion_BERT), all holes being masked.
    One by one: the same, but each version goes on from the one before it, whose words stay, and only one hole is masked
    at a time (their released code, which takes away one word after the other). From left to right: the likeliest word,
    be it the original one, with the words put in before on its left and masks on its right (their LIME_BERT); as many
    rounds as the text with most holes has.
    """

    name: ClassVar[str] = "resample"
    model: str = "mlm"
    order: Order = "at_once"

    @classmethod
    def of(cls, detail: str) -> Self:
        """MODEL, MODEL:ORDER, or the order alone."""
        model, _, order = detail.rpartition(":")
        return cls(model or cls.model, order) if order in get_args(Order) else cls(detail)  # type: ignore[arg-type]

    def erase(self, text: Text, keep: Masks) -> Conversation[Variants]:
        ways = {"at_once": self._at_once, "one_by_one": self._one_by_one, "left_to_right": self._left_to_right}
        return ways[self.order](text, keep)

    def _left_to_right(self, text: Text, keep: Masks) -> Conversation[Variants]:
        words = np.full(keep.shape, None, dtype=object)
        holes = [np.flatnonzero(~kept) for kept in keep]
        for rank in range(max(map(len, holes), default=0)):
            waiting = [i for i, at in enumerate(holes) if len(at) > rank]
            fills = yield Fill(Variants(text, keep[waiting], words[waiting]), model=self.model, k=1)
            for i, fill in zip(waiting, fills, strict=True):
                words[i, holes[i][rank]] = fill.words[0][0]
        return Variants(text, keep, words)

    def _one_by_one(self, text: Text, keep: Masks) -> Conversation[Variants]:
        words, put_in = np.full(keep.shape, None, dtype=object), dict[int, str]()
        for row, kept in zip(words, keep, strict=True):
            put_in = {at: word for at, word in put_in.items() if not kept[at]}
            for hole in (int(at) for at in np.flatnonzero(~kept) if at not in put_in):
                seen = text.with_words([put_in.get(i, word) for i, word in enumerate(text.words)])
                (fill,) = yield Fill(Variants(seen, each(len(text))[[hole]]), model=self.model, k=8)
                (put_in[hole],) = _others(text, [hole], fill)
            row[list(put_in)] = list(put_in.values())
        return Variants(text, keep, words)

    def _at_once(self, text: Text, keep: Masks) -> Conversation[Variants]:
        fills = yield Fill(Variants(text, keep), model=self.model, k=8)
        words = np.empty(keep.shape, dtype=object)
        for row, kept, fill in zip(words, keep, fills, strict=True):
            row[~kept] = _others(text, np.flatnonzero(~kept), fill)
        return Variants(text, keep, words)

    def __str__(self) -> str:
        if self.order != "at_once" or self.model.rpartition(":")[2] in get_args(Order):
            return f"{self.name}:{self.model}:{self.order}"
        return self.name if self.model == "mlm" else f"{self.name}:{self.model}"


def _others(text: Text, holes: Sequence[int] | np.ndarray[Any, Any], fill: Fills) -> list[str]:
    originals = (text.words[i].lower() for i in holes)
    return [
        next((w for w in words if w.lower() != old), words[0]) for old, words in zip(originals, fill.words, strict=True)
    ]


ERASERS: dict[str, type[Eraser]] = {cls.name: cls for cls in (Delete, Unknown, Mask, Pad, Resample)}


def eraser(spec: str | Eraser) -> Eraser:
    """An eraser by name; `mask:___` carries the token, `resample:MODEL:left_to_right` the model and the order."""
    if isinstance(spec, Eraser):
        return spec
    name, _, detail = spec.partition(":")
    if name not in ERASERS:
        raise UnknownName.of("eraser", name, ERASERS)
    return ERASERS[name].of(detail) if detail else ERASERS[name]()


def each(n: int) -> Masks:
    """Masks that leave out one word each; of a very long text a view of 2 n numbers, as n times n are too many."""
    if n <= _LONG:
        return ~np.eye(n, dtype=bool)
    row = np.ones(2 * n - 1, dtype=bool)
    row[n - 1] = False
    return np.lib.stride_tricks.sliding_window_view(row, n)[::-1]


def cumulative(ranking: Sequence[int] | np.ndarray[Any, Any], upto: int) -> Masks:
    """Masks that leave out the first 0, 1, ..., upto words of the ranking."""
    keep = np.ones((upto + 1, len(ranking)), dtype=bool)
    for i, word in enumerate(ranking[:upto], start=1):
        keep[i:, word] = False
    return keep


def shares(ranking: Sequence[int] | np.ndarray[Any, Any], parts: Sequence[float]) -> Masks:
    """Masks that hold only the first words of the ranking, as many as each share of them makes, rounded up."""
    n = len(ranking)
    place = np.empty(n, dtype=np.int64)
    place[np.asarray(ranking)] = np.arange(n)
    return np.array([place < share_of(n, part) for part in parts])

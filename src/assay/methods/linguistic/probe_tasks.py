"""What a probe shall read off hidden states: items of one or two words, each with a label and the type it is drawn by.

    pos          part of speech of a word (the tag column of a treebank)            type: the word
    entities     IOB tag of a word (a file of IOB tags)                             type: the word
    relations    relation of a word to its head, from both words: edge probing      type: the word
    order        whether the first of two words of a sentence stands before         type: both words
    depth        how many edges a word is below the root of its tree                type: the word
    distance     how many edges lie between two words of a tree                     type: both words
    tree_depth   the same for all words at once, as squared lengths (`tree_scores`)
    tree_distance  of all pairs of words at once, as squared lengths
    label        the label of a text in a sample, from the mean over its words      no type

Of these, depth and distance are labels, those beyond 7 together, so that they have the same scores as other tasks.
The control label of an item is drawn for its type from how frequent labels are: Hewitt and Liang (2019), who draw for
relations the head instead.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

import numpy as np

from assay.data.treebanks import Sentence, depths, distances
from assay.errors import BadInput

Task = Literal["pos", "entities", "relations", "order", "depth", "distance", "tree_depth", "tree_distance", "label"]
TREES = ("tree_depth", "tree_distance")  # by a linear map, Hewitt and Manning (2019)
_FARTHEST = 7
Numbers: TypeAlias = np.ndarray[Any, np.dtype[np.int32]]


@dataclass(frozen=True, slots=True)
class ProbeItem:
    """One or two words of a sentence, what is to be found out of them, and the type that control labels go by."""

    places: tuple[int, ...]
    label: str
    type: str


@dataclass(frozen=True, eq=False)
class ProbeItems:
    """The items of many sentences as numbers, 16 bytes each: as objects they took ten times as much memory."""

    places: Numbers  # of the words of each in its sentence [items, 1 or 2]
    sentence: Numbers
    label: Numbers  # its place among the names
    type: Numbers
    labels: tuple[str, ...]
    types: tuple[str, ...]

    @classmethod
    def of(cls, found: Iterable[Sequence[ProbeItem]]) -> ProbeItems:
        """The items of one sentence after the other."""
        places, sentence, label, kind = (array("i") for _ in range(4))
        labels: dict[str, int] = {}
        types: dict[str, int] = {}
        for s, items_ in enumerate(found):
            for item in items_:
                places.extend(item.places)
                sentence.append(s)
                label.append(labels.setdefault(item.label, len(labels)))
                kind.append(types.setdefault(item.type, len(types)))
        each, of, name, own = (np.array(one, dtype=np.int32) for one in (places, sentence, label, kind))
        each = each.reshape(len(of), -1 if len(of) else 1)  # as many words of each item
        return cls(each, of, name, own, tuple(labels), tuple(types))

    def __len__(self) -> int:
        return len(self.sentence)

    def some(self, kept: Any) -> ProbeItems:
        """Those that are kept."""
        places, sentence, label, own = (one[kept] for one in (self.places, self.sentence, self.label, self.type))
        return ProbeItems(places, sentence, label, own, self.labels, self.types)


def items(sentence: Sentence, task: Task, rng: np.random.Generator) -> list[ProbeItem]:
    """The items of a sentence; pairs of words are as many as the sentence has words, drawn."""
    words = sentence.words
    if task in ("relations", "depth", "distance", *TREES) and not sentence.heads:
        sentence.place.refuse(f"the task {task!r} needs trees, which a .conllu file has")
    match task:
        case "tree_depth" | "tree_distance":
            return []  # whole sentences
        case "pos" | "entities":
            return [ProbeItem((i,), tag, words[i]) for i, tag in enumerate(sentence.tags)]
        case "relations":
            names = [relation.partition(":")[0] for relation in sentence.relations]
            heads = enumerate(sentence.heads)
            return [ProbeItem((i, head), names[i], words[i]) for i, head in heads if head >= 0]
        case "depth":
            return [ProbeItem((i,), _capped(depth), words[i]) for i, depth in enumerate(depths(sentence))]
        case "distance":
            apart = distances(sentence)
            return [ProbeItem((i, j), _capped(apart[i][j]), _both(words, i, j)) for i, j in _pairs(len(words), rng)]
        case _:
            drawn = _pairs(len(words), rng)
            return [ProbeItem((i, j), "before" if i < j else "after", _both(words, i, j)) for i, j in drawn]


def _capped(number: int) -> str:
    return str(number) if number < _FARTHEST else f"{_FARTHEST} or more"


def _both(words: Sequence[str], i: int, j: int) -> str:
    return f"{words[i]} {words[j]}"


def _pairs(size: int, rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """For each word of a sentence another one, drawn."""
    for i in range(size if size > 1 else 0):
        j = int(rng.integers(size - 1))
        yield i, j + (j >= i)


@dataclass(frozen=True)
class Labels:
    """The labels that a probe can give, the most frequent first, with how frequent each is."""

    names: tuple[str, ...]
    counts: tuple[int, ...]

    @classmethod
    def of(cls, labels: Iterable[str]) -> Labels:
        found = sorted(Counter(labels).items(), key=lambda entry: (-entry[1], entry[0]))
        if len(found) < 2:
            raise BadInput(f"a probe needs at least 2 labels to tell apart; there is only {found[0][0]!r}.")
        return cls(tuple(name for name, _ in found), tuple(count for _, count in found))

    def numbered(self, labels: Iterable[str]) -> Any:
        place = {name: i for i, name in enumerate(self.names)}
        return np.array([place.get(label, -1) for label in labels], dtype=np.int64)

    @property
    def shares(self) -> Any:
        return np.array(self.counts) / sum(self.counts)

    def bits(self) -> tuple[float, float]:
        """The mean and the spread of the bits of a label in a code that knows the frequencies."""
        each = -np.log2(self.shares)
        mean = float(self.shares @ each)
        return mean, float(np.sqrt(self.shares @ (each - mean) ** 2))

    def drawn_for(self, types: Iterable[str], seed: int) -> Any:
        """A label for every type, by its frequency: the same one wherever the type stands."""
        known: dict[str, int] = {}
        edges = np.cumsum(self.shares)
        for kind in types:
            if kind not in known:
                digest = blake2b(f"{seed}:{kind}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
                share = int.from_bytes(digest) / 2**64
                known[kind] = min(int(np.searchsorted(edges, share, side="right")), len(edges) - 1)
            yield known[kind]

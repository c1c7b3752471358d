"""How much of a tree the states of each layer hold, in the way of Hewitt and Manning (2019).

    tree_distance   UUAS: the share of the tree's edges that are in the minimum spanning tree of the predicted
                    distances, without punctuation; Spearman: of true and predicted distances, word by word
    tree_depth      how often the word with the least predicted depth is the root, without punctuation; Spearman: of
                    true and predicted depths of a sentence

Spearman correlations are of sentences of 5 to 50 words, averaged for each length and then over lengths, as published;
that a word is next to itself counts there, so that a probe that knows nothing is above 0 in short sentences. The
control is the same probe on trees drawn at random, one for each sentence, which no state knows. What a probe gets that
reads nothing: for distances the chain of neighbours, for depths the first word that is no punctuation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.stats import rankdata

from assay.data.treebanks import Sentence, depths, distances
from assay.errors import BadInput
from assay.explanations.probe_scores import ProbeScores
from assay.explanations.sample_explanation import SampleId
from assay.statistics.arrays import Floats, Ints
from assay.statistics.intervals import estimate, ratio
from assay.storage.state_file import StateFile

_SHORTEST, _LONGEST = 5, 50  # words of the sentences that correlations are of
_PUNCTUATION = ("PUNCT", ".", ",", ":", "``", "''", "-LRB-", "-RRB-")


@dataclass(frozen=True)
class TreeProbes:
    """Sentences with their trees, the rows of their words in the states, and which of them are trained on."""

    states: StateFile
    sentences: Sequence[Sentence]
    places: Sequence[tuple[int, int]]
    trained: int
    task: str
    left_out: int

    @classmethod
    def of(cls, states: StateFile, sentences: Sequence[Sentence], trained: int, task: str) -> TreeProbes:
        """Sentences of two words or more that the model read whole."""
        edges = np.cumsum([0, *map(len, sentences)]).tolist()
        seen = [bool(states.seen[a:b].all()) for a, b in pairwise(edges)]
        kept = [i for i, one in enumerate(sentences) if seen[i] and len(one) > 1]
        train = sum(i < trained for i in kept)
        if train < 4 or train == len(kept):
            counts = f"{train} and {len(kept) - train}"
            raise BadInput(f"a probe of trees needs sentences to train on and to test on; there are {counts}.")
        places = [(edges[i], edges[i + 1]) for i in kept]
        return cls(states, [sentences[i] for i in kept], places, train, task, len(seen) - sum(seen))

    def scores(self, sample: SampleId, rank: int, epochs: float, steps: int, seed: int) -> ProbeScores:
        """Probes of every layer, of the trees and of random ones."""
        rng = np.random.default_rng(seed)
        drawn = [_random_tree(one, rng) for one in self.sentences]
        said = self._said(drawn, {"rank": rank, "epochs": epochs, "steps": steps, "seed": seed})
        layers = range(self.states.layers)
        counts = [self._counted([one[k, 0] for one in said], self.sentences) for k in layers]
        control = [self._counted([one[k, 1] for one in said], drawn) for k in layers]
        true = [self._wanted(one) for one in self.sentences[self.trained :]]
        edges = [estimate(one, ratio) for one in counts]
        floor = self._counted([_nothing(one, self.task) for one in self.sentences[self.trained :]], self.sentences)
        return ProbeScores(
            sample,
            self.task,
            tuple(layers),
            np.array([one[:, 0].sum() / one[:, 1].sum() for one in counts]),
            tuple((one.low, one.high) for one in edges if one is not None),
            np.array([one[:, 0].sum() / one[:, 1].sum() for one in control]),
            majority=float(floor[:, 0].sum() / floor[:, 1].sum()),
            items=(sum(map(len, self.sentences[: self.trained])), int(floor[:, 1].sum())),
            facts={"spearman": [_correlation([one[k, 0] for one in said], true) for k in layers], "rank": rank},
            warnings=tuple(self._warnings(int(floor[:, 1].sum()))),
        )

    def _said(self, drawn: Sequence[Sentence], plan: dict[str, float]) -> list[Floats]:
        """For each tested sentence what the maps of the true and of the drawn trees say [layers, 2, ...]."""
        from assay.training.tree_probes import TreeTask, fit_tree_maps, squared_lengths  # torch is slow to import

        wanted = [
            np.stack([self._wanted(one), self._wanted(other)]).astype(np.float32)
            for one, other in zip(self.sentences, drawn, strict=True)
        ]
        train = TreeTask(self.places[: self.trained], wanted[: self.trained])
        test: TreeTask = TreeTask(self.places[self.trained :], wanted[self.trained :])
        return squared_lengths(fit_tree_maps(self.states, train, **plan), self.states, test)  # type: ignore[arg-type]

    def _wanted(self, tree: Sentence) -> Floats:
        return _apart(tree) if self.task == "tree_distance" else _deep(tree)

    def _counted(self, said: Sequence[Floats], trees: Sequence[Sentence]) -> Floats:
        count = _edges_right if self.task == "tree_distance" else _root_right
        return np.array([count(one, tree) for one, tree in zip(said, trees[self.trained :], strict=True)], dtype=float)

    def _warnings(self, tested: int) -> list[str]:
        beyond = f"{self.left_out} sentences are left out: the model's window ends before, or a word has no token"
        few = f"only {tested} items were tested on, so the scores are rough"
        return [*([beyond] if self.left_out else []), *([few] if tested < 100 else [])]


def _apart(sentence: Sentence) -> Floats:
    return np.array(distances(sentence), dtype=np.float64)


def _deep(sentence: Sentence) -> Floats:
    return np.array(depths(sentence), dtype=np.float64)


def _words(sentence: Sentence) -> Ints:
    """The places of words that are no punctuation."""
    return np.array([i for i, tag in enumerate(sentence.tags) if tag not in _PUNCTUATION], dtype=np.int64)


def _edges_right(said: Floats, tree: Sentence) -> tuple[int, int]:
    """Edges of the tree that the spanning tree has, and all of them."""
    words = _words(tree)
    kept = set(words.tolist())
    true = {frozenset((i, head)) for i, head in enumerate(tree.heads) if head >= 0 and {i, head} <= kept}
    if len(words) < 2:
        return 0, 0
    apart = said[np.ix_(words, words)]
    shifted = apart - apart.min() + 1.0  # no weight is 0, which would be no edge; a shift leaves the tree as it is
    a, b = minimum_spanning_tree(np.triu(shifted, 1)).nonzero()
    found = {frozenset((int(words[i]), int(words[j]))) for i, j in zip(a, b, strict=True)}
    return len(true & found), len(true)


def _root_right(said: Floats, tree: Sentence) -> tuple[int, int]:
    words = _words(tree)
    if not len(words) or tree.heads.index(-1) not in words:
        return 0, 0
    return int(words[said[words].argmin()] == tree.heads.index(-1)), 1


def _nothing(sentence: Sentence, task: str) -> Floats:
    """What one says who knows only the order of the words."""
    at = np.arange(len(sentence), dtype=np.float64)
    return np.abs(at[:, None] - at[None]) if task == "tree_distance" else at


def _correlation(said: Sequence[Floats], wanted: Sequence[Floats]) -> float:
    """The mean over lengths of mean rank correlations."""
    by_length: dict[int, list[float]] = defaultdict(list)
    for one, true in zip(said, wanted, strict=True):
        if _SHORTEST <= len(one) <= _LONGEST:
            by_length[len(one)] += _rank_correlations(np.atleast_2d(one), np.atleast_2d(true))
    means = [float(np.mean(values)) for values in by_length.values() if values]
    return float(np.mean(means)) if means else 0.0


def _rank_correlations(one: Floats, other: Floats) -> list[float]:
    """Spearman of each row with the same row of the other; rows without an order have none."""
    a, b = (rankdata(table, axis=1) for table in (one, other))
    a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    size = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    return [float(value) for value in ((a * b).sum(axis=1)[size > 0] / size[size > 0])]


def _random_tree(sentence: Sentence, rng: np.random.Generator) -> Sentence:
    """The same words with heads drawn: in a random order, each word hangs from one before it."""
    order = rng.permutation(len(sentence)).tolist()
    heads = [-1] * len(sentence)
    for k, word in enumerate(order[1:], start=1):
        heads[word] = order[int(rng.integers(k))]
    return Sentence(sentence.words, sentence.tags, tuple(heads), sentence.relations, sentence.place)

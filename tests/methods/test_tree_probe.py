"""Probes of trees: planted states that are the tree, states that know nothing, and the scores by slow loops."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
import tiny
from scipy.stats import spearmanr

import assay
from assay.data.treebanks import Sentence, depths, distances
from assay.errors import BadInput
from assay.explanations.sample_explanation import SampleId
from assay.methods.linguistic.tree_scores import (
    TreeProbes,
    _apart,
    _correlation,
    _edges_right,
    _random_tree,
    _rank_correlations,
    _root_right,
)
from assay.storage.state_file import StateFile

SIZE, NOBODY = 9, SampleId("none", "0" * 32, 0)


def trees(count: int, seed: int) -> list[Sentence]:
    rng, made = np.random.default_rng(seed), []
    for _ in range(count):
        n = int(rng.integers(5, SIZE + 1))
        flat = Sentence(tuple("abcdefghi"[:n]), ("X",) * (n - 1) + ("PUNCT",), (-1,) * n, ("dep",) * n)
        made.append(_random_tree(flat, rng))
    return made


def planted(sentence: Sentence) -> Any:
    """Each word is the word above it and one more direction, so that squared distances are those in the tree."""
    vectors = np.zeros((len(sentence), SIZE + 1), dtype=np.float32)
    vectors[:, SIZE] = 1  # a vector of zeros is a word that was not read
    for i in range(len(sentence)):
        at = i
        while sentence.heads[at] != -1:
            vectors[i, at] = 1
            at = sentence.heads[at]
    return vectors


def probed(task: str, *, knows: bool, seed: int = 0) -> Any:
    sentences, rng = trees(120, seed), np.random.default_rng(seed)
    states = StateFile(sum(map(len, sentences)))
    for one in sentences:
        states.add((planted(one) if knows else rng.normal(size=(len(one), SIZE)).astype(np.float32))[None])
    return TreeProbes.of(states, sentences, 90, task).scores(NOBODY, SIZE, 3.0, 400, seed)


def test_states_that_are_the_tree_give_it_back() -> None:
    found = probed("tree_distance", knows=True)
    assert found.scores[0] > 0.99
    assert found.facts["spearman"][0] > 0.95
    assert found.control[0] < 0.6
    low, high = found.intervals[0]
    assert low <= found.scores[0] <= high


def test_states_that_know_nothing_are_at_chance() -> None:
    """A random spanning tree of n words has any one edge with a chance of 2 / n; the last word is punctuation."""
    found = probed("tree_distance", knows=False)
    counts = [len(one) - 1 for one in trees(120, 0)[90:]]
    chance = sum(2 / n * (n - 1) for n in counts) / sum(n - 1 for n in counts)
    assert found.scores[0] == pytest.approx(chance, abs=0.12)
    assert found.facts["spearman"][0] < 0.5  # above 0: every word is next to itself in both
    assert abs(found.scores[0] - found.control[0]) < 0.15


def test_depths() -> None:
    assert probed("tree_depth", knows=True).scores[0] > 0.95
    assert probed("tree_depth", knows=True).facts["spearman"][0] > 0.95
    assert probed("tree_depth", knows=False).scores[0] < 0.45


def test_counts_by_hand() -> None:
    tree = Sentence(("a", "b", "c", "."), ("X", "X", "X", "PUNCT"), (1, -1, 1, 1), ("d",) * 4)
    assert _edges_right(_apart(tree), tree) == (2, 2)
    wrong = np.array([[0, 9, 1, 1], [9, 0, 2, 1], [1, 2, 0, 1], [1, 1, 1, 0.0]])
    assert _edges_right(wrong, tree) == (1, 2)  # a-c and b-c, of which b-c is there; through "." would be shorter
    assert _root_right(np.array([1.0, 0.5, 2.0, 0.1]), tree) == (1, 1)
    assert _root_right(np.array([0.2, 0.5, 2.0, 0.1]), tree) == (0, 1)


def test_correlations_and_spanning_trees_as_slow_loops_have_them() -> None:
    rng = np.random.default_rng(3)
    one, other = rng.integers(4, size=(2, 6, 8)).astype(float)
    theirs = [spearmanr(a, b).statistic for a, b in zip(one, other, strict=True)]
    assert _rank_correlations(one, other) == pytest.approx(theirs)
    assert _correlation([one[0], one[1][:6], one[2][:3]], [other[0], other[1][:6], other[2][:3]]) == pytest.approx(
        np.mean([theirs[0], spearmanr(one[1][:6], other[1][:6]).statistic])
    )
    tree = trees(1, 5)[0]
    n = len(tree) - 1
    said = rng.random((n + 1, n + 1))
    said = said + said.T
    lightest = min(  # of all sets of n - 1 edges that connect all words
        (edges for edges in combinations(list(combinations(range(n), 2)), n - 1) if _connects(edges, n)),
        key=lambda edges: sum(said[i, j] for i, j in edges),
    )
    true = {frozenset((i, h)) for i, h in enumerate(tree.heads) if h >= 0 and max(i, h) < n}
    assert _edges_right(said, tree) == (len(true & {frozenset(edge) for edge in lightest}), len(true))


def _connects(edges: Any, n: int) -> bool:
    reached = {0}
    for _ in range(n):
        reached |= {j for edge in edges for j in edge if set(edge) & reached}
    return len(reached) == n


def test_random_trees_are_trees() -> None:
    for tree in trees(20, 1):
        assert tree.heads.count(-1) == 1
        assert max(depths(tree)) < len(tree)
        assert distances(tree)[0][0] == 0


def test_by_the_verb() -> None:
    model = assay.load(tiny.bert())
    given = {"corpus": "bundled", "most": 300, "steps": 5, "rank": 4, "progress": False}
    found = assay.describe(model, method="structural_probe", task="tree_distance", **given)
    assert found.task == "tree_distance"
    assert len(found.scores) == len(found.control) == len(found.facts["spearman"]) == 3
    assert not len(found.bits)
    assert "edges" in str(found.to_html())
    with pytest.raises(BadInput, match="rank >= 1"):
        assay.describe(model, method="structural_probe", task="tree_depth", corpus="bundled", rank=0, progress=False)

"""Sentences that differ in one place, found among many: what is left and right of a few words is the same.

    Tom is [very happy] today.      Tom is [] today.      Tom is [not happy] today.

Every sentence is taken with each run of up to `LONGEST` of its words hidden; those that then look alike are neighbours.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

LONGEST = 4  # words that may differ
FEWEST, MOST = 4, 18  # words of a sentence
LEAST_KEPT = 3  # words that two neighbours share
PAIRS = 3  # of a group of neighbours


def near_pairs(sentences: Sequence[str], seed: int) -> Iterator[tuple[str, str]]:
    """Pairs of neighbours, each once, in random order within a group."""
    rng = np.random.default_rng(seed)
    keys, owners = _holed(sentences, rng)
    order = np.argsort(keys, kind="stable")
    keys, owners = keys[order], owners[order]
    edges = np.concatenate([[0], np.flatnonzero(np.diff(keys)) + 1, [len(keys)]])
    seen = set()
    for group in np.flatnonzero(np.diff(edges) > 1):
        chosen = rng.permutation(owners[edges[group] : edges[group + 1]])[: PAIRS + 1].tolist()
        for one, two in pairwise(chosen):
            if one != two and (min(one, two), max(one, two)) not in seen:
                seen.add((min(one, two), max(one, two)))
                yield sentences[one], sentences[two]


def _holed(sentences: Sequence[str], rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A number for each sentence with each of its runs of words hidden, and whose it is."""
    number: dict[str, int] = {}
    by_length: dict[int, list[tuple[int, list[int]]]] = defaultdict(list)
    for i, sentence in enumerate(sentences):
        words = sentence.lower().split()
        if FEWEST <= len(words) <= MOST:
            by_length[len(words)].append((i, [number.setdefault(word, len(number)) for word in words]))
    codes, left, right = (rng.integers(1, 2**63, n, dtype=np.uint64) for n in (len(number), MOST + 1, MOST + 1))
    parts = [_of_one_length(n, rows, codes, left, right) for n, rows in sorted(by_length.items())]
    return np.concatenate([keys for keys, _ in parts]), np.concatenate([owners for _, owners in parts])


def _of_one_length(
    n: int, rows: Sequence[tuple[int, list[int]]], codes: np.ndarray, left: np.ndarray, right: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of random numbers modulo 2^64 stand for the words on the left (counted from there) and on the right."""
    ids = codes[np.array([words for _, words in rows])]
    before = np.concatenate([np.zeros((len(rows), 1), np.uint64), np.cumsum(ids * left[:n], axis=1)], axis=1)
    behind = np.concatenate([np.zeros((len(rows), 1), np.uint64), np.cumsum(ids[:, ::-1] * right[:n], axis=1)], 1)
    holes = [(i, i + size) for size in range(LONGEST + 1) for i in range(n - size + 1) if n - size >= LEAST_KEPT]
    keys = [before[:, i] + behind[:, n - j] for i, j in holes]
    return np.concatenate(keys), np.tile([i for i, _ in rows], len(holes))

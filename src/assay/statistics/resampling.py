"""Bootstrap resamples: always the same ones for as many texts, drawn block by block so that memory stays small.

Two streams are kept, since numbers that were published with either have to come out again:

    counts     how often each text is in a resample (multinomial); where models were trained with several seeds, also
               which of the seeds are in it. Seed 0; 4,000 resamples of texts, 2,000 of texts and seeds.
    indices    which text stands at each place of a resample; 10,000 resamples, from the seed of the verdict.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from assay.statistics.arrays import Ints

_MOST_KEPT = 20_000_000  # bytes of counts that are kept for the next estimate of as many texts
_INDICES, _INDEX_BLOCK, _CELLS = 10_000, 500, 2_000_000


class Resamples(NamedTuple):
    """Some resamples: how often each text is in each of them [resamples, texts], and which seeds [resamples, seeds]."""

    counts: np.ndarray[Any, np.dtype[Any]]
    seeds: Ints


def resamples(texts: int, seeds: int = 0) -> Iterator[Resamples]:
    """Resamples of texts; with `seeds`, of texts and of models that differ in their seed."""
    total = 2000 if seeds else 4000
    return iter(_kept(texts, seeds)) if total * texts <= _MOST_KEPT else _drawn(texts, seeds)


@lru_cache(maxsize=4)
def _kept(texts: int, seeds: int) -> tuple[Resamples, ...]:
    """Drawing takes far longer than counting, and a page asks for many estimates of as many texts."""
    return tuple(Resamples(block.counts.astype(np.uint8), block.seeds) for block in _drawn(texts, seeds))


def _drawn(texts: int, seeds: int) -> Iterator[Resamples]:
    total, block = (2000, 100) if seeds else (4000, 250)
    rng, even = np.random.default_rng(0), np.full(texts, 1 / texts)
    for _ in range(total // block):
        counts = rng.multinomial(texts, even, size=block)
        yield Resamples(counts, rng.integers(seeds, size=(block, seeds)) if seeds else np.zeros((block, 0), np.int64))


def indices(texts: int, values: int, seed: int) -> Iterator[Ints]:
    """For each text a number below `values`, in every resample: the same numbers whatever the size of the blocks."""
    rng, block = np.random.default_rng(seed), max(1, min(_INDEX_BLOCK, _CELLS // texts))
    for done in range(0, _INDICES, block):
        yield rng.integers(values, size=(min(block, _INDICES - done), texts))

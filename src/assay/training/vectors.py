"""Initial word vectors: GloVe, any file in the text format of word2vec (`assay.data.word_vectors`), or random numbers.

    glove, FILE    as there
    None           as torch draws an embedding

Words without a vector begin with zeros, as does the padding.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from assay.data.word_vectors import GLOVE, word_vectors
from assay.errors import BadFile
from assay.training.digests import digest_of_files


def vectors(source: str | Path | None, vocabulary: Mapping[str, int], size: int, seed: int = 0) -> Tensor:
    """One row for every word of the vocabulary [words, size]; the size of known vectors is their own."""
    if source is None:
        drawn = torch.randn(len(vocabulary), size, generator=torch.Generator().manual_seed(seed))
        drawn[0] = 0
        return drawn
    found = dict(word_vectors(source, vocabulary))
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

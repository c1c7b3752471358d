"""Embeddings: rows of the input embedding, of given words or of the whole vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import torch

from assay.models.base import Handler
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.tasks.vocabulary import Vocabulary
from assay.questions.embeddings import EmbeddingRow, WordVectors
from assay.text.text import Text

_BEFORE = "a "  # a word inside a sentence has another token than one at its start, in some vocabularies


class EmbeddingsHandler(Handler[HuggingFace]):
    """Looks the vectors up, through the layer itself: some scale what their table holds."""

    def encode(self, model: HuggingFace, rows: Sequence[EmbeddingRow]) -> Sequence[EmbeddingRow]:
        return rows

    def lengths(self, model: HuggingFace, encoded: Sequence[EmbeddingRow]) -> Iterable[int]:
        return [1] * len(encoded)

    def answer(self, model: HuggingFace, batch: Sequence[EmbeddingRow]) -> list[WordVectors]:
        return [_vocabulary(model) if row.word is None else _word(model, row.word) for row in batch]


def _word(model: HuggingFace, word: str) -> WordVectors:
    """The mean over the pieces of the word, as it stands after another word."""
    text = Text.of(f"{_BEFORE}{word}")
    pieces = model.network.encoder.pieces(text)
    starts = np.array([start for start, _ in text.spans])
    mine = np.unique(pieces.piece[starts[pieces.word] >= len(_BEFORE)])
    ids = [pieces.ids[i] for i in mine]
    unknown = model.network.tokenizer.unk_token_id
    known = bool(ids) and any(i != unknown for i in ids)
    rows = _rows(model, ids or [0])  # a word without a piece has some row, and is not known
    return WordVectors((word,), rows.mean(axis=0, keepdims=True), (len(ids),), (known,))


def _vocabulary(model: HuggingFace) -> WordVectors:
    size = int(model.task.embedding.weight.shape[0])
    vocabulary = Vocabulary(model.network, size)
    first: dict[str, int] = {}  # one token for each word; "the" and "The" are two, two spellings of one are not
    for i in torch.nonzero(vocabulary.whole_words).flatten().tolist():
        first.setdefault(vocabulary.word(i), i)
    first.pop("", None)
    rows = _rows(model, list(first.values()))
    return WordVectors(tuple(first), rows, (1,) * len(first), (True,) * len(first))


def _rows(model: HuggingFace, ids: Sequence[int]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    with torch.no_grad():
        found = model.task.embedding(torch.tensor([list(ids)], device=model.network.device))[0]
    return np.asarray(found.double().cpu().numpy())

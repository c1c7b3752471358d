"""Writers whose texts and likelihoods are planted: every prompt has a table of texts and their probabilities.

writer = PlantedWriter(lambda x: {x: 0.5, x.replace("film", "movie"): 0.5})   # q, with the end
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from assay.models.base import Handler, TextModel
from assay.questions.generation import Generate, Generated, GenerateRow, Generations, Likelihood, TokenLikelihoods
from assay.questions.inside import Hidden
from assay.questions.replacements import DrawnWords, VocabularyWords

Table = Mapping[str, float]
_LEAST = 1e-12


class _Writes(Handler["PlantedWriter"]):
    def encode(self, model: PlantedWriter, rows: Sequence[GenerateRow]) -> Sequence[Any]:
        return [(row,) for row in rows]

    def answer(self, model: PlantedWriter, batch: Sequence[Any]) -> list[Generations]:
        return [self._written(model, row) for (row,) in batch]

    def _written(self, model: PlantedWriter, row: GenerateRow) -> Generations:
        table = model.table(row.prompt.text)
        text = str(row.generator().choice(list(table), p=list(table.values())))
        made = Generated(f"{model.gap}{text}", (text,), np.log([table[text]]), "end", 1)
        return Generations((made,), 1)


class _Judges(Handler["PlantedWriter"]):
    def encode(self, model: PlantedWriter, rows: Sequence[Any]) -> Sequence[Any]:
        assert all(row.ended and row.continuation.startswith(model.gap) for row in rows)
        return [(row,) for row in rows]

    def answer(self, model: PlantedWriter, batch: Sequence[Any]) -> list[TokenLikelihoods]:
        known = [model.table(row.prompt.text).get(row.continuation.removeprefix(model.gap), _LEAST) for (row,) in batch]
        return [
            TokenLikelihoods((row.continuation,), np.log([chance])) for (row,), chance in zip(batch, known, strict=True)
        ]


class PlantedWriter(TextModel):
    """Goes on with `{text}\\nin other words:`; without a gap, like an encoder-decoder, it reads the text alone."""

    answers = MappingProxyType({Generate: _Writes(), Likelihood: _Judges()})

    def __init__(self, table: Callable[[str], Table], gap: str = " ", ask: str = "\nin other words:") -> None:
        self.name, self.gap, self.ask, self._table = "planted writer", gap, ask if gap else "", table
        self.fields = ("prompt" if gap else "text", "continuation")

    def table(self, prompt: str) -> Table:
        assert prompt.endswith(self.ask)
        return self._table(prompt.removesuffix(self.ask))

    def fingerprint(self) -> str:
        return "planted"


class _Vectors(Handler["BagEncoder"]):
    def encode(self, model: BagEncoder, rows: Sequence[Any]) -> Sequence[Any]:
        return [(row.text,) for row in rows]

    def answer(self, model: BagEncoder, batch: Sequence[Any]) -> list[Any]:
        return [model.vector(text.words)[None, None] for (text,) in batch]


class _Words(Handler["BagEncoder"]):
    def encode(self, model: BagEncoder, rows: Sequence[Any]) -> Sequence[Any]:
        return rows

    def answer(self, model: BagEncoder, batch: Sequence[Any]) -> list[DrawnWords]:
        return [DrawnWords(tuple(np.random.default_rng(row.seed).choice(model.words, row.many))) for row in batch]


class BagEncoder(TextModel):
    """An encoder of sentences that counts words: each word has a direction of its own, synonyms share one."""

    answers = MappingProxyType({Hidden: _Vectors(), VocabularyWords: _Words()})
    words = ("zebra", "violin", "granite", "seven", "orbit", "lantern")

    def __init__(self, synonyms: Mapping[str, str] = MappingProxyType({})) -> None:
        self.name, self.synonyms = "bag encoder", synonyms

    def vector(self, words: Sequence[str]) -> np.ndarray:
        found = np.zeros(512)
        for word in words:
            found[sum(map(ord, self.synonyms.get(word, word))) * 31 % 512] += 1
        return found

    def fingerprint(self) -> str:
        return "bag"

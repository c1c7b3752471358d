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
        if row.sampling.beams > 1:  # the likeliest ones
            best = sorted(table, key=lambda text: -table[text])[: row.n]
            return Generations(tuple(self._made(model, text, table[text]) for text in best), len(best))
        text = str(row.generator().choice(list(table), p=list(table.values())))
        return Generations((self._made(model, text, table[text]),), 1)

    def _made(self, model: PlantedWriter, text: str, chance: float) -> Generated:
        return Generated(f"{model.gap}{text}", (text,), np.log([chance]), "end", 1)


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


class _Drawn(Handler["PlantedEditor"]):
    def encode(self, model: PlantedEditor, rows: Sequence[Any]) -> Sequence[Any]:
        return rows

    def answer(self, model: PlantedEditor, batch: Sequence[Any]) -> list[DrawnWords]:
        return [DrawnWords(tuple(np.random.default_rng(row.seed).choice(model.words, row.many))) for row in batch]


class PlantedEditor(PlantedWriter):
    """Fills for every prompt with blanks: as many words of its own for each, "nothing" stands for an empty fill."""

    answers = MappingProxyType({**PlantedWriter.answers, VocabularyWords: _Drawn()})

    def __init__(self, words: Sequence[str], end: str = "\nfills:", between: str = " | ") -> None:
        super().__init__(self._fills, ask=end)
        self.words, self.between, self.asked = tuple(words), between, list[str]()

    def _fills(self, prompt: str) -> Table:
        self.asked.append(prompt)
        shown = prompt.rpartition("\n" if self.between == " | " else "[")[2]
        rng = np.random.default_rng(sum(map(ord, prompt)))
        many = shown.count("[BLANK]")
        answers = [self.between.join(rng.choice(self.words, many + (i % 4 == 3))) for i in range(8)]
        return {one: answers.count(one) / len(answers) for one in answers}


class _JudgesWords(Handler["WordJudge"]):
    def encode(self, model: WordJudge, rows: Sequence[Any]) -> Sequence[Any]:
        return [(row.continuation,) for row in rows]

    def answer(self, model: WordJudge, batch: Sequence[Any]) -> list[TokenLikelihoods]:
        return [TokenLikelihoods((text,), np.array([-model.cost(text)])) for (text,) in batch]


class WordJudge(TextModel):
    """Finds every word of a text equally likely, but for some, which cost more."""

    answers = MappingProxyType({Likelihood: _JudgesWords()})

    def __init__(self, costs: Mapping[str, float]) -> None:
        self.name, self.costs = "word judge", costs

    def cost(self, text: str) -> float:
        """Minus its log-probability."""
        return sum(self.costs.get(word, 1.0) for word in text.split())

    def fingerprint(self) -> str:
        return "words"

"""Which other words would move the explained number most, and words of the model's vocabulary.

candidates = yield Replacements(text, aim=a, k=10)   -> Candidates per text: for each word the k best replacements
words = yield VocabularyWords(64, seed=3)            -> whole words of the vocabulary, drawn at random
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from assay.questions.base import Aim, Question, Speaker
from assay.statistics.arrays import Floats
from assay.text.text import Text

Unit: TypeAlias = Literal["words", "characters"]


@dataclass(frozen=True)
class Candidates:
    """For every word of a text its best replacements, best first, and by how much each would move the number.

    `changes` [words, k] are first-order estimates; where a word has fewer candidates than k they end with zeros.
    """

    words: tuple[tuple[str, ...], ...]
    changes: Floats

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.changes).all())


@dataclass(frozen=True)
class DrawnWords:
    """Words of a vocabulary."""

    words: tuple[str, ...]
    finite: bool = True


class ReplacementRow(NamedTuple):
    """A text, the number to move, and what a replacement must be like."""

    text: Text
    aim: Aim
    k: int
    up: bool
    similar: float
    unit: Unit = "words"


class Replacements(Question):
    """The best replacements of every word, by the gradient of the explained number (Ebrahimi et al. 2018, HotFlip).

        change(i -> v) = (e_v - e_i) . dF/de_i

    Candidates are whole words of the vocabulary that are one piece, made of letters. A word of several pieces is
    replaced as a whole: its first piece becomes v, the others go. `up` asks for those that raise the number instead of
    those that lower it; `similar` is the least cosine between the input embeddings of a word and its replacement.
    With unit="characters" the words of the text are single characters (`in_characters`), and so are the candidates:
    letters and digits that are one piece within a word. A tokenizer that has none is not of characters.
    """

    backward = True
    weight = 8

    def __init__(
        self, *texts: Text, aim: Aim, k: int, up: bool = False, similar: float = -1.0, unit: Unit = "words"
    ) -> None:
        self.texts, self.aim, self.k, self.up, self.similar, self.unit = texts, aim, k, up, similar, unit

    def rows(self, model: Speaker) -> Sequence[ReplacementRow]:
        return [ReplacementRow(text, self.aim, self.k, self.up, self.similar, self.unit) for text in self.texts]


class WordsRow(NamedTuple):
    """How many words to draw, and the seed."""

    many: int
    seed: int


class VocabularyWords(Question):
    """Whole words of the model's vocabulary, drawn at random: with what random edits replace words."""

    remembered = False

    def __init__(self, many: int, seed: int) -> None:
        self.many, self.seed = many, seed

    def rows(self, model: Speaker) -> Sequence[WordsRow]:
        return [WordsRow(self.many, self.seed)]

    def assemble(self, values: Sequence[DrawnWords], model: Speaker) -> list[str]:
        return list(values[0].words)

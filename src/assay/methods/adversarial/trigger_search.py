"""The search for a trigger: words before or behind many texts, chosen place by place with the averaged gradient.

change(i -> v) = e_v . mean over texts of dF/de_i            the best few are tried by real forward passes
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from assay.questions.answers import PieceGradient
from assay.questions.base import Aim, Conversation
from assay.questions.each import Each
from assay.questions.embeddings import WordVectors
from assay.questions.gradients import GradientVectors, Noise
from assay.questions.predict import Predict
from assay.statistics.arrays import Floats
from assay.text.example import joined
from assay.text.text import Field, Text

Words = tuple[str, ...]
Place = Literal["prefix", "suffix"]
Path = tuple[tuple[Words, float], ...]


def with_trigger(text: Text, words: Sequence[str], place: Place) -> Text:
    """The text with the words before or behind its field in focus; they are the only words in focus."""
    string, spans = joined(words)
    fields = []
    for field in text.fields:
        if field.name not in text.focus:
            fields.append(Field(field.name, field.string, ()))
        elif place == "prefix":
            fields.append(Field(field.name, f"{string} {field.string}", tuple(spans)))
        else:
            start = len(field.string) + 1
            fields.append(
                Field(field.name, f"{field.string} {string}", tuple((a + start, b + start) for a, b in spans))
            )
    return Text(tuple(fields), text.focus)


@dataclass(frozen=True)
class TriggerSearch:
    """A beam search that lowers F, the mean log-odds of `aim` over the texts; with `up` it raises them."""

    texts: tuple[Text, ...]
    aim: Aim
    up: bool
    place: Place
    beam: int
    candidates: int
    rounds: int

    def run(self, start: Words, vocabulary: WordVectors) -> Conversation[tuple[Words, Path]]:
        """The best trigger of words of the vocabulary, and how the search came to it."""
        scores = dict((yield from self._scored([start])))
        beam, path = [start], [(start, scores[start])]
        for _ in range(self.rounds):
            before = beam
            for i in range(len(start)):
                found = yield Each(self._proposals(trigger, i, vocabulary) for trigger in beam)
                new = list(dict.fromkeys(one for some in found for one in some if one not in scores))
                scores |= dict((yield from self._scored(new)))
                # The sort is stable: among equals the one that was known first.
                beam = sorted(dict.fromkeys([*beam, *new]), key=lambda one: self._sign * scores[one])[: self.beam]
                path.append((beam[0], scores[beam[0]]))
            if beam == before:
                break
        return beam[0], tuple(path)

    @property
    def _sign(self) -> float:
        return -1.0 if self.up else 1.0

    def _scored(self, triggers: Sequence[Words]) -> Conversation[Iterator[tuple[Words, float]]]:
        """The mean of F over all texts, by real forward passes."""
        if not triggers:
            return iter(())
        values = yield Each(self._value(trigger) for trigger in triggers)
        return zip(triggers, values, strict=True)

    def _value(self, trigger: Words) -> Conversation[float]:
        answers = yield Predict(*(with_trigger(text, trigger, self.place) for text in self.texts))
        return float(answers.value(*self.aim).mean())

    def _proposals(self, trigger: Words, i: int, vocabulary: WordVectors) -> Conversation[list[Words]]:
        """The trigger with each of the words at place i that the averaged gradient thinks best."""
        total = yield Each((self._gradient(text, trigger, i) for text in self.texts), fold=_add, start=0.0)
        changes = self._sign * (vocabulary.vectors @ total) / len(self.texts)
        best = np.argsort(changes, kind="stable")[: self.candidates + 1].tolist()
        words = [vocabulary.words[k] for k in best if vocabulary.words[k] != trigger[i]][: self.candidates]
        return [(*trigger[:i], word, *trigger[i + 1 :]) for word in words]

    def _gradient(self, text: Text, trigger: Words, i: int) -> Conversation[Floats]:
        """dF/de at the first piece of the trigger's word i; nothing where the model's window cuts it off."""
        asked = GradientVectors(with_trigger(text, trigger, self.place), aim=self.aim, noise=(Noise(0.0, 0),))
        found: PieceGradient = (yield asked)[0]
        pieces = found.owners.piece[found.owners.word == i]
        size = found.gradient.shape[1]
        return np.asarray(found.gradient[pieces.min()] if len(pieces) else np.zeros(size), dtype=np.float64)


def _add(total: Floats, one: Floats) -> Floats:
    return total + one

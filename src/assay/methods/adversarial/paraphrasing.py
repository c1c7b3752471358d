"""Where paraphrases of a text come from, and how likely each of them is: q(x' | x).

    a paraphraser       q(x' | x)  =  p(x' | prompt with x)                        any language model, by one prompt
    back-translation    q(x' | x)  =  sum_z  w_z p_back(x' | z),   w_z ~ p_there(z | x)      z: sampled translations

Back-translation over several pivots is that of Mallinson, Sennrich and Lapata (2017), as in the released code of SEA.
A likelihood is that of the whole text with its end: else the first half of a text would be likelier than the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from assay.errors import BadInput
from assay.questions.base import Conversation
from assay.questions.each import Each
from assay.questions.facts import goes_on
from assay.questions.generation import Generate, Generated, Likelihood, Sampling, TokenLikelihoods
from assay.statistics.arrays import Floats

HOLE = "{text}"


@dataclass(frozen=True)
class Drawing:
    """How many texts are sampled, at which temperatures, and how long they may be."""

    samples: int
    temperatures: tuple[float, ...]
    top_p: float
    max_tokens: int
    seed: int
    beams: int = 0  # of a search for the likeliest texts, which come besides

    def __post_init__(self) -> None:
        if self.samples < 1 or not self.temperatures or min(self.temperatures) <= 0:
            raise BadInput("paraphrases are sampled: samples >= 1, and temperatures above 0.")
        for temperature in self.temperatures:
            Sampling(temperature, self.top_p)

    def texts(self, prompt: str, model: str, share: float = 1.0) -> Conversation[list[Generated]]:
        """What a model writes after a prompt, as many at each temperature; only what it brought to an end itself."""
        many = max(1, round(share * self.samples / len(self.temperatures)))
        asked = (self._texts(prompt, model, many, i) for i in range(len(self.temperatures)))
        found: list[list[Generated]] = yield Each(asked)
        return [text for part in found for text in part if text.ended != "length"]

    def likeliest(self, prompt: str, model: str) -> Conversation[list[Generated]]:
        """What a beam search finds."""
        found: list[Generated] = yield Generate(
            prompt,
            n=self.beams,
            stop=("\n",),
            max_tokens=self.max_tokens,
            sampling=Sampling(beams=self.beams),
            model=model,
        )
        return [text for text in found if text.ended != "length"]

    def _texts(self, prompt: str, model: str, many: int, i: int) -> Conversation[list[Generated]]:
        # Each temperature has a seed of its own, as else the same random numbers would choose the same words again.
        sampling, seed = Sampling(self.temperatures[i], self.top_p), self.seed * len(self.temperatures) + i
        size = self.max_tokens
        found: list[Generated] = yield Generate(
            prompt, n=many, seed=seed, stop=("\n",), max_tokens=size, sampling=sampling, model=model
        )
        return found


@dataclass(frozen=True)
class Paraphraser:
    """One language model that goes on with a prompt, or an encoder-decoder that reads it."""

    model: str
    prompt: str

    def __post_init__(self) -> None:
        if self.prompt.count(HOLE) != 1:
            raise BadInput(f"the prompt of a paraphraser has {HOLE} where the text goes, once; not {self.prompt!r}.")

    def candidates(self, string: str, drawing: Drawing) -> Conversation[list[str]]:
        """Texts that say the same, as the model has it, as often as it wrote each."""
        asked = [drawing.texts(self._prompt(string), self.model)]
        if drawing.beams:
            asked.append(drawing.likeliest(self._prompt(string), self.model))
        found: list[list[Generated]] = yield Each(asked)
        return written(text for part in found for text in part)

    def log_likelihoods(self, string: str, texts: Sequence[str], drawing: Drawing) -> Conversation[Floats]:
        """The logarithm of q for each of the texts, given the string."""
        gap = yield from _gap(self.model)
        asked = Likelihood(self._prompt(string), *(f"{gap}{text}" for text in texts), ended=True, model=self.model)
        found: list[TokenLikelihoods] = yield asked
        return np.array([one.total for one in found])

    def _prompt(self, string: str) -> str:
        return self.prompt.replace(HOLE, string)


@dataclass(frozen=True)
class BackTranslation:
    """Two models: one that translates, and one that translates back."""

    there: str
    back: str
    pivots: int

    def candidates(self, string: str, drawing: Drawing) -> Conversation[list[str]]:
        pivots = yield from self._pivots(string, drawing)
        found = yield Each(drawing.texts(pivot, self.back, 1 / len(pivots)) for pivot, _ in pivots)
        return [text for part in found for text in written(part)]

    def log_likelihoods(self, string: str, texts: Sequence[str], drawing: Drawing) -> Conversation[Floats]:
        pivots = yield from self._pivots(string, drawing)
        gap = yield from _gap(self.back)
        ended = [f"{gap}{text}" for text in texts]
        rows = yield Each(_totals(Likelihood(pivot, *ended, ended=True, model=self.back)) for pivot, _ in pivots)
        weights = np.array([weight for _, weight in pivots])
        return np.asarray(np.logaddexp.reduce(np.array(rows) + weights[:, None], axis=0))

    def _pivots(self, string: str, drawing: Drawing) -> Conversation[list[tuple[str, float]]]:
        """Translations, each with the logarithm of its weight; the weights add up to 1."""
        texts = yield from drawing.texts(string, self.there, self.pivots / drawing.samples)
        gap = yield from _gap(self.there)
        likely = list(dict.fromkeys(written(texts)))[: self.pivots]
        if not likely:
            raise BadInput(f"{self.there} translates {string[:40]!r} to nothing within max_tokens; give it more.")
        found = yield from _totals(
            Likelihood(string, *(f"{gap}{text}" for text in likely), ended=True, model=self.there)
        )
        return list(zip(likely, (found - np.logaddexp.reduce(found)).tolist(), strict=True))


def written(texts: Iterable[Generated]) -> list[str]:
    """What was written, without blanks around it; nothing is no text."""
    return [text.text.strip() for text in texts if text.text.strip()]


def _gap(model: str) -> Conversation[str]:
    """A blank behind the prompt of a model that goes on with it; the output of an encoder-decoder stands alone."""
    return " " if (yield from goes_on(model)) else ""


def _totals(question: Likelihood) -> Conversation[Floats]:
    found: list[TokenLikelihoods] = yield question
    return np.array([one.total for one in found])

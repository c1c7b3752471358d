"""A pair of texts as the model reads it, and what an intervention at some sites does to the explained number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from assay.errors import BadInput
from assay.explanations.case import Case
from assay.questions.base import Conversation
from assay.questions.cases import Cases
from assay.questions.facts import KnownFacts
from assay.questions.intervene import Intervene, Site
from assay.questions.predict import Predict, Settle
from assay.statistics.arrays import Floats
from assay.text.text import Text


class MediatedPair(NamedTuple):
    """A text, the same text with the concept changed, and the two words whose odds are compared ("" for a label)."""

    base: str
    changed: str
    word: str = ""
    against: str = ""


@dataclass(frozen=True)
class MediatedTexts:
    """Versions of a text before and after the change: one, or one for each of the two words that are compared.

    `case` says which number of a classifier is explained; of a language model it is the log-odds of the two words.
    """

    given: MediatedPair
    base: tuple[Text, ...]
    changed: tuple[Text, ...]
    case: Case | None


def read_pair(pair: MediatedPair, facts: KnownFacts) -> Conversation[MediatedTexts | None]:
    """The pair as the model reads it; None where the two texts have different numbers of pieces."""
    if facts.fields[:2] == ("prompt", "continuation"):
        found = yield from _continued(pair)
    elif Settle in facts.answers or len(facts.fields) != 1:
        raise BadInput(
            f"mediation is measured in classifiers of one text and in causal models; {facts.name} is neither."
        )
    else:
        (base,) = yield Cases([pair.base])
        (changed,) = yield Cases([pair.changed])
        found = MediatedTexts(pair, (base.case.text,), (changed.case.text,), base.case)
    fits = yield from _same_pieces(found)
    return found if fits else None


def _continued(pair: MediatedPair) -> Conversation[MediatedTexts]:
    if not pair.word or not pair.against:
        raise BadInput(
            "of a causal model the odds of two words are explained: give them by words=he,she, or in the column of "
            "labels as he|she."
        )
    texts = [
        Text.of({"prompt": prompt, "continuation": word}, focus=("prompt",))
        for prompt in (pair.base, pair.changed)
        for word in (pair.word, pair.against)
    ]
    settled = yield Settle(*texts)
    return MediatedTexts(pair, tuple(settled[:2]), tuple(settled[2:]), None)


def _same_pieces(pair: MediatedTexts) -> Conversation[bool]:
    """Whether the state of a whole layer of one text can be put into the other."""
    try:
        for base, changed in zip(pair.base, pair.changed, strict=True):
            yield Intervene(base, [(Site(0, "layer"),)], changed)
    except BadInput as error:
        if "pieces and" not in str(error):
            raise
        return False
    return True


@dataclass(frozen=True)
class Odds:
    """The explained number, and effects as its differences; or as ratios of odds, less one."""

    scale: Literal["log", "ratio"]

    def effects(
        self, pair: MediatedTexts, sites: Sequence[tuple[Site, ...]], *, direct: bool
    ) -> Conversation[tuple[float, Floats, Floats]]:
        """Total effect, and for each set of sites the indirect and (if wanted) the direct one."""
        own = yield from self._plain(pair, pair.base)
        other = yield from self._plain(pair, pair.changed)
        mediated = yield from self._values(pair, pair.base, pair.changed, sites)
        held = (yield from self._values(pair, pair.changed, pair.base, sites)) if direct else np.zeros(0)
        return float(self._effect(other, own)[0]), self._effect(mediated, own), self._effect(held, own)

    def _effect(self, values: Floats, own: Floats) -> Floats:
        change = values - own[0]
        return np.asarray(np.expm1(change) if self.scale == "ratio" else change)

    def _plain(self, pair: MediatedTexts, texts: Sequence[Text]) -> Conversation[Floats]:
        answers = yield Predict(*texts)
        if pair.case is not None:
            return np.asarray(pair.case.value(answers))
        return np.asarray(answers.logits[:1, 1] - answers.logits[1:, 1])

    def _values(
        self, pair: MediatedTexts, texts: Sequence[Text], sources: Sequence[Text], sites: Sequence[tuple[Site, ...]]
    ) -> Conversation[Floats]:
        """The explained number of the texts, with the values of the other ones at each set of sites."""
        if pair.case is not None:
            return pair.case.value((yield Intervene(texts[0], sites, sources[0])))
        answers = yield Intervene(texts[0], sites, sources[0], beside=[(texts[1], sources[1])])
        return np.asarray(answers.logits[::2, 1] - answers.logits[1::2, 1])

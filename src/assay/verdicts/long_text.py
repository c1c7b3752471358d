"""The card of one long text: by its sentences first, then by the words inside the strongest of them.

A word of a review of 300 words changes next to nothing, a row of the model costs twenty times as much as for a tweet,
and tests by words would ask thousands of rows. So methods and tests go by parts of the text (`text/units.py`), and the
methods that do best go once more into the strongest parts, where single words are taken away while the rest of the text
stays. Random maps are of the same parts, and of the same words, so the tests mean what they mean for short texts. Fewer
random maps are drawn: 40 of the parts, which still allows a p-value of 0.025; of the words, where every random map has
the model read the whole text, 20 (and 40 in infidelity, which asks nothing for a further map). Some checks are asked
less (`examining.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.explanations.reading import Reading, read
from assay.explanations.token_scores import TokenScores
from assay.progress import forecast
from assay.questions.predict import Settle
from assay.registry.finding import explaining
from assay.registry.protocols import Check
from assay.text.sample import Sample
from assay.text.text import Text, TextLike
from assay.text.units import in_parts, sizes
from assay.verbs import PreparedRequest
from assay.verdicts.agreement import strongest
from assay.verdicts.examining import FEWEST, INSIDE, Examiner, named_apart
from assay.verdicts.foreseen import Foreseen
from assay.verdicts.given import all_given
from assay.verdicts.inside_parts import REPEATING, InsideParts
from assay.verdicts.measuring import with_random
from assay.verdicts.standing import Standing
from assay.verdicts.trust_card import TrustCard

LONG = 100  # words above which a text is long
_INSIDE, _OPENED = 24, 3  # words and parts that are gone into
_GRADIENTS = 50  # rows of the whole text, about as much work as a method of gradients and its sanity check
_WORDS = 260  # and as the words inside, without the 11 of each random map


def is_long(prepared: PreparedRequest) -> bool:
    """Whether the only text has so many words that a card goes by its parts."""
    return len(prepared.texts) == 1 and goes_by_parts(prepared, _only(prepared))


def goes_by_parts(prepared: PreparedRequest, given: TextLike) -> bool:
    """Whether a text is taken by its parts.

    A model that answers freely settles first what is explained of the text, which a part of it cannot know.
    """
    model, aims = prepared.engine.model, prepared.aims
    if aims.split != "words" or Settle in model.answers:
        return False
    text = Text.of(given, names=model.fields, focus=aims.focus or model.focus)
    return len(text) > LONG and len(model.clip(text)) > LONG


def long_card(prepared: PreparedRequest, *, named: bool, defaults: bool, progress: bool | None) -> TrustCard:
    """The card by parts, and within it that of the words inside.

    `named` says whether the user chose the checks, `defaults` that nobody chose the methods.
    """
    engine = prepared.engine
    outcome = next(engine.run([read(engine.model, _only(prepared), prepared.aims)]))
    long = LongText(prepared, named, defaults, outcome.get(), max(1, outcome.cost.tokens))
    start = engine.totals.tokens
    with forecast(long.work(), "trust card of a long text", progress) as bar:
        return long.card(lambda: bar.at(engine.totals.tokens - start))


@dataclass
class LongText:
    """One long text and what is asked of it; `reading` is the text by words, as the model sees it."""

    prepared: PreparedRequest
    named: bool
    defaults: bool
    reading: Reading
    tokens: int  # that the model reads of the whole text

    def __post_init__(self) -> None:
        self.parts, self.unit = in_parts(self.words)
        self.by_parts = replace(self.prepared, texts=[self.parts])

    @property
    def words(self) -> Text:
        return self.reading.case.text

    def card(self, tick: Callable[[], None]) -> TrustCard:
        examiner = Examiner(self.by_parts, self.named, False, long=True, tick=tick)
        given = all_given(self.by_parts)
        found = [*map(examiner.standing, given), *map(examiner.explained, [one for _, one in self.prepared.methods])]
        standings = named_apart([by_parts(standing, {0: self.reading}, self.unit) for standing in found])
        name, seed = self.prepared.engine.model.name, self.prepared.aims.seed
        card = TrustCard(standings, name, seed, examiner.left_out, unit=self.unit.removesuffix("s"))
        chosen = self._chosen(card.ordered[0].first)
        inside = InsideParts(self.prepared, self.reading, self.parts, chosen, self.defaults).card(card, examiner)
        return replace(card, inside=inside, how=self._how(chosen, inside is not None))

    def _chosen(self, e: TokenScores) -> list[int]:
        """The strongest parts of a map: the first, and the next while their words are few."""
        words = sizes(self.parts, self.words)
        first, *others = strongest(e, _OPENED)
        chosen = [first]
        for i in others:
            if sum(words[j] for j in chosen) + words[i] <= _INSIDE:
                chosen.append(i)
        return sorted(chosen)

    def _how(self, chosen: Sequence[int], inside: bool) -> str:
        one = self.unit.removesuffix("s")
        opened = f"the strongest {one}" if len(chosen) == 1 else f"the {len(chosen)} strongest {self.unit}"
        then = f" first, and then by the words of {opened} while the rest of the text stays" if inside else ""
        return f"This text has {len(self.words)} words: the card goes by its {len(self.parts)} {self.unit}{then}."

    def work(self) -> float:
        """The tokens that the model will read, about: tests and methods by parts, and as much for the words inside."""
        case = replace(self.reading.case, text=self.parts)
        examiner, seen = Examiner(self.by_parts, self.named, False, long=True), Foreseen(self.prepared.engine.model)
        maps = [TokenScores(case, np.ones(len(case.text)))]
        given = self.prepared.draws
        sets = with_random(maps, given or FEWEST)
        signs = sum(seen.check(check, sets) for check in _asking_once(examiner))
        signs += seen.first(explaining(*pair).explain(case) for pair in self.prepared.methods)
        inside = sum(examiner.looks_inside(card) for card, _ in self.prepared.methods)
        rows = _WORDS + 11 * (given or INSIDE) + _GRADIENTS * inside
        return self.tokens * (rows + signs / len(str(self.parts)))


def by_parts(standing: Standing, readings: Mapping[int, Reading], unit: str) -> Standing:
    """With what the model did not see of the texts in these places, which their parts do not know."""
    read = ((e, readings.get(i)) for i, e in enumerate(standing.explanations))
    maps = tuple(e.told(unseen=known.unseen, given=known.given) if known else e for e, known in read)
    return replace(standing, explanations=maps, unit=unit.removesuffix("s"))


def _only(prepared: PreparedRequest) -> TextLike:
    texts = prepared.texts.texts if isinstance(prepared.texts, Sample) else prepared.texts
    return next(iter(texts))


def _asking_once(examiner: Examiner) -> list[Check[TokenScores]]:
    return [check for card, check in examiner.checks if card.name not in REPEATING]

"""Where a rule applies among many texts, and to which of them the model then says something else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.explanations.flips import flips
from assay.questions.base import Conversation
from assay.questions.each import Each
from assay.questions.predict import Predict
from assay.questions.tags import tags_of
from assay.statistics.arrays import Floats
from assay.text.text import Text
from assay.text.word_rules import WordRule


@dataclass(frozen=True)
class RuleText:
    """A text with one field in focus, what the model says to it, and what it shall say (None: anything else)."""

    text: Text
    target: int
    wanted: int | None
    seed: int

    @property
    def string(self) -> str:
        (field,) = self.text.explained
        return field.string

    def changed(self, rule: WordRule, places: Sequence[int]) -> str:
        (field,) = rule.applied(self.text, places).explained
        return field.string


@dataclass(frozen=True)
class Application:
    """A rule on one text: the number of the text, the places of the rule in it, and whether the answer changes."""

    number: int
    places: tuple[int, ...]
    flipped: bool


@dataclass(frozen=True)
class AppliedRule:
    """A rule, and all the texts of a set that it applies to."""

    rule: WordRule
    found: tuple[Application, ...]

    @property
    def flipped(self) -> tuple[int, ...]:
        """The numbers of the texts to which the model then says something else."""
        return tuple(one.number for one in self.found if one.flipped)

    @property
    def rate(self) -> float:
        return len(self.flipped) / len(self.found) if self.found else 0.0


class RuleTexts:
    """Texts that rules are applied to, found by their words."""

    def __init__(self, texts: Sequence[RuleText], tagger: str | None) -> None:
        self.texts, self.tagger = texts, tagger
        self._with: dict[str, list[int]] = {}
        for i, one in enumerate(texts):
            for word in dict.fromkeys(word.lower() for word in one.text.words):
                self._with.setdefault(word, []).append(i)

    def possible(self, rule: WordRule) -> list[int]:
        """Texts that have the words of a rule; parts of speech are yet to be looked at."""
        some = min((self._with.get(word, []) for word in rule.old), key=len)
        return [i for i in some if rule.possible(self.texts[i].text.words)]

    def apply(self, rule: WordRule) -> Conversation[AppliedRule]:
        """The rule on every text that it applies to, and what the model says then."""
        numbers = self.possible(rule)
        places = yield Each(self._places(rule, i) for i in numbers)
        at = {i: tuple(own) for i, own in zip(numbers, places, strict=True) if own}
        new = {i: rule.applied(self.texts[i].text, own) for i, own in at.items()}
        new = {i: text for i, text in new.items() if text.words}  # a rule that leaves nothing does not apply
        if not new:
            return AppliedRule(rule, ())
        answers = yield Predict(*new.values())
        rows = zip(new, answers.probabilities, strict=True)
        flipped = {i: self._flips(self.texts[i], row, answers.multi_label) for i, row in rows}
        return AppliedRule(rule, tuple(Application(i, at[i], flipped[i]) for i in new))

    def _places(self, rule: WordRule, i: int) -> Conversation[list[int]]:
        one = self.texts[i]
        words = one.text.words
        asked = {at for start in rule.possible(words) for at, _ in rule.tagged(start)}
        return rule.places(words, (yield from tags_of(one.string, asked, self.tagger)))

    def _flips(self, one: RuleText, chances: Floats, multi_label: bool) -> bool:
        return bool(flips(chances[None], one.target, one.wanted, multi_label)[0])

"""Rules: patterns of the input, what each is about, and its numbers.

of a neuron     a formula of features, layer and neuron, IoU, IoU by length, texts where it holds
of a change     words and what replaces them, how often that changes what the model says, texts where it applies
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from assay.explanations.sample_explanation import SampleExplanation
from assay.text.word_rules import WordRule

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Rule:
    """A rule, the part of the model that it is about (layer and neuron, say), its numbers, and texts.

    `texts` are some in which it holds, `others` some in which it does not.
    """

    rule: str
    subject: Mapping[str, int] = field(default_factory=dict)
    numbers: Mapping[str, Any] = field(default_factory=dict)
    texts: tuple[tuple[str, ...], ...] = ()
    others: tuple[tuple[str, ...], ...] = ()

    @property
    def change(self) -> WordRule | None:
        """What it does to a text; None for a rule that says something of a neuron."""
        return WordRule.of(self.numbers) if "old" in self.numbers else None

    def with_change(self, change: WordRule) -> Rule:
        """The same said of another change."""
        return replace(self, rule=str(change), numbers={**self.numbers, **change.to_dict()})

    def to_dict(self) -> dict[str, Any]:
        examples = {"texts": [list(text) for text in self.texts], "others": [list(text) for text in self.others]}
        return {"rule": self.rule, "subject": dict(self.subject), **self.numbers, **examples}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Rule:
        own = ("rule", "subject", "texts", "others")
        numbers = {name: value for name, value in data.items() if name not in own}
        texts, others = (tuple(map(tuple, data[name])) for name in ("texts", "others"))
        return cls(data["rule"], data["subject"], numbers, texts, others)


@dataclass(frozen=True, eq=False)
class Rules(SampleExplanation):
    """Rules, the best first."""

    kind: ClassVar[str] = "Rules"

    rules: tuple[Rule, ...] = ()

    def random_like(self, count: int) -> Iterator[Self]:
        """Rules that hold in as many of the same texts, drawn; or the same changes with random new words."""
        if any(rule.change for rule in self.rules) or "random_words" in self.facts:
            yield from self._random_changes(count)
            return
        rng = self.generator()
        for _ in range(count):
            yield self.told(rules=tuple(_holding_anywhere(rule, rng) for rule in self.rules))

    def _random_changes(self, count: int) -> Iterator[Self]:
        """The same words replaced by as many random ones (at least one), in the same places."""
        rng, pool = self.generator(), list(self.facts["random_words"])
        for _ in range(count):
            yield self.told(rules=tuple(_randomly(rule, pool, rng) for rule in self.rules))

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"rules": [rule.to_dict() for rule in self.rules]}

    @classmethod
    def _own(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        return {"rules": tuple(map(Rule.of, data["rules"]))}

    def to_frame(self) -> pd.DataFrame:
        """One row per rule."""
        import pandas as pd  # slow to import, and only wanted here

        return pd.DataFrame([{"rule": rule.rule, **rule.subject, **rule.numbers} for rule in self.rules])


def _randomly(rule: Rule, pool: list[str], rng: np.random.Generator) -> Rule:
    change = rule.change
    if change is None:
        return rule
    others = [word for word in pool if word.lower() not in (*change.old, *change.new)] or pool
    words = rng.choice(np.array(others, dtype=object), size=max(1, len(change.new))).tolist()
    return rule.with_change(replace(change, new=tuple(words)))


def _holding_anywhere(rule: Rule, rng: np.random.Generator) -> Rule:
    texts = [*rule.texts, *rule.others]
    drawn = [texts[i] for i in rng.permutation(len(texts)).tolist()]
    return replace(rule, texts=tuple(drawn[: len(rule.texts)]), others=tuple(drawn[len(rule.texts) :]))

"""Rules: patterns of the input, what each is about, and its numbers.

rules      of a neuron: a formula of features, layer and neuron, IoU, IoU by length, texts where it holds
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from assay.errors import BadInput
from assay.explanations.sample_explanation import SampleExplanation

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
        """The same rules, each said of the part of the model that another one is about."""
        if len(self.rules) < 2:
            raise BadInput("one rule alone cannot be exchanged with others; ask for more rules.")
        rng = self.generator()
        for _ in range(count):
            order = rng.permutation(len(self.rules))
            moved = (
                replace(rule, subject=self.rules[i].subject) for rule, i in zip(self.rules, order.tolist(), strict=True)
            )
            yield self.told(rules=tuple(moved))

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"rules": [rule.to_dict() for rule in self.rules]}

    @classmethod
    def _own(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        return {"rules": tuple(map(Rule.of, data["rules"]))}

    def to_frame(self) -> pd.DataFrame:
        """One row per rule."""
        import pandas as pd  # slow to import, and only wanted here

        return pd.DataFrame([{"rule": rule.rule, **rule.subject, **rule.numbers} for rule in self.rules])

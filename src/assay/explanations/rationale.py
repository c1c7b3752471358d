"""Rationale: why a label, in a sentence that a language model wrote, and how likely it found every token of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from assay.explanations.text_explanation import TextExplanation
from assay.questions.generation import Generated, Prompt

if TYPE_CHECKING:
    import pandas as pd


# Reasons for anything: random rationales of a text that stands alone.
_ANYTHING = (
    "a person can not be in two places at the same time.",
    "the first sentence says so, and the second repeats it in other words.",
    "nothing is said about when this happened.",
    "not everyone who waits is waiting for somebody.",
    "the weather has little to do with it.",
    "that is what most people would call it.",
    "one of them may have left before.",
    "the two things are rarely seen together.",
)


@dataclass(frozen=True)
class Reason:
    """A sentence, the tokens that make it up, and the probability of each after all before it."""

    text: str
    tokens: tuple[str, ...] = ()
    likelihoods: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if len(self.tokens) != len(self.likelihoods):
            raise ValueError(f"{len(self.tokens)} tokens have {len(self.likelihoods)} likelihoods")

    @classmethod
    def of(cls, written: Generated) -> Self:
        """What a model wrote, without the blanks around it."""
        return cls(written.text.strip(), written.tokens, tuple(np.exp(written.log_probs).tolist()))

    @property
    def mean(self) -> float:
        """The mean log-probability of a token; of no tokens, the worst there is."""
        if not self.likelihoods:
            return -math.inf
        return float(np.log(np.clip(self.likelihoods, 1e-300, None)).mean())

    def to_dict(self) -> dict[str, Any]:
        return {"text": self.text, "tokens": list(self.tokens), "likelihoods": list(self.likelihoods)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["text"], tuple(data["tokens"]), tuple(data["likelihoods"]))


@dataclass(frozen=True, eq=False)
class Rationale(TextExplanation):
    """The likeliest reason for the explained label, further ones, and the likeliest for each of some other labels.

    `others` and `prompts`, what the writer went on with, are by the number of the label.
    """

    kind: ClassVar[str] = "Rationale"

    reason: Reason = Reason("")
    further: tuple[Reason, ...] = ()
    others: Mapping[int, Reason] = field(default_factory=dict)
    prompts: Mapping[int, Prompt] = field(default_factory=dict)

    @property
    def prompt(self) -> str:
        """What the writer went on with for the explained label."""
        return str(self.prompts.get(self.target, ""))

    @property
    def writer(self) -> str:
        """The name of the model that wrote it; empty where the explained model itself did."""
        return str(self.about.parameters.get("model", ""))

    @property
    def rationale(self) -> str:
        return self.reason.text

    @property
    def likelihoods(self) -> tuple[float, ...]:
        return self.reason.likelihoods

    @classmethod
    def random_sets(cls, explanations: Sequence[Self], draws: int) -> list[Sequence[Self]]:
        """Sets of the same texts in which each has the rationale of another text, every other one equally often."""
        chance = [e.case.generator() for e in explanations]
        return [
            [e.with_reasons(*_others(explanations, e, rng)) for e, rng in zip(explanations, chance, strict=True)]
            for _ in range(draws)
        ]

    def with_reasons(self, reason: Reason, others: Sequence[Reason]) -> Self:
        """The same text and label, with what was written about another text."""
        return replace(self, reason=reason, further=(), others=dict(zip(self.others, others, strict=False)))

    def to_dict(self) -> dict[str, Any]:
        labels = list(self.prediction) or list(self.about.labels)
        return super().to_dict() | {
            "rationale": self.rationale,
            "tokens": list(self.reason.tokens),
            "likelihoods": list(self.likelihoods),
            "further": [one.to_dict() for one in self.further],
            "others": [
                {"label": labels[i] if i < len(labels) else str(i), "number": i, **one.to_dict()}
                for i, one in self.others.items()
            ],
            "prompts": [{"number": i, **asdict(prompt)} for i, prompt in self.prompts.items()],
        }

    def to_frame(self) -> pd.DataFrame:
        """One row per token of the rationale."""
        import pandas as pd  # slow to import, and only wanted here

        return pd.DataFrame({"token": list(self.reason.tokens), "likelihood": list(self.likelihoods)})

    @classmethod
    def _own(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "reason": Reason(data["rationale"], tuple(data["tokens"]), tuple(data["likelihoods"])),
            "further": tuple(map(Reason.from_dict, data["further"])),
            "others": {one["number"]: Reason.from_dict(one) for one in data["others"]},
            "prompts": {one["number"]: Prompt(one["text"], one["begun"], one["chat"]) for one in data["prompts"]},
        }

    def reasons(self) -> Iterator[Reason]:
        """All that was written for the explained label, the likeliest first."""
        yield self.reason
        yield from self.further


def _others(
    explanations: Sequence[Rationale], e: Rationale, rng: np.random.Generator
) -> tuple[Reason, Sequence[Reason]]:
    """What was written about one of the other texts; where there is none, sentences about nothing in particular."""
    different = [other for other in explanations if other.rationale not in ("", e.rationale)]
    if different:
        other = different[int(rng.integers(len(different)))]
        return other.reason, list(other.others.values())
    own, *rest = (Reason(_ANYTHING[int(i)]) for i in rng.permutation(len(_ANYTHING)))
    return own, rest

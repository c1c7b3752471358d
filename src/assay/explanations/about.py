"""Where an explanation comes from, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from assay.text.corpus import Corpus
from assay.text.gradient_index import GradientIndex
from assay.text.training_set import TrainingSet

T = TypeVar("T")


def changed(one: T, **fields: Any) -> T:
    """As `dataclasses.replace` of a frozen dataclass, for fields that nothing is checked against or made of.

    A third of the time: it is done for every text. Names must be those of fields.
    """
    made, names = object.__new__(type(one)), type(one).__dataclass_fields__  # type: ignore[attr-defined]
    kept = {name: value for name, value in vars(one).items() if name in names}  # not what properties have cached
    vars(made).update(kept, **fields)
    return made


@dataclass(frozen=True)
class Cost:
    """What an explanation asked for, and what had to be computed for it.

    sequences = forwards + hits: rows asked, rows that went through the model, rows that were known already.
    """

    sequences: int = 0
    forwards: int = 0
    backwards: int = 0
    tokens: int = 0
    hits: int = 0
    generated: int = 0  # tokens that a model wrote
    trainings: int = 0  # models that were trained for it

    def __add__(self, other: Cost) -> Cost:
        if self is NOTHING or other is NOTHING:
            return other if self is NOTHING else self
        return Cost(
            self.sequences + other.sequences,
            self.forwards + other.forwards,
            self.backwards + other.backwards,
            self.tokens + other.tokens,
            self.hits + other.hits,
            self.generated + other.generated,
            self.trainings + other.trainings,
        )


NOTHING = Cost()


@dataclass(frozen=True, kw_only=True)
class About:
    """Where an explanation comes from: enough to make it again."""

    method: str
    title: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    model: str = ""
    labels: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    cost: Cost = NOTHING
    given: bool = False  # whether its scores were made elsewhere, so that `method` is a name and nothing to run


def _short(about: About) -> About:
    """As it is written down: of a corpus or a training set only its size and digest."""
    given = about.parameters.items()
    return replace(about, parameters={name: str(v) if _is_long(v) else v for name, v in given})


def _is_long(value: Any) -> bool:
    return isinstance(value, TrainingSet | GradientIndex) or (isinstance(value, Corpus) and bool(value))

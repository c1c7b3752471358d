"""What a method and a check are: Protocols, and the optional hooks that a check or a method may have besides.

A method explains one case or describes a sample, a check examines one explanation. A check may also

    prepare      learn something from all explanations of a set first, such as a threshold (Prepares)
    learns       say whether what it learns must come from all texts at once (LearnsFromAll)
    left_out     say why it cannot measure a text; the verdict then leaves that text out (Selects)
    against      ask once per text for what all maps of that text are compared with, then measure each (Compares)

and a method or check whose parameters decide what it asks has `needs` of its own (HasNeeds). A method that searches a
training set may rank its texts by what each did to itself (RanksTraining). A method that writes texts anew may know how
likely another text means the same (JudgesMeaning).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from assay.explanations.base import Explanation
from assay.explanations.reading import Describes, Explains
from assay.questions.base import Conversation, Question
from assay.registry.measured import Measured
from assay.statistics.arrays import Floats

E = TypeVar("E", bound=Explanation, contravariant=True)
Method: TypeAlias = Explains[Any] | Describes[Any]


@runtime_checkable
class Check(Protocol[E]):
    """Examines one explanation; the score alone, or a score with facts and warnings."""

    def examine(self, e: E) -> Conversation[float] | Conversation[Measured]: ...


@runtime_checkable
class Prepares(Protocol[E]):
    """A check that learns from all explanations of a set before it examines one of them."""

    def prepare(self, explanations: Sequence[E]) -> Check[E]: ...


@runtime_checkable
class LearnsFromAll(Protocol):
    """A check that may learn from all texts together, if `learns`: then a run keeps all its rows in one shard."""

    @property
    def learns(self) -> bool: ...


@runtime_checkable
class Selects(Protocol[E]):
    """A check that cannot measure every text: `left_out` is the reason, or None where it can."""

    def left_out(self, e: E) -> str | None: ...


@runtime_checkable
class Compares(Protocol[E]):
    """A check that compares all maps of a text with the same thing, which is asked for once."""

    def against(self, e: E) -> Conversation[Any]: ...

    def measure(self, e: E, known: Any) -> Measured: ...


@runtime_checkable
class HasNeeds(Protocol):
    """A method or check that asks for more or less than its card says, as its parameters decide."""

    @property
    def needs(self) -> tuple[type[Question], ...]: ...

    @property
    def otherwise(self) -> str:
        """A sentence that says with which parameters it would ask for less."""


@runtime_checkable
class RanksTraining(Protocol):
    """A method that searches a training set and can say what each of its texts did to itself."""

    def self_influence(self) -> Conversation[Floats]: ...


@runtime_checkable
class JudgesMeaning(Protocol):
    """A method that knows of any text how likely it means the same as another."""

    def meaning_kept(self, string: str, versions: Sequence[str], seed: int) -> Conversation[Floats]:
        """The logarithm of the score of each version: 0 where it surely means the same, lower where not."""

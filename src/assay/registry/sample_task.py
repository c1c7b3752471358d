"""Checks of a whole labelled sample, such as those that train models: what they are given, and what they are.

    result = yield from check.examine_sample(SampleTask(train, dev, test, methods, model))

A check of single texts examines one explanation (protocols.Check). One of these examines a sample: it trains models on
`train`, scores them on `dev` or `test`, and returns a result of its own that can be asked for its verdicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

from assay.errors import BadInput, EmptyText
from assay.questions.base import Conversation
from assay.registry.cards import CheckCard, MethodCard
from assay.registry.protocols import Method
from assay.statistics.verdict import Verdict
from assay.text.sample import Sample
from assay.text.text import Text


class ExplainedModel(Protocol):
    """What a check may know of the model that is given to it."""

    @property
    def name(self) -> str: ...
    def fingerprint(self) -> str: ...


@dataclass(frozen=True, kw_only=True)
class SampleTask:
    """Labelled samples by what they are for, and what is tested on them.

    Without a `model` the check trains the one that is explained. `seed` is the first seed of everything random.
    """

    train: Sample
    dev: Sample | None = None
    test: Sample | None = None
    methods: Sequence[tuple[MethodCard, Method]] = ()
    model: ExplainedModel | None = None
    seed: int = 0

    @classmethod
    def of(cls, train: Any, dev: Any = None, test: Any = None) -> Self:
        """From whatever Sample.of reads; errors name the samples so."""
        named = (("train", train), ("dev", dev), ("test", test))
        read = [None if rows is None else Sample.of(rows, name=name) for name, rows in named]
        assert read[0] is not None
        return cls(train=read[0], dev=read[1], test=read[2])

    def samples(self) -> list[tuple[str, Sample]]:
        """Those that are there, by their names."""
        named = (("train", self.train), ("dev", self.dev), ("test", self.test))
        return [(name, sample) for name, sample in named if sample is not None]

    def require_learnable(self) -> None:
        """Every row has a label, train has at least two, and the labels of the others are among those."""
        for _, sample in self.samples():
            sample.require_rows().require_labels()
        if len(known := self.train.labels) < 2:
            raise BadInput("the texts of train have only one label; there is nothing to learn.")
        for name, sample in self.samples():
            if unknown := sorted(set(sample.labels) - set(known)):
                raise BadInput(f"the label {unknown[0]!r} is in {name} but not in train.")

    def require_words(self) -> None:
        """Every text has a word to attend to, and all are single strings, or all are pairs."""
        sizes = set()
        for name, sample in self.samples():
            for row in sample:
                sizes.add(len(row.strings))
                if not Text.of(row.strings[0]).words:
                    raise EmptyText(f"row {row.position + 1} of {name} has no word to attend to.")
        if len(sizes) > 1:
            raise BadInput("the texts of train, dev and test must all be single strings, or all be pairs.")


class SampleResult(Protocol):
    """What a check of a sample found."""

    def verdicts(self) -> Sequence[Verdict]: ...

    def to_dict(self) -> Mapping[str, Any]: ...


@runtime_checkable
class ExaminesSample(Protocol):
    """A check that reads a whole labelled sample."""

    def trainings(self, task: SampleTask) -> int:
        """How many models it trains at most."""

    def held_out(self) -> Mapping[str, float]:
        """The samples that it needs besides train, and which shares of train are set aside where they are not given."""

    def examine_sample(self, task: SampleTask) -> Conversation[Any]:
        """A conversation that ends with a SampleResult."""


def examines_sample(card: CheckCard) -> bool:
    """Whether a check is of this kind, by its card."""
    return issubclass(card.make_from, ExaminesSample)

"""What was found out about a model, and what follows from it for the questions that it can be asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from assay.models.transformers.admission.company import Company
from assay.models.transformers.admission.reading import Readers
from assay.questions.base import Question
from assay.questions.gradients import GradientVectors, InputGradient
from assay.questions.inside import Attention, Hidden, Relevance, ValueZeroing
from assay.questions.intervene import Activations, Intervene, UnitCounts
from assay.questions.interventions import Adversary, InterveneAttention
from assay.questions.replacements import Replacements

_GRADIENTS = (InputGradient, GradientVectors, Replacements, Relevance)
_LOOKING = (Attention, ValueZeroing, InterveneAttention, Adversary)
_SITES = (UnitCounts, Intervene, Activations)
_ONE_LOOKS = (InterveneAttention, Adversary)

_TOGETHER = {
    "padded": "Texts of any length go together in a batch, padded on the right: a text gives the same answer alone.",
    "equal": "Only texts of one length go together in a batch: padding would change its answers.",
    "alone": "Texts are asked one by one: it does not take several at once, or answers them differently.",
}


@dataclass(frozen=True)
class Admission:
    """The defaults are those of a model that needs no probing: a small one of our own."""

    company: Company = "padded"
    readers: Readers | None = None  # of a classifier; None where the text says where the answer is read off
    pieces_first: bool = False  # whether its embedding layer gives [pieces, rows, size]
    changes: bool = False  # whether a forward pass changes the model
    problems: Mapping[type[Question], str] = field(default_factory=dict)  # why it cannot be asked this, in words

    def sentences(self) -> Iterator[str]:
        """The same in plain words."""
        yield _TOGETHER[self.company]
        if self.readers is not None:
            yield f"Its answer is read from {_where(self.readers)}."
        if self.pieces_first:
            yield "Its layers work on [pieces, rows]; gradients are turned round."
        if self.changes:
            yield "A forward pass changes it, so every batch is asked of a fresh copy around the same weights."
        for why in dict.fromkeys(self.problems.values()):
            names = (question.__name__ for question, reason in self.problems.items() if reason == why)
            yield f"It cannot answer {', '.join(names)}: {why}."


@dataclass(frozen=True)
class Problems:
    """What stands in the way, each in words or None."""

    whole: str | None = None  # nothing can be asked
    maps: str | None = None
    states: str | None = None
    embedding: str | None = None
    reading: str | None = None
    mean: str | None = None
    twice: str | None = None
    turned: str | None = None

    def by_question(self, asked: Mapping[type[Question], object]) -> dict[type[Question], str]:
        """Of the questions that there is a handler for, those that cannot be answered, and why."""
        if self.whole:
            return dict.fromkeys(asked, self.whole)
        told = (
            (self.twice, (Hidden, *_GRADIENTS, *_LOOKING, *_SITES)),
            (self.embedding, _GRADIENTS),
            (self.turned, (Relevance,)),
            (self.states, (Hidden,)),
            (self.maps, (Attention,)),
            (self.reading, _LOOKING),
            (self.mean, _ONE_LOOKS),
        )
        found: dict[type[Question], str] = {}
        for why, questions in told:
            found |= {one: why for one in questions if why and one in asked and one not in found}
        return found


def _where(readers: Readers) -> str:
    match readers.start, readers.stop:
        case 0, 1:
            return "its first piece"
        case -1, None:
            return "its last piece"
        case 0, None:
            return "the mean of all pieces"
        case _ if readers.single:
            return f"the piece at place {readers.start}"
        case _:
            return "the mean of the pieces between the special tokens"

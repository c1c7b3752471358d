"""The tasks of the study: questions, the model whose answers are argued for, and what the writer wrote.

For e-SNLI that is the bundled `snli`. No bundled model answers CommonsenseQA: there the writer is told the right
answer, and what it writes is compared with what people wrote, who were told it too.

DIR/written/TASK-WAY.json.gz     the rationales
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal, TypeVar

import numpy as np

from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.explanations.case import Case
from assay.explanations.rationale import Rationale
from assay.methods.natural_language.cage import Cage
from assay.models import TextModel, load
from assay.questions.base import Conversation
from assay.text.text import Text
from assay.verbs import explain
from assay_studies.asking import asked, examined
from assay_studies.published import Published
from assay_studies.rationales.questions import DATASETS, Question
from assay_studies.rationales.sizes import Sizes
from assay_studies.request import Request
from assay_studies.samples import spread
from assay_studies.store import Store

T = TypeVar("T")
Way = Literal["rationalise", "reason"]
WRITER, BASE = "writer:explainer", "writer"
PAPER = Published({})  # the survey prints no numbers of CAGE


@dataclass(frozen=True, eq=False)
class Task:
    """One dataset; `questions` are written for, `read` are those whose human explanations are read."""

    name: str
    questions: tuple[Question, ...]
    read: tuple[Question, ...]
    request: Request
    sizes: Sizes
    store: Store

    @property
    def title(self) -> str:
        return DATASETS[self.name].title

    @property
    def answered(self) -> bool:
        """Whether a model answers the questions."""
        return self.name == "esnli"

    @cached_property
    def model(self) -> TextModel:
        return self.request.open("snli") if self.answered else load(_undecided, labels=self.questions[0].choices)

    @cached_property
    def engine(self) -> Engine:
        return Engine(self.model, resolve=self.request.open)  # the writers on the same device

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What the rationales depend on."""
        texts = json.dumps([asdict(one) for one in (*self.questions, *self.read)]).encode()
        model = self.model.fingerprint() if self.answered else "the right answers"
        return {"texts": blake2b(texts, digest_size=8).hexdigest(), "model": model, "writer": WRITER}

    def written(self, way: Way) -> list[Rationale]:
        """What the writer wrote for each question, taken from the directory where it is there."""
        write = lambda: [one.to_dict() for one in self._written(way)]  # noqa: E731
        data = self.store.once("written", f"{self.name}-{way}", self.settings, write)
        return [Rationale.from_dict(one) for one in data]

    def _written(self, way: Way) -> Sequence[Rationale]:
        self.request.say(f"{self.title}: {way}")
        if self.answered:
            texts = [one.text for one in self.questions]
            found: list[Rationale] = explain(
                None, texts, "cage", engine=self.engine, progress=self.request.progress, way=way
            )
            return found
        cases = [Case(Text.of(one.text), one.answer) for one in self.questions]
        ways = [Cage(model=WRITER, way=way, choices=one.choices) for one in self.questions]
        told = self.ask(cage.explain(case) for cage, case in zip(ways, cases, strict=True))
        return [replace(one, about=replace(one.about, parameters={"model": WRITER})) for one in told]

    def judge(self, check: Any, rationales: Sequence[Rationale]) -> Any:
        return examined(self.engine, rationales, check, self.sizes.draws, bool(self.request.progress))

    def ask(self, talks: Iterable[Conversation[T]]) -> list[T]:
        return asked(self.engine, talks)


def _undecided(texts: Sequence[Any]) -> Any:
    """In the place of a model: it is never asked which answer is right."""
    return np.full((len(texts), 3), 1 / 3)


def tasks(request: Request, sizes: Sizes, store: Store) -> list[Task]:
    """All that are wanted; every file is read before a model is loaded."""
    wanted = {name: getattr(sizes, name) for name in DATASETS if getattr(sizes, name)}
    if not wanted:
        raise BadInput("the study has no dataset left: give one of them a number of texts.")
    return [_task(name, count, request, sizes, store) for name, count in wanted.items()]


def _task(name: str, count: int, request: Request, sizes: Sizes, store: Store) -> Task:
    rows = list(DATASETS[name].read(request))
    usable: Callable[[Question], bool] = lambda one: len(one.choices) == len(rows[0].choices)  # noqa: E731
    rows = list(filter(usable, rows))
    return Task(name, tuple(spread(rows, count)), tuple(spread(rows, sizes.read)), request, sizes, store)

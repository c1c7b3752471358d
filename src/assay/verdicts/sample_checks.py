"""How checks of a whole labelled sample are run: by `assay.check`, by the command, and by the verbs of their own names.

    assay.check(model, sample, methods=["lime"], checks=["roar"], dev=...)         -> verdicts
    assay.roar(model, train, dev, ["lime"], trainer="words", out="DIR")            -> its result, see assay.checks.roar

The models that a check trains lie in a directory under their digests. So the same call goes on after a kill, and
checks that need the same model share it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

from assay.engine.engine import Engine
from assay.errors import AssayError, BadInput
from assay.models import BlackBox, load
from assay.progress import track
from assay.questions.base import Conversation
from assay.questions.train import Train
from assay.registry.cards import CheckCard, MethodCard
from assay.registry.finding import require, resolve_any_check
from assay.registry.protocols import Method
from assay.registry.sample_task import ExaminesSample, ExplainedModel, SampleResult, SampleTask
from assay.request import CheckLike, ModelLike
from assay.statistics.verdict import Verdict
from assay.verdicts.left_out import LeftOut, all_that_can

T = TypeVar("T")


def sample_checks(chosen: Sequence[CheckLike]) -> list[tuple[CheckCard, ExaminesSample]]:
    """Those of these checks that read a whole sample: all of them, or none."""
    made = [resolve_any_check(one) for one in chosen]
    found = [(card, check) for card, check in made if isinstance(check, ExaminesSample)]
    if found and len(found) < len(made):
        other = next(card.name for card, check in made if not isinstance(check, ExaminesSample))
        raise BadInput(f"{found[0][0].name} reads a labelled sample and {other} single texts; check them separately.")
    return found


@dataclass(frozen=True, kw_only=True)
class SampleRequest:
    """What is put to checks of samples; `dev` and `test` are set aside from `sample` where a check wants them.

    Without a model (and an engine) the checks train the one that is explained.
    """

    sample: Any
    dev: Any = None
    test: Any = None
    model: ModelLike = None
    methods: Sequence[tuple[MethodCard, Method]] = ()
    seed: int = 0
    out: str | Path | None = None
    engine: Engine | None = None
    progress: bool | None = None
    device: str | None = None

    def verdicts(
        self, chosen: Sequence[tuple[CheckCard, ExaminesSample]]
    ) -> tuple[tuple[Verdict, ...], tuple[LeftOut, ...]]:
        """Those of every check, in their order, and the checks that have none."""
        return all_that_can(partial(self._attempt, card, check) for card, check in chosen)

    def _attempt(self, card: CheckCard, check: ExaminesSample) -> tuple[Verdict, ...] | LeftOut:
        try:
            return tuple(self.result(card, check, set_aside=True).verdicts())
        except AssayError as error:
            return LeftOut(", ".join(method.name for method, _ in self.methods), card.name, error)

    def result(self, card: CheckCard, check: ExaminesSample, *, set_aside: bool = False) -> SampleResult:
        """What one check finds."""
        task = self._task(check if set_aside else None)
        total = check.trainings(task)
        talk = _tracked(check.examine_sample(task), total, card.title.lower(), self.progress)
        engine = self._engine
        for method, made in self.methods if task.model is not None else ():
            require(method, engine.model, made)
        found: SampleResult = next(engine.run([talk])).get()
        return found

    @cached_property
    def _engine(self) -> Engine:
        if self.engine is not None:
            return self.engine if self.out is None else self.engine.storing_in(self.out)
        return Engine(NO_MODEL if self.model is None else load(self.model, device=self.device), trained=self.out)

    def _task(self, check: ExaminesSample | None) -> SampleTask:
        """The samples that are given, and what a check wants set aside of the first of them."""
        read = SampleTask.of(self.sample, self.dev, self.test)
        read.train.require_rows().require_labels()
        there = dict(read.samples())
        wanted = {} if check is None else {n: q for n, q in check.held_out().items() if n not in there}
        if wanted:
            there |= read.train.split({"train": 1 - sum(wanted.values()), **wanted})
        task = SampleTask(**there, methods=self.methods, model=self._given_model, seed=self.seed)
        task.require_learnable()
        return task

    @property
    def _given_model(self) -> ExplainedModel | None:
        return self._engine.model if self.model is not None or self.engine is not None else None


def _absent(texts: list[Any]) -> Any:
    raise BadInput("there is no model to ask; give one, or let the check train it.")


NO_MODEL = BlackBox(_absent, labels=("none",), name="no model", multi_label=True)


def _tracked(conversation: Conversation[T], total: int, title: str, progress: bool | None) -> Conversation[T]:
    """The same conversation, with a bar that moves on after every trained model."""
    steps = track(range(total), total, title, progress)
    answer: Any = None
    send = partial(next, conversation)
    while True:
        try:
            inquiry = send()
        except StopIteration as stop:
            for _ in steps:
                pass
            return stop.value  # type: ignore[no-any-return]
        try:
            answer = yield inquiry
            send = partial(conversation.send, answer)
        except Exception as error:
            send = partial(conversation.throw, error)
        if isinstance(inquiry, Train):
            next(steps, None)

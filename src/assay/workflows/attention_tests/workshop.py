"""The models that the tests train, each in a directory of its own: tests that are given the same one share them.

DIR/lstm-additive-10      encoder, attention, seed        DIR/adversary-0.001-10     lambda, seed
DIR/guided-base-10        guide, seed
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from assay.checks.trained_adversary import TrainedAdversary
from assay.errors import BadInput
from assay.models import TextModel, load
from assay.progress import log
from assay.text.labelled import LabelledTexts
from assay.training.attentive import Attend, attend
from assay.training.guided import adversary_plan, attentive, guide, observed, oppose
from assay.training.observed import Observed
from assay.workflows.attention_tests.split import Splits

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Workshop:
    """Data, how models are trained on it, and where they go."""

    train: LabelledTexts
    dev: LabelledTexts | None
    test: LabelledTexts
    how: Attend
    out: Path | None = None
    progress: bool | None = None

    def model(self, seed: int, **changes: Any) -> TextModel:
        """The model as `how` says, with these changes."""
        how = self._how(seed, **changes)
        place = self._place(f"{how.encoder}-{how.attention}-{seed}")
        dev = self.dev.data if self.dev else None
        return attend(*self.train.data, how=how, dev=dev, out=place, progress=self.progress)

    def base(self, given: Any, seed: int) -> Base:
        """The model that is given, or a new one."""
        model = attentive(self.model(seed) if given is None else load(given))
        if model.model.config.attention == "uniform":
            raise BadInput("the base has uniform attention, which is never learned; test one with additive or dot.")
        return Base(self, model)

    def seen(self, model: TextModel) -> Observed:
        """The model on the test texts."""
        return observed(model, self.test.strings)

    def guided(self, name: str, guides: Base, seed: int) -> Observed:
        """An MLP under the attention of another model, on the test texts."""
        how, dev = self._how(seed, encoder="average"), self.dev
        seen = None if dev is None else guides.dev
        place = self._place(f"guided-{name}-{seed}")
        model = guide(
            self.train.data,
            guides.train,
            how=how,
            dev=dev.data if dev else None,
            dev_guides=seen,
            out=place,
            progress=self.progress,
        )
        return observed(model, self.test.strings, guides.test.weights)

    def adversary(self, base: Base, penalty: float, check: TrainedAdversary) -> TextModel:
        """A model like the base that is trained away from it."""
        own = self._how(check.seed, **base.made_like)
        how = replace(own, plan=adversary_plan(own.plan, check.epochs, check.patience))
        others = {"train": None, "dev": self.dev, "test": self.test}[check.choose]
        seen = {"train": None, "dev": base.dev if self.dev else None, "test": base.test}[check.choose]
        return oppose(
            self.train.data,
            base.train,
            penalty,
            how=how,
            other=others.data if others else None,
            other_base=seen,
            variant=check.variant,
            out=self._place(f"adversary-{penalty:g}-{check.seed}"),
            progress=self.progress,
        )

    def _how(self, seed: int, **changes: Any) -> Attend:
        return replace(self.how, **changes, plan=replace(self.how.plan, seed=seed))

    def _place(self, name: str) -> Path | None:
        return self.out / name if self.out else None


@dataclass(frozen=True, eq=False)
class Base:
    """A model, and what it says of train, dev and test, read when it is first wanted."""

    workshop: Workshop
    model: TextModel

    @cached_property
    def train(self) -> Observed:
        return observed(self.model, self.workshop.train.strings)

    @cached_property
    def dev(self) -> Observed:
        assert self.workshop.dev is not None
        return observed(self.model, self.workshop.dev.strings)

    @cached_property
    def test(self) -> Observed:
        return self.workshop.seen(self.model)

    @property
    def made_like(self) -> dict[str, Any]:
        """What another model of the same kind is made with."""
        config = attentive(self.model).model.config
        return {"encoder": config.encoder, "attention": config.attention, "hidden": config.hidden_size}


def told(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    """The items, with a line in the log before each."""
    for i, item in enumerate(items, start=1):
        log.info("%s: model %d of %d", what, i, total)
        yield item


def workshop(read: Splits, how: Attend | None, out: str | Path | None, progress: bool | None) -> Workshop:
    """Where models are trained on these texts."""
    how = how or Attend()
    if how.attention == "uniform":
        raise BadInput("uniform attention is never learned, so there is nothing to test; use additive or dot.")
    return Workshop(*read, how, None if out is None else Path(out), progress)

"""Recipes: how a model is made of labelled texts, saved, and opened again.

    Words()              logistic regression on tf-idf of words, see assay.training.words: a second a model
    Bag()                the same on counts of words, as a network with gradients, see assay.training.bag
    Attend("lstm")       an encoder with one attention, see assay.training.attentive: a minute or two a model
    FineTune("mlm")      a Hugging Face encoder under a new head, see assay.training.finetune

Any object with `settings`, `make`, `is_made` and `open` is a recipe. An object that can only `train` is one too,
through `InMemory`: its models are not saved, so a killed run trains them again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

from assay.errors import BadInput, UnknownName
from assay.models import TextModel
from assay.text.text import Row

Labelled: TypeAlias = tuple[Sequence[Row], Sequence[str]]


@runtime_checkable
class Recipe(Protocol):
    """Makes models that are alike but for the seed."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """All that decides the models besides texts, labels and seed, as plain data."""

    def make(
        self, texts: Sequence[Row], labels: Sequence[str], seed: int, out: Path, *, dev: Labelled | None = None
    ) -> None:
        """Train into the directory `out`; the same call goes on after a kill. The best epoch is chosen on `dev`."""

    def is_made(self, out: Path) -> bool:
        """Whether the directory holds a whole model."""

    def open(self, out: Path) -> TextModel:
        """The model of the directory."""


@runtime_checkable
class Trainer(Protocol):
    """Makes models that are alike but for the seed, and cannot save them."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """As those of a recipe."""

    def train(self, texts: Sequence[Row], labels: Sequence[str], seed: int) -> TextModel:
        """A model whose labels are the given ones; a text is a tuple of one string, or of two."""


class InMemory:
    """A recipe of any trainer: models are kept in memory, the two latest; an older one is trained again when opened."""

    def __init__(self, trainer: Trainer) -> None:
        self.trainer = trainer
        self._again: dict[Path, Callable[[], TextModel]] = {}
        self._held: OrderedDict[Path, TextModel] = OrderedDict()

    @property
    def settings(self) -> Mapping[str, Any]:
        return self.trainer.settings

    def make(
        self, texts: Sequence[Row], labels: Sequence[str], seed: int, out: Path, *, dev: Labelled | None = None
    ) -> None:
        self._again[out] = lambda: self.trainer.train(texts, labels, seed)
        self._hold(out)

    def is_made(self, out: Path) -> bool:
        return out in self._again

    def open(self, out: Path) -> TextModel:
        if out not in self._held:
            self._hold(out)
        return self._held[out]

    def _hold(self, out: Path) -> None:
        while len(self._held) > 1:
            self._held.popitem(last=False)
        self._held[out] = self._again[out]()


def recipe(given: str | Trainer | Recipe) -> Recipe:
    """A recipe by its name (words, bag, attentive, attentive:ENCODER, finetune, finetune:MODEL), or from an object."""
    if isinstance(given, str):
        return _by_name(given)
    if isinstance(given, Recipe):
        return given
    if isinstance(given, Trainer):
        return InMemory(given)
    raise BadInput(f"a trainer has `settings` and `train(texts, labels, seed)`; {given!r:.60} has not.")


def _by_name(given: str) -> Recipe:
    name, _, start = given.partition(":")
    if name == "words" and not start:
        from assay.training.words import Words

        return Words()
    if name == "bag" and not start:
        from assay.training.bag import Bag

        return Bag()
    if name == "finetune":
        from assay.training.finetune import FineTune  # torch is slow to import

        return FineTune(start) if start else FineTune()
    if name == "attentive":
        from assay.training.attentive import Attend

        return Attend(encoder=start) if start else Attend()  # type: ignore[arg-type]
    names = ("words", "bag", "finetune", "finetune:MODEL", "attentive", "attentive:ENCODER")
    raise UnknownName.of("trainer", given, names)

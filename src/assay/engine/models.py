"""The models that questions name, held by bytes: the least recently used goes first.

    None                 the explained model, which is always there
    "mlm"                another model, by any name that `assay.load` takes
    "@randomized:head:0" a model derived from the explained one; "@checkpoint:3" that at a checkpoint of its training
    "@trained:DIGEST"    a model that `Train` made; "@trained:DIGEST@checkpoint:3" one derived from it

Derived models are cheap to make again, so only a few are held: as many as have together twice the bytes of the
explained model. One is dropped before the next is made, so there are never more than three models of that size at once.
Models of other names are slow to open and stay longer, in a budget of their own.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from assay.models import TextModel, held, load
from assay.models.turn import Turn
from assay.questions.base import Question
from assay.text.variants import Symbol
from assay.training.epochs import open_checkpoint

_TOGETHER = 2  # derived models that are held at once, if they are as large as the explained one
_OTHERS = 4 << 30  # bytes of models by other names


@dataclass(frozen=True)
class Facts:
    """What questions must know of a model; it stays when the model has been dropped."""

    name: str
    labels: tuple[str, ...]
    spelling: Mapping[Symbol, str]
    multi_label: bool
    one_logit: bool
    line_tokens: int
    answers: Collection[type[Question]]
    missing: Mapping[type[Question], str]
    fields: tuple[str, ...] = ()
    question: str = ""
    chats: bool = False

    @classmethod
    def of(cls, model: TextModel) -> Facts:
        spoken = model.name, model.labels, model.spelling, model.multi_label, model.one_logit, model.line_tokens
        return cls(*spoken, frozenset(model.answers), model.missing, model.fields, model.question, model.chats)


class _Shelf:
    """Models up to so many bytes; the one that is asked for stays in any case."""

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.held: OrderedDict[str, TextModel] = OrderedDict()

    def get(self, name: str, make: Callable[[], TextModel], expected: int) -> TextModel:
        """The model, made if it is not there; before that, others are dropped until `expected` bytes have room."""
        if name not in self.held:
            self._drop(keep=0, room_for=expected)
            self.held[name] = make()
            self._drop(keep=1)
        self.held.move_to_end(name)
        return self.held[name]

    def _drop(self, *, keep: int, room_for: int = 0) -> None:
        """Drop the least recently used, except for the `keep` latest, until the bytes have room."""
        used = sum(model.bytes for model in self.held.values())
        while len(self.held) > keep and used + room_for > self.budget:
            used -= self.held.popitem(last=False)[1].bytes


class Models:
    """Models by name."""

    def __init__(
        self, model: TextModel, resolve: Callable[[str], TextModel], trained: Callable[[str], TextModel]
    ) -> None:
        self.model, self._resolve, self._trained = model, resolve, trained
        self._turn = Turn()  # what is held is the same for all threads
        self._others = _Shelf(_OTHERS)
        self._facts: dict[str | None, Facts] = {}

    @cached_property
    def _derived(self) -> _Shelf:
        """Made when the first derived model is wanted, since counting the bytes of a large model takes a while."""
        return _Shelf(_TOGETHER * self.model.bytes)

    def __getitem__(self, name: str | None) -> TextModel:
        if name is None:
            return self.model
        with self._turn:
            if name.startswith("@"):
                return self._derived.get(name, lambda: self._derive(name), expected=self.model.bytes)
            return self._others.get(name, lambda: self._opened(name), expected=0)

    def facts(self, name: str | None) -> Facts:
        """What questions must know of a model."""
        if name not in self._facts:
            self._facts[name] = Facts.of(self[name])
        return self._facts[name]

    def together(self, names: Iterable[str | None]) -> set[str | None]:
        """Of these names, the most urgent first, those whose models can be held at the same time."""
        held: set[str | None] = set()
        derived = 0
        for name in dict.fromkeys(names):
            if name is not None and name.startswith("@"):
                if derived == _TOGETHER:
                    continue
                derived += 1
            held.add(name)
        return held

    def _opened(self, name: str) -> TextModel:
        """A model by another name, beside the explained one; the bundled writer stays open for the next engine."""
        if self._resolve is load and held.is_held(name):
            return held.opened(name, str(getattr(self.model, "device", "cpu")), lambda: self._open(name))
        return self._open(name)

    def _open(self, name: str) -> TextModel:
        return self.model.beside(self._resolve(name))

    def _derive(self, name: str) -> TextModel:
        """From left to right: `@trained:DIGEST@checkpoint:3` is a checkpoint of a trained model."""
        model = self.model
        for spec in name.split("@")[1:]:
            match spec.partition(":"):
                case "trained", _, digest:
                    model = self._trained(digest)
                case "checkpoint", _, number:
                    model = open_checkpoint(model, number)
                case _:
                    model = model.derived(spec)
        return model

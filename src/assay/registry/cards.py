"""Cards: what each method and check is, what it needs, and how it is made from parameters.

    @method(title="Leave-one-out", row=Row.INPUT_FEATURES, uses=Uses.BLACK_BOX, paper="arXiv:1612.08220")

The name of a method is the name of its file, or what `name=` says (names.py). Methods and checks of other packages come
in through the entry-point groups `assay.methods` and `assay.checks`: an entry point names a module that uses the same
decorators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from functools import cached_property
from importlib import import_module
from typing import Any, Generic, TypeVar, cast, get_type_hints

from assay.errors import BadInput, UnknownName
from assay.explanations.base import Explanation
from assay.explanations.case import Case
from assay.explanations.reading import Describes, Explains
from assay.explanations.token_scores import TokenScores
from assay.questions.base import Question
from assay.registry.names import is_interactive, register_name
from assay.registry.parameters import _read, parameters, plain
from assay.registry.protocols import Method
from assay.registry.survey import Row, Uses
from assay.statistics.verdict import Better, Chance
from assay.text.sample import Sample

C = TypeVar("C")
M = TypeVar("M", bound=Method)


@dataclass(frozen=True)
class Card(Generic[C]):
    """What is known of a method or a check without running it."""

    name: str
    title: str
    make_from: type[C]
    paper: str
    needs: tuple[type[Question], ...]

    @property
    def summary(self) -> str:
        """The first sentence of the module's docstring; in a script or a notebook, of that of the class."""
        alone = is_interactive(self.make_from)
        text = self.make_from.__doc__ if alone else import_module(self.make_from.__module__).__doc__
        return ((text or "").strip() or self.title).splitlines()[0]

    @cached_property
    def parameters(self) -> dict[str, Field[Any]]:
        return {f.name: f for f in fields(self.make_from) if f.init}  # type: ignore[arg-type]

    def make(self, parameters: Mapping[str, Any] | None = None) -> C:
        """The method or check itself; values may be strings, as a shell gives them."""
        hints = get_type_hints(self.make_from)
        given = dict(parameters or {})
        for name in given:
            if name == "methods":
                raise UnknownName("explain and describe call it method=...; check and trust call it methods=[...].")
            if name not in self.parameters:
                raise UnknownName.of(f"parameter of {self.name}", name, self.parameters)
        return self.make_from(**{name: _read(name, value, hints[name]) for name, value in given.items()})

    def defaults(self) -> dict[str, str]:
        return {n: plain(f.default) for n, f in self.parameters.items() if f.default is not MISSING}


@dataclass(frozen=True)
class MethodCard(Card[Method]):
    """A method: where it stands in the survey's table and what it returns."""

    row: Row
    uses: Uses
    section: str
    marks: str
    returns: type[Explanation]
    alone: bool = False  # it can do without a sample: then it describes the model alone, and gets NO_SAMPLE

    @property
    def reads(self) -> type[Case] | type[Sample]:
        """What it is given: one text and what is explained of it, or the texts of a sample."""
        return Sample if issubclass(self.make_from, Describes) else Case


@dataclass(frozen=True)
class CheckCard(Card[Any]):
    """A check: what it reads, which way is better, what moves it besides the truth."""

    reads: type[Explanation]
    better: Better
    sensitive_to: str
    chance: Chance = "beat"


def distinct_name(card: Card[Any], made: object) -> str:
    """The name, with the parameters that are not the usual ones: lime(samples=100)."""
    usual = {name: plain(f.default) for name, f in card.parameters.items()}
    own = [f"{name}={value}" for name, value in parameters(made).items() if value != usual[name]]
    return f"{card.name}({', '.join(own)})" if own else card.name


METHODS: dict[str, MethodCard] = {}
CHECKS: dict[str, CheckCard] = {}


def method(
    *,
    title: str,
    name: str | None = None,
    row: Row,
    uses: Uses,
    paper: str,
    needs: Iterable[type[Question]],
    section: str = "",
    marks: str = "",
    returns: type[Explanation] = TokenScores,
    alone: bool = False,
) -> Callable[[type[M]], type[M]]:
    """Register a method under the name of its file, or under this name.

    `alone`: it describes the model alone where no sample is given.
    """

    def register(cls: type[M]) -> type[M]:
        made_from = cast(type[Method], cls)  # one of the two, which a bound on M says and mypy forgets
        if not issubclass(cls, Explains | Describes):
            raise BadInput(f"{cls.__name__} is no method: it needs explain(self, case) or describe(self, sample).")
        own = register_name(cls, name, "methods", {known: card.make_from for known, card in METHODS.items()})
        facts = (paper, tuple(needs), row, uses, section, marks, returns, alone)
        METHODS[own] = MethodCard(own, title, made_from, *facts)
        return cls

    return register


def check(
    *,
    title: str,
    name: str | None = None,
    better: Better,
    paper: str,
    needs: Iterable[type[Question]],
    sensitive_to: str,
    reads: type[Explanation] = TokenScores,
    chance: Chance = "beat",
) -> Callable[[type[C]], type[C]]:
    """Register a check under the name of its file, or under this name."""

    def register(cls: type[C]) -> type[C]:
        own = register_name(cls, name, "checks", {known: card.make_from for known, card in CHECKS.items()})
        facts = (paper, tuple(needs), reads, better, sensitive_to, chance)
        CHECKS[own] = CheckCard(own, title, cls, *facts)
        return cls

    return register

"""Cards: what each method and check is, what it needs, and how it is made from parameters.

    @method(title="Leave-one-out", row=Row.INPUT_FEATURES, uses=Uses.BLACK_BOX, paper="arXiv:1612.08220")

The name of a method is the name of its file. Methods and checks of other packages come in through the entry-point
groups `assay.methods` and `assay.checks`: an entry point names a module that uses the same decorators.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import entry_points
from types import ModuleType, NoneType, UnionType
from typing import Any, Generic, Literal, TypeVar, get_args, get_origin, get_type_hints

from assay.errors import BadInput, Unanswerable, UnknownName
from assay.explanations.base import Explanation, TokenScores
from assay.questions.ask import Question
from assay.questions.erasers import Eraser, eraser
from assay.registry.survey import TABLE, Cell, Row, Uses
from assay.text.corpus import Corpus

C = TypeVar("C")
Better = Literal["higher", "lower"]
Level = Literal["text", "dataset"]


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
        """The first sentence of the module's docstring."""
        return (import_module(self.make_from.__module__).__doc__ or "").strip().splitlines()[0]

    @cached_property
    def parameters(self) -> dict[str, Field[Any]]:
        return {f.name: f for f in fields(self.make_from) if f.init}  # type: ignore[arg-type]

    def make(self, parameters: Mapping[str, Any] | None = None) -> C:
        """The method or check itself; values may be strings, as a shell gives them."""
        hints = get_type_hints(self.make_from)
        given = dict(parameters or {})
        for name in given:
            if name not in self.parameters:
                raise UnknownName.of(f"parameter of {self.name}", name, self.parameters)
        return self.make_from(**{name: _read(name, value, hints[name]) for name, value in given.items()})

    def defaults(self) -> dict[str, str]:
        return {n: plain(f.default) for n, f in self.parameters.items() if f.default is not MISSING}


@dataclass(frozen=True)
class MethodCard(Card[C]):
    """A method: where it stands in the survey's table and what it returns."""

    row: Row
    uses: Uses
    section: str
    marks: str
    returns: type[Explanation]


@dataclass(frozen=True)
class CheckCard(Card[C]):
    """A check: what it reads, which way is better, what moves it besides the truth."""

    reads: type[Explanation]
    better: Better
    sensitive_to: str
    level: Level = "text"  # a check of a dataset is a verb of its own, under the same name
    call: str = ""  # the arguments of that verb


METHODS: dict[str, MethodCard[Any]] = {}
CHECKS: dict[str, CheckCard[Any]] = {}


def method(
    *,
    title: str,
    row: Row,
    uses: Uses,
    paper: str,
    needs: Iterable[type[Question]],
    section: str = "",
    marks: str = "",
    returns: type[Explanation] = TokenScores,
) -> Callable[[type[C]], type[C]]:
    """Register a method under the name of its file."""

    def register(cls: type[C]) -> type[C]:
        name = _name(cls)
        METHODS[name] = MethodCard(name, title, cls, paper, tuple(needs), row, uses, section, marks, returns)
        return cls

    return register


def check(
    *,
    title: str,
    better: Better,
    paper: str,
    needs: Iterable[type[Question]],
    sensitive_to: str,
    reads: type[Explanation] = TokenScores,
    level: Level = "text",
    call: str = "model, train, dev, methods",
) -> Callable[[type[C]], type[C]]:
    """Register a check under the name of its file; `call` are the arguments of the verb of a check of a dataset."""

    def register(cls: type[C]) -> type[C]:
        name = _name(cls)
        CHECKS[name] = CheckCard(name, title, cls, paper, tuple(needs), reads, better, sensitive_to, level, call)
        return cls

    return register


def find_method(name: str) -> MethodCard[Any]:
    cards = methods()
    if name in cards:
        return cards[name]
    planned = {cell.name for cell in TABLE} - set(cards)
    if name in planned:
        raise UnknownName(f"{name} is in the survey's table but not built yet; there are: {', '.join(sorted(cards))}.")
    raise UnknownName.of("method", name, cards)


def find_check(name: str) -> CheckCard[Any]:
    """A check of single texts; one that needs a whole dataset is not found, but named."""
    if name not in checks():
        raise UnknownName.of("check", name, checks())
    return _of_texts(checks()[name])


def _of_texts(card: CheckCard[C]) -> CheckCard[C]:
    if card.level == "dataset":
        raise BadInput(
            f"{card.name} is a test on a whole labelled dataset, not on single texts; "
            f"call assay.{card.name}({card.call}) in Python."
        )
    return card


@cache
def _discover(group: str) -> None:
    _import_all(import_module(f"assay.{group}"))
    for entry in entry_points(group=f"assay.{group}"):
        entry.load()


def methods() -> dict[str, MethodCard[Any]]:
    """All methods, in the order of the survey's rows."""
    _discover("methods")
    order = list(Row)
    return dict(sorted(METHODS.items(), key=lambda item: (order.index(item[1].row), item[0])))


def checks() -> dict[str, CheckCard[Any]]:
    _discover("checks")
    return dict(sorted(CHECKS.items()))


def require(card: Card[Any], answers: frozenset[type[Question]], model: str, made: Any = None) -> None:
    """An error where the model cannot answer, with the methods of the same row that would work.

    An object that asks for more or less than its card, as its parameters say, has `needs` of its own; `otherwise` is a
    sentence that says with which parameters it would work.
    """
    if isinstance(card, CheckCard):
        _of_texts(card)
    missing = [question.__name__ for question in getattr(made, "needs", card.needs) if question not in answers]
    if not missing:
        return
    row = card.row if isinstance(card, MethodCard) else None
    fit = [name for name, other in methods().items() if other.row == row and set(other.needs) <= answers]
    hint = f" Of its row, these work: {', '.join(fit)}." if fit else ""
    hint += f" {made.otherwise}" if hasattr(made, "otherwise") else ""
    raise Unanswerable(f"{card.name} asks for {' and '.join(missing)}, which the model {model} cannot answer.{hint}")


def plain(value: Any) -> Any:
    """A parameter as JSON can hold it; of anything else, such as an eraser or a collection of highlights, its name."""
    if value is None or isinstance(value, str | int | float | list | dict):
        return value
    if isinstance(value, Corpus) and value:  # stays one, so that explanations know to write it short
        return value
    return list(value) if isinstance(value, tuple) else str(value)


def parameters(thing: Any) -> dict[str, Any]:
    """The parameters of a method or check, as `make` takes them."""
    return {f.name: plain(getattr(thing, f.name)) for f in fields(thing) if f.init}


def planned() -> list[Cell]:
    """Cells of the survey's table that are not built yet."""
    return [cell for cell in TABLE if cell.name not in methods()]


def _name(cls: type) -> str:
    return cls.__module__.rpartition(".")[2]


def _import_all(package: ModuleType) -> None:
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        import_module(module.name)


def _read(name: str, value: Any, hint: Any) -> Any:
    """A value of the hinted type, from that type or from a string."""
    if isinstance(hint, UnionType):
        kind = next(arg for arg in get_args(hint) if arg is not NoneType)
        return None if value in (None, "none", "None") else _read(name, value, kind)
    if isinstance(hint, type) and issubclass(hint, Eraser):
        return eraser(value)
    if hint is Corpus:
        return Corpus.of(value)
    if get_origin(hint) is Literal:
        if value not in get_args(hint):
            raise UnknownName.of(f"value of {name}", value, map(str, get_args(hint)))
        return value
    if get_origin(hint) is tuple:
        parts = value.split(",") if isinstance(value, str) else value
        return tuple(_read(name, part, get_args(hint)[0]) for part in parts)
    return _number(name, value, hint) if hint in (int, float, bool) else value


def _number(name: str, value: Any, hint: type) -> Any:
    try:
        if hint is bool:
            return {"true": True, "false": False, "1": True, "0": False}[str(value).lower()]
        return hint(value)
    except (ValueError, KeyError):
        raise BadInput(f"{name} must be of type {hint.__name__}, not {value!r}.") from None

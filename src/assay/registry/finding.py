"""All methods and checks by name, those of other packages included, and what a model can answer."""

from __future__ import annotations

import pkgutil
from collections.abc import Collection, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any, Protocol

from assay.errors import BadInput, Unanswerable, UnknownName
from assay.explanations.reading import Describes, Explains
from assay.questions.base import Question
from assay.questions.predict import Predict
from assay.registry.aliases import usual_name
from assay.registry.cards import CHECKS, METHODS, Card, CheckCard, MethodCard
from assay.registry.protocols import Check, HasNeeds, Method
from assay.registry.sample_task import ExaminesSample
from assay.registry.survey import TABLE, Cell, Row


def find_method(name: str) -> MethodCard:
    cards = methods()
    name = usual_name(name, cards)
    if name in cards:
        return cards[name]
    planned = {cell.name for cell in TABLE} - set(cards)
    if name in planned:
        raise UnknownName(f"{name} is in the survey's table but not built yet; there are: {', '.join(sorted(cards))}.")
    if usual_name(name, checks()) in checks():
        raise UnknownName(f"{name} is a check, not a method; methods come first: check(model, texts, methods, checks).")
    if len(name.split()) > 3:
        raise UnknownName(f"no method is called {name!r:.60}; is it a text? The order is explain(model, text, method).")
    raise UnknownName.of("method", name, cards)


def find_check(name: str) -> CheckCard:
    name = usual_name(name, checks())
    if name not in checks():
        if usual_name(name, methods()) in methods():
            raise UnknownName(
                f"{name} is a method, not a check; checks come last: check(model, texts, methods, checks)."
            )
        raise UnknownName.of("check", name, checks())
    return checks()[name]


def resolve_method(method: str | Method, settings: Mapping[str, Any] | None = None) -> tuple[MethodCard, Method]:
    """The card and the method itself, from its name with parameters, or from the object."""
    if isinstance(method, str):
        card = find_method(method)
        return card, card.make(settings)
    for card in methods().values():
        if card.make_from is _class_of(method):
            if isinstance(method, type):  # the class itself
                return card, card.make(settings)
            if settings:
                given = ", ".join(settings)
                raise BadInput(
                    f"{given} cannot be set beside a {card.name} that is made already; set it when you make it."
                )
            return card, method
    raise _not_registered("method", method)


def resolve_check(check: str | Check[Any] | ExaminesSample) -> tuple[CheckCard, Check[Any]]:
    """The card of a check of single texts and the check itself, from its name or from the object."""
    card, made = resolve_any_check(check)
    if isinstance(made, ExaminesSample):
        raise BadInput(
            f"{card.name} is a test on a whole labelled sample, not on single texts; call assay.check(model, sample, "
            f"methods, [{card.name!r}]) in Python, or `assay check --file F --label-column C`."
        )
    return card, made


def resolve_any_check(check: str | Check[Any] | ExaminesSample) -> tuple[CheckCard, Check[Any] | ExaminesSample]:
    """The same for checks of single texts and of samples."""
    if isinstance(check, str):
        return (card := find_check(check)), card.make()
    for card in checks().values():
        if card.make_from is _class_of(check):
            return card, card.make() if isinstance(check, type) else check
    raise _not_registered("check", check)


def _class_of(given: object) -> type:
    return given if isinstance(given, type) else type(given)


def _not_registered(one: str, given: object) -> UnknownName:
    cls = _class_of(given)
    if cls.__module__ == "__main__":
        hint = f"decorate it with @{one}(...); if it was defined again since, use the new one"
        return UnknownName(f"{cls.__name__} is no registered {one}: {hint}.")
    return UnknownName(f"{given!r:.80} is no {one}; give a name, as listed by `assay {one}s`.")


@cache
def _discover(group: str) -> None:
    _import_all(import_module(f"assay.{group}"))
    for entry in entry_points(group=f"assay.{group}"):
        entry.load()


def methods() -> dict[str, MethodCard]:
    """All methods, in the order of the survey's rows."""
    _discover("methods")
    order = list(Row)
    return dict(sorted(METHODS.items(), key=lambda item: (order.index(item[1].row), item[0])))


def checks() -> dict[str, CheckCard]:
    _discover("checks")
    return dict(sorted(CHECKS.items()))


class Answering(Protocol):
    """What must be known of a model to tell what it can be asked."""

    @property
    def name(self) -> str: ...
    @property
    def answers(self) -> Collection[type[Question]]: ...
    @property
    def missing(self) -> Mapping[type[Question], str]: ...


def require(card: Card[Any], model: Answering, made: object = None) -> None:
    """An error where the model cannot answer, with why and the methods of the same row that would work."""
    answers = model.answers
    needs = made.needs if isinstance(made, HasNeeds) else card.needs
    missing = [question for question in needs if question not in answers]
    if not missing:
        return
    asked = " and ".join(question.__name__ for question in missing)
    why = "; ".join(dict.fromkeys(model.missing[question] for question in missing if question in model.missing))
    if not why and set(answers) == {Predict}:
        why = "a function or a pipeline gives predictions only"
    row = card.row if isinstance(card, MethodCard) else None
    others = {name: other for name, other in methods().items() if other.row == row and name != card.name}
    fit = [name for name, other in others.items() if set(other.needs) <= set(answers)]
    hint = f" Methods of the same kind that work: {', '.join(fit)}." if fit else ""
    if row is not None and not fit:
        hint = " No method of its kind works with such a model; they work with Hugging Face classifiers."
    hint += f" {made.otherwise}" if isinstance(made, HasNeeds) else ""
    because = f": {why}." if why else "."
    raise Unanswerable(f"{card.name} asks for {asked}, which the model {model.name} cannot answer{because}{hint}")


def explaining(card: MethodCard, method: Method) -> Explains[Any]:
    """The method, where it explains single texts; else an error that says which verb to call."""
    if isinstance(method, Explains):
        return method
    call = f"call assay.describe(model, sample, {card.name!r}), or `assay describe --file F --method {card.name}`"
    raise BadInput(f"{card.name} describes a whole sample, not single texts; {call}.")


def describing(card: MethodCard, method: Method) -> Describes[Any]:
    """The method, where it describes a sample; else an error that says which verb to call."""
    if isinstance(method, Describes):
        return method
    call = f"call assay.explain(model, texts, {card.name!r}), or `assay explain TEXT --method {card.name}`"
    raise BadInput(f"{card.name} explains single texts, not a whole sample; {call}.")


def planned() -> list[Cell]:
    """Cells of the survey's table that are not built yet."""
    return [cell for cell in TABLE if cell.name not in methods()]


def _import_all(package: ModuleType) -> None:
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        import_module(module.name)

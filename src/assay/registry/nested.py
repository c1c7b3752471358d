"""A method as the parameter of another: by name, by name and parameters, or as the object.

    of=lime        of=lime:samples=200        of=lime:samples=200,eraser=mask

The parameters after the colon are separated by commas; a comma that no `name=` follows belongs to the value.
"""

from __future__ import annotations

import re
from typing import ClassVar, Generic, TypeVar, cast

from assay.errors import BadInput
from assay.explanations.reading import Explains
from assay.explanations.text_explanation import TextExplanation
from assay.questions.base import Question
from assay.questions.predict import Predict
from assay.registry.cards import MethodCard
from assay.registry.finding import explaining, find_method, resolve_method
from assay.registry.protocols import HasNeeds

E = TypeVar("E", bound=TextExplanation)
_BETWEEN = re.compile(r",(?=\s*\w+\s*=)")


def nested_method(given: str | Explains[E], returns: type[E]) -> tuple[MethodCard, Explains[E]]:
    """The card and the method; an error where it is none, or one that returns another kind of explanation."""
    if isinstance(given, str):
        name, _, settings = given.partition(":")
        card = find_method(name.strip())
        made = card.make(dict(_setting(one, given) for one in _BETWEEN.split(settings) if one.strip()))
    else:
        card, made = resolve_method(given)
    if not issubclass(card.returns, returns):
        raise BadInput(f"{card.name} returns {card.returns.kind}; a method that returns {returns.kind} is needed here.")
    return card, explaining(card, made)


class ThroughAnother(Generic[E]):
    """A method that works through another one: its parameter `of`, which returns explanations of the kind `inner`."""

    of: str | Explains[E]
    inner: ClassVar[type[TextExplanation]]

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", self._inner[1])

    @property
    def needs(self) -> tuple[type[Question], ...]:
        """What the other method asks, and what the model says to texts."""
        return needs_of(*self._inner)

    @property
    def otherwise(self) -> str:
        return "Choose another method by `of`."

    @property
    def _inner(self) -> tuple[MethodCard, Explains[E]]:
        return nested_method(self.of, cast("type[E]", self.inner))


def needs_of(card: MethodCard, made: object) -> tuple[type[Question], ...]:
    """What is asked by a method that works through another one: the prediction, and all that the other one asks."""
    needs = made.needs if isinstance(made, HasNeeds) else card.needs
    return (Predict, *(question for question in needs if question is not Predict))


def _setting(one: str, given: str) -> tuple[str, str]:
    name, equals, value = one.partition("=")
    if not equals or not name.strip():
        raise BadInput(f"a method with parameters is written name:key=value,key=value, not {given!r}.")
    return name.strip(), value.strip()

"""-p key=value and -p name.key=value: each parameter to whom it belongs.

A key without a name goes to every method that has it; if none has, to every check that has it. So a method and a check
do not come to erase words in the same way unless one asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assay.errors import BadInput, UnknownName
from assay.registry.cards import Card

Given = dict[str, dict[str, str]]


def made(
    methods: Sequence[Card[Any]], checks: Sequence[Card[Any]], settings: Iterable[str]
) -> tuple[list[Any], list[Any]]:
    """The methods and checks themselves, with their parameters."""
    given: Given = {card.name: {} for card in (*methods, *checks)}
    for setting in settings:
        key, value = _split(setting)
        for card in _owners(key, methods, checks):
            given[card.name][key.rpartition(".")[2]] = value
    return _each(methods, given), _each(checks, given)


def _each(cards: Sequence[Card[Any]], given: Mapping[str, Mapping[str, str]]) -> list[Any]:
    return [card.make(given[card.name]) for card in cards]


def _split(setting: str) -> tuple[str, str]:
    key, equals, value = setting.partition("=")
    if not equals or not key.strip():
        raise BadInput(f"a parameter is written key=value, not {setting!r}.")
    return key.strip(), value


def _owners(key: str, methods: Sequence[Card[Any]], checks: Sequence[Card[Any]]) -> list[Card[Any]]:
    name, dot, key = key.rpartition(".")
    if dot:
        return _named(name, [*methods, *checks])
    owners = [card for card in methods if key in card.parameters] or [card for card in checks if key in card.parameters]
    if not owners:
        known = {name for card in (*methods, *checks) for name in card.parameters}
        chosen = ", ".join(card.name for card in (*methods, *checks))
        raise UnknownName.of(f"parameter of {chosen}", key, known)
    return owners


def _named(name: str, cards: Sequence[Card[Any]]) -> list[Card[Any]]:
    """The one that the prefix names; whether it has the key, it says itself."""
    owners = [card for card in cards if card.name == name]
    if not owners:
        raise UnknownName.of("method or check of this command", name, (card.name for card in cards))
    return owners

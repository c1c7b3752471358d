"""The program's commands as Typer lists them, less the type that it writes beside the option --help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

# What most people want first; help lists the panels in the order of their first commands.
_ORDER = (
    *("explain", "trust", "check", "describe", "audit", "audit-attention"),
    *("run", "status", "report", "query", "people", "study"),
    *("mend", "mend-labels", "index", "train-editor"),
    *("methods", "checks", "models"),
)


class Command(TyperCommand):
    """One command."""

    def get_help_option(self, ctx: Any) -> Any:
        return _untyped(super().get_help_option(ctx))


class Commands(TyperGroup):
    """The commands together, those that are wanted most first."""

    def list_commands(self, ctx: Any) -> list[str]:
        places = {name: i for i, name in enumerate(_ORDER)}
        return sorted(super().list_commands(ctx), key=lambda name: places.get(name, len(_ORDER)))

    def get_help_option(self, ctx: Any) -> Any:
        return _untyped(super().get_help_option(ctx))


class App(typer.Typer):
    """A program, or a part of one."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**{"cls": Commands, **how})

    def command(self, name: str | None = None, **how: Any) -> Callable[[Any], Any]:
        return super().command(name, **{"cls": Command, **how})


def _untyped(option: Any) -> Any:
    if option is not None:
        option.metavar = ""
    return option

"""The program's commands as Typer lists them, less the type that it writes beside the option --help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


class Command(TyperCommand):
    """One command."""

    def get_help_option(self, ctx: Any) -> Any:
        return _untyped(super().get_help_option(ctx))


class Commands(TyperGroup):
    """The commands together."""

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

"""Of several checks those that cannot be asked: the others are, and it is said which and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from assay.errors import AssayError, BadInput
from assay.statistics.verdict import Verdict


@dataclass(frozen=True)
class LeftOut:
    """A check that there is no verdict of."""

    method: str
    check: str
    error: AssayError

    def __str__(self) -> str:
        return f"no verdict of {self.check}{f' on {self.method}' if self.method else ''}: {self.error}"


Attempt: TypeAlias = Callable[[], "tuple[Verdict, ...] | LeftOut"]  # of a check, on one method or on several


def all_that_can(attempts: Iterable[Attempt]) -> tuple[tuple[Verdict, ...], tuple[LeftOut, ...]]:
    """The verdicts and what has none; an error where nothing has."""
    found = [attempt() for attempt in attempts]
    left_out = tuple(one for one in found if isinstance(one, LeftOut))
    if len(left_out) == 1 == len(found):
        raise left_out[0].error
    if len(left_out) == len(found):
        raise BadInput(f"none of these checks can be asked. {' '.join(map(_sentence, left_out))}")
    return tuple(verdict for one in found if not isinstance(one, LeftOut) for verdict in one), left_out


def _sentence(one: LeftOut) -> str:
    said = str(one)
    return f"{said[0].upper()}{said[1:].rstrip('.')}."

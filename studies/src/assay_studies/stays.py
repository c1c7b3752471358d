"""What a page still has of an earlier run, as a fact of that run: tables, and of some only these lines.

table_2; figure_3 (SST, cnn | SST, lstm | IMDb, cnn)        as it is kept
table_2; figure_3 (SST: 2 lines, IMDb, cnn)                 as a page shows it
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

Stays: TypeAlias = Mapping[str, tuple[str, ...]]  # the lines of each table; none: all of it
STAYS, OWN = "Of it stay", "Of this run"  # the names of the facts: of an earlier run, and of the last one
_NEXT = re.compile(r"; (?=[\w-]+(?: \(|; |$))")  # lines may have a semicolon too
_LINE, _TABLE = " | ", "; "


def written(stays: Stays) -> str:
    return _TABLE.join(f"{name} ({_LINE.join(lines)})" if lines else name for name, lines in stays.items())


def read(text: str) -> Stays:
    items = (one.partition(" (") for one in _NEXT.split(text))
    return {name: tuple(lines.removesuffix(")").split(_LINE)) if lines else () for name, _, lines in items if name}


def still(before: Stays, now: Stays) -> Stays:
    """What is left of a run that stayed so far, after a run that leaves `now` of all earlier ones."""
    found = {name: _both(lines, now[name]) for name, lines in before.items() if name in now}
    return {name: lines for name, lines in found.items() if lines is not None}


def _both(some: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...] | None:
    """The lines of both, none of them for all; None where they have none in common."""
    if not some or not others:
        return some or others
    listed = some[0] if len(some) == 1 else ""  # lines were once kept as one, with commas
    return tuple(line for line in others if line in some or line in listed) or None


def shown(text: str) -> str:
    """Tables of which the same lines stay together, and several lines that begin alike as their number."""
    if _LINE not in text:
        return text
    tables: dict[tuple[str, ...], list[str]] = {}
    for name, lines in read(text).items():
        tables.setdefault(lines, []).append(name)
    return _TABLE.join(
        ", ".join(names) + (f" ({', '.join(_counted(lines))})" if lines else "") for lines, names in tables.items()
    )


def _counted(lines: tuple[str, ...]) -> list[str]:
    groups: dict[str, list[str]] = {}
    for line in lines:
        groups.setdefault(line.partition(", ")[0], []).append(line)
    return [own[0] if len(own) == 1 else f"{head}: {len(own)} lines" for head, own in groups.items()]

"""Names of labels that differ: a label is found by its name, and predictions are kept by name.

Where a model calls two labels alike, their numbers come behind the name: "x (0)", "x (2)". Explanations then warn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple


class LabelNames(NamedTuple):
    """What the labels are called here, and what a reader must know of that."""

    names: tuple[str, ...]
    warnings: tuple[str, ...] = ()


def distinct(given: Sequence[str]) -> LabelNames:
    """The names as they are; those that several labels share with the number of the label behind them."""
    shared = {name for name, count in Counter(given).items() if count > 1}
    taken, names = set(given), list(given)
    for i, name in enumerate(given):
        if name in shared:
            names[i] = _free(f"{name} ({i})", taken)
            taken.add(names[i])
    return LabelNames(tuple(names), tuple(_warning(name, given, names) for name in sorted(shared)))


def _free(name: str, taken: set[str]) -> str:
    """The name, or with as many primes as it takes to be no other label's."""
    return name if name not in taken else _free(f"{name}'", taken)


def _warning(name: str, given: Sequence[str], names: Sequence[str]) -> str:
    here = ", ".join(repr(new) for old, new in zip(given, names, strict=True) if old == name)
    return f"the model has {given.count(name)} labels that are called {name!r}; here they are {here}."

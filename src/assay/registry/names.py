"""The name under which a method or a check is known.

It is the name of its file, or the one given to the decorator as `name=`. What is defined in a script or a notebook has
no file of its own: there it is the name of the class, FirstWord as first_word. Defined again under the same name, as
when a cell is run again, it replaces what was there; the names that come with Assay stay as they are.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module

from assay.errors import BadInput

_INTERACTIVE = ("__main__", "builtins")  # the latter is what exec() without a name gives
_OURS = "assay."
_NAMES: dict[type, str] = {}


def register_name(cls: type, given: str | None, group: str, known: Mapping[str, type]) -> str:
    """The name for a class of the group (`methods` or `checks`), or an error where it cannot be registered."""
    one = group.removesuffix("s")
    name = _chosen(cls, given)
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise BadInput(f"a {one} is named in small letters, digits and underscores, not {name!r}; say name='...'.")
    if not is_dataclass(cls):
        raise BadInput(
            f"{cls.__name__} is no dataclass: write @{one}(...) above @dataclass(frozen=True, kw_only=True)."
        )
    _require_free(cls, name, one, known.get(name), name in _bundled(group))
    _NAMES[cls] = name
    return name


def _require_free(cls: type, name: str, one: str, before: type | None, bundled: bool) -> None:
    if cls.__module__.startswith(_OURS):
        return
    if bundled:
        raise BadInput(f"a {one} called {name} comes with Assay; choose another: @{one}(name='my_{name}', ...).")
    if before is not None and before.__module__ != cls.__module__ and not is_interactive(cls):
        raise BadInput(
            f"a {one} called {name} is registered already, by {before.__module__}; give that of {cls.__module__} "
            "another name."
        )


def name_of(cls: type) -> str:
    """The name that a class is registered under, or would be."""
    return _NAMES.get(cls) or _chosen(cls, None)


def is_interactive(cls: type) -> bool:
    """Whether it is defined in a script or a notebook."""
    return cls.__module__ in _INTERACTIVE


def _chosen(cls: type, given: str | None) -> str:
    if given is not None:
        return given
    if is_interactive(cls):
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", cls.__name__).lower().strip("_")
    return cls.__module__.rpartition(".")[2]


@cache
def _bundled(group: str) -> frozenset[str]:
    """The names of our own files of a group; none of them is imported for that."""
    package = import_module(f"{_OURS}{group}")
    return frozenset(
        found.name.rpartition(".")[2] for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    )

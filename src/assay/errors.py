"""Everything that can go wrong, and what to do about it.

    AssayError
    ├── BadInput            what the user gave cannot be used
    │   ├── BadText         a text that cannot be read (lone surrogate, not a string)
    │   ├── EmptyText       a text without a word to explain
    │   ├── UnknownName     no such method, check, label, parameter or column
    │   └── BadFile         a file that is missing or cannot be read
    ├── ModelNotLoaded      a model that cannot be found or opened
    ├── Unanswerable        the model cannot answer what a method asks
    ├── NonFiniteAnswer     the model answered NaN or infinity
    ├── ModelFailed         the model raised an error of its own
    ├── BadAnswer           the model answered in a shape nobody can read
    ├── OutOfMemory         one single row does not fit
    └── Stopped             a run that ended part-way and can be resumed
        └── Interrupted     the same by Ctrl-C

Each message is one sentence or two that a stranger can act on.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class AssayError(Exception):
    """The root of all errors that Assay raises on purpose."""


class BadInput(AssayError):
    """What the user gave cannot be used."""


class BadText(BadInput):
    """A text that cannot be read."""


class EmptyText(BadInput):
    """A text without a word to explain."""


class UnknownName(BadInput):
    """No such method, check, label, parameter or column."""

    @classmethod
    def of(cls, kind: str, name: object, known: Iterable[str]) -> UnknownName:
        """An error that names what exists, nearest first."""
        names = sorted(known)
        near = get_close_matches(str(name), names, n=1, cutoff=0.6)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(names) or 'none'}."
        return cls(f"no {kind} is called {name!r}; {hint}")


class BadFile(BadInput):
    """A file that is missing or cannot be read."""


class ModelNotLoaded(AssayError):
    """A model that cannot be found or opened."""


class Unanswerable(AssayError):
    """The model cannot answer what a method asks."""


class NonFiniteAnswer(AssayError):
    """The model answered NaN or infinity: no score is made of it."""


class ModelFailed(AssayError):
    """The model raised an error of its own; it is the cause of this one."""


class BadAnswer(AssayError):
    """The model answered in a shape nobody can read."""


class OutOfMemory(AssayError):
    """One single row does not fit into memory."""


class Stopped(AssayError):
    """A run that ended part-way; what it made is kept, and the same command goes on from there."""


class Interrupted(Stopped):
    """A run that its user stopped by Ctrl-C."""

"""A Python object by the name of its module and its own: module:attribute."""

from __future__ import annotations

import sys
from importlib import import_module
from os import getcwd
from typing import Any

from assay.errors import ModelNotLoaded


def attribute(name: str) -> Any:
    """The Python object that module:attribute names; modules of the working directory count."""
    module, _, attribute = name.partition(":")
    if getcwd() not in sys.path:
        sys.path.insert(0, getcwd())
    try:
        return getattr(import_module(module), attribute)
    except Exception as error:  # whatever the user's own module raises
        raise ModelNotLoaded(f"{name} cannot be imported: {type(error).__name__}: {error}.") from error

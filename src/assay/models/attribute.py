"""A Python object by the name of its module and its own: module:attribute."""

from __future__ import annotations

import sys
from importlib import import_module
from os import getcwd
from pathlib import Path
from typing import Any

from assay.errors import ModelNotLoaded


def as_module(name: str) -> str | None:
    """What to say of a name that is a module of the working directory, without an object in it."""
    path = Path(name.removesuffix(".py"))
    if not (path.name and path.with_name(f"{path.name}.py").is_file() and all(map(str.isidentifier, path.parts))):
        return None
    return f"{path}.py holds Python objects; name the one that is the model, such as {'.'.join(path.parts)}:model."


def attribute(name: str) -> Any:
    """The Python object that module:attribute names; modules of the working directory count."""
    module, _, attribute = name.partition(":")
    if getcwd() not in sys.path:
        sys.path.insert(0, getcwd())
    try:
        return getattr(import_module(module), attribute)
    except SystemExit as error:
        raise ModelNotLoaded(
            f"{name} cannot be imported: {module} is a program that ends (exit code {error.code}); put what it runs "
            'under if __name__ == "__main__".'
        ) from error
    except Exception as error:  # whatever the user's own module raises
        raise ModelNotLoaded(f"{name} cannot be imported: {type(error).__name__}: {error}.") from error

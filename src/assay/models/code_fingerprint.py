"""What a Python object computes, as digests of its parts: the code of its functions and the data that they reach.

A function pickles as its name alone, so an edited one would look unchanged. Here it is its bytecode (comments do not
count), its defaults, the variables it encloses, the globals it reads, and the same of every function of the user's own
that it reaches. Objects (a fitted estimator, a dictionary of weights, a network) are digested by value, as joblib does.
Code of installed packages counts by its name: their versions stand beside the fingerprint where one is kept.
"""

from __future__ import annotations

import dis
import os
import sys
import sysconfig
from collections.abc import Iterator
from functools import partial
from hashlib import blake2b
from inspect import unwrap
from pickle import PicklingError
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from joblib.hashing import NumpyHasher

_LOADS, _FOLLOWS = ("LOAD_GLOBAL", "LOAD_NAME"), ("LOAD_ATTR", "LOAD_METHOD")
_NOT_SAVED = (PicklingError, TypeError, AttributeError, ValueError, RecursionError, NotImplementedError, RuntimeError)
_PLACES = ("stdlib", "platstdlib", "purelib", "platlib")
_INSTALLED = tuple({os.path.realpath(sysconfig.get_path(name)) + os.sep for name in _PLACES})


def code_parts(source: Any) -> dict[str, str]:
    """The digest of every part of the object that decides what it computes, by the name of the part."""
    walk = _Walk(_package(source))
    walk.value("model", source)
    return walk.parts


def _package(source: Any) -> str:
    function = source.func if isinstance(source, partial) else source
    module = getattr(function, "__module__", None) or type(function).__module__
    return str(module).partition(".")[0]


class _Walk:
    """Goes from an object to all that it reaches; each function and class is visited once."""

    def __init__(self, package: str) -> None:
        self.package, self.parts = package, dict[str, str]()
        self.seen = set[int]()

    def value(self, name: str, value: Any) -> None:
        """Any object under the name that reached it."""
        if isinstance(value, MethodType):
            self.value(f"{name}.func", value.__func__)
            self.value(f"{name}.self", value.__self__)
        elif isinstance(value, partial):
            self.value(f"{name}.func", value.func)
            self.value(f"{name}.given", (value.args, value.keywords))
        elif isinstance(function := _unwrapped(value), FunctionType):
            self.function(function)
        elif isinstance(value, type):
            self.kind(value)
        elif isinstance(value, ModuleType):
            self.parts[name] = value.__name__
        else:
            self.kind(type(value))
            self.state(name, value)

    def function(self, function: FunctionType) -> None:
        name = f"{function.__module__}.{function.__qualname__}"
        if id(function) in self.seen:
            return
        self.seen.add(id(function))
        if not self._is_own(function.__module__):
            self.parts[name] = "installed"
            return
        name = name if name not in self.parts else f"{name}#{len(self.seen)}"  # lambdas share a name
        self.parts[name] = _digest(_code(function.__code__, function.__doc__))
        for inner, value in _reached(function):
            self.value(f"{name}:{inner}", value)

    def kind(self, kind: type) -> None:
        """The methods and attributes of a class, where it is the user's own."""
        if id(kind) in self.seen or not self._is_own(kind.__module__):
            return
        self.seen.add(id(kind))
        for base in kind.__bases__:
            self.kind(base)
        for name, value in sorted(vars(kind).items()):
            for inner in _functions(value):
                self.function(inner)
            if not name.startswith("__") and not callable(value) and not hasattr(value, "__get__"):
                self.value(f"{kind.__module__}.{kind.__qualname__}.{name}", value)

    def state(self, name: str, value: Any, depth: int = 2) -> None:
        """Data by value; of what cannot be pickled, the attributes that can."""
        try:
            self.parts[name] = str(_Hasher(self).hash(value))
        except _NOT_SAVED:
            self.parts[name] = f"{type(value).__module__}.{type(value).__qualname__}"
            for inner, part in vars(value).items() if depth and hasattr(value, "__dict__") else ():
                self.state(f"{name}.{inner}", part, depth - 1)

    def _is_own(self, module: str | None) -> bool:
        """Whether a module is the user's: that of the model, or one that no package manager has put there."""
        if not module or module.partition(".")[0] == self.package:
            return True
        path = getattr(sys.modules.get(module), "__file__", None)
        if path is None or module.partition(".")[0] == __name__.partition(".")[0]:
            return module == "__main__"
        return not os.path.realpath(path).startswith(_INSTALLED)


class _Hasher(NumpyHasher):  # type: ignore[misc]
    """joblib's digest of a value, which sees into functions and tensors and does not depend on the order of sets."""

    def __init__(self, walk: _Walk) -> None:
        super().__init__(hash_name="sha1")
        self.walk = walk

    def save(self, obj: Any) -> None:
        if isinstance(obj, FunctionType) and self.walk._is_own(obj.__module__):
            self.walk.function(obj)
            obj = f"{obj.__module__}.{obj.__qualname__}"
        elif isinstance(obj, type):
            self.walk.kind(obj)
            obj = f"{obj.__module__}.{obj.__qualname__}"
        elif isinstance(obj, set | frozenset):
            obj = ("set", sorted(map(repr, obj)))
        elif callable(getattr(obj, "state_dict", None)):  # a network: its hooks and caches do not count
            obj = (type(obj).__qualname__, str(getattr(obj, "config", "")), dict(obj.state_dict()))
        elif callable(getattr(obj, "detach", None)) and hasattr(obj, "untyped_storage"):
            obj = ("tensor", str(obj.dtype), obj.detach().cpu().float().numpy())
        super().save(obj)

    def _batch_setitems(self, items: Any, *more: Any) -> None:
        ordered = sorted(items, key=lambda item: repr(item[0]))
        super(NumpyHasher.__mro__[1], self)._batch_setitems(iter(ordered), *more)  # past joblib's own order


def _unwrapped(value: Any) -> Any:
    """The function that a cache or another decorator has wrapped; the wrapper is called, but it has no code of ours."""
    return value if isinstance(value, FunctionType) or not hasattr(value, "__wrapped__") else unwrap(value)


def _functions(value: Any) -> Iterator[FunctionType]:
    """The functions behind an attribute of a class."""
    held = (value, getattr(value, "__func__", None), *(getattr(value, name, None) for name in ("fget", "func")))
    yield from (found for one in held if isinstance(found := _unwrapped(one), FunctionType))


def _reached(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What the function reads from outside of its arguments."""
    if function.__defaults__ or function.__kwdefaults__:
        yield "defaults", (function.__defaults__, function.__kwdefaults__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not filled yet
            continue
    if wrapped := getattr(function, "__wrapped__", None):
        yield "wrapped", wrapped
    yield from _globals(function.__code__, function.__globals__)


def _globals(code: CodeType, known: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The globals that the code reads, through modules to what it takes of them; not those that it sets itself."""
    steps = list(dis.get_instructions(code))
    own = {step.argval for step in steps if step.opname == "STORE_GLOBAL"}
    for i, step in enumerate(steps):
        if step.opname in _LOADS and step.argval in known and step.argval not in own:
            yield _followed(step.argval, known[step.argval], steps[i + 1 :])
        elif step.opname == "IMPORT_FROM" and (found := _imported(steps[:i], step.argval)) is not None:
            yield f"import {step.argval}", found
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _globals(inner, known)


def _followed(name: str, value: Any, steps: list[dis.Instruction]) -> tuple[str, Any]:
    """Of `module.sub.function`, the function."""
    for step in steps:
        if not isinstance(value, ModuleType) or step.opname not in _FOLLOWS or not hasattr(value, step.argval):
            break
        name, value = f"{name}.{step.argval}", getattr(value, step.argval)
    return name, value


def _imported(before: list[dis.Instruction], name: str) -> Any:
    """What `from module import name` within a function gives, where the module is loaded."""
    modules = [step.argval for step in before if step.opname == "IMPORT_NAME"]
    module = sys.modules.get(modules[-1]) if modules else None
    return getattr(module, name, None)


def _code(code: CodeType, doc: str | None = None) -> tuple[Any, ...]:
    """What a code object does; neither where it stands, nor what is said about it."""
    constants = [_constant(value) for value in code.co_consts if doc is None or value != doc]
    flags = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    table = getattr(code, "co_exceptiontable", b"")
    return (code.co_code, table, flags, code.co_names, code.co_varnames, code.co_freevars, constants)


def _constant(value: Any) -> Any:
    if isinstance(value, CodeType):
        return _code(value)
    return sorted(map(repr, value)) if isinstance(value, frozenset) else value


def _digest(value: Any) -> str:
    return blake2b(repr(value).encode(errors="surrogatepass"), digest_size=16).hexdigest()

"""Parameters of methods and checks: read from strings, and written as plain data."""

from __future__ import annotations

from dataclasses import fields
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin

from assay.errors import BadInput, UnknownName
from assay.explanations.reading import Explains
from assay.questions.erasers import Eraser, eraser
from assay.text.corpus import Corpus
from assay.text.gradient_index import GradientIndex
from assay.text.training_set import TrainingSet


def plain(value: Any) -> Any:
    """A parameter as JSON can hold it; of anything else, such as an eraser or a collection of highlights, its name."""
    if value is None or isinstance(value, str | int | float | list | dict):
        return value
    # These stay what they are, so that explanations know to write them short.
    if isinstance(value, TrainingSet | GradientIndex) or (isinstance(value, Corpus) and value):
        return value
    if isinstance(value, Explains):
        return method_string(value)
    return list(value) if isinstance(value, tuple) else str(value)


def method_string(method: Explains[Any]) -> str:
    """A method that is the parameter of another, as a string: its name, and what is not as usual of its parameters."""
    usual = {f.name: plain(f.default) for f in fields(method)}  # type: ignore[arg-type]
    unusual = {name: value for name, value in parameters(method).items() if value != usual[name]}
    settings = ",".join(f"{name}={_joined(value)}" for name, value in unusual.items())
    name = type(method).__module__.rpartition(".")[2]
    return f"{name}:{settings}" if settings else name


def _joined(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def parameters(thing: Any) -> dict[str, Any]:
    """The parameters of a method or check, as `make` takes them."""
    return {f.name: plain(getattr(thing, f.name)) for f in fields(thing) if f.init}


def written(thing: Any) -> dict[str, Any]:
    """The parameters as JSON holds them: of a training set its size and digest, of an index its place."""
    given = parameters(thing).items()
    return {name: str(value) if isinstance(value, TrainingSet | GradientIndex) else value for name, value in given}


def _read(name: str, value: Any, hint: Any) -> Any:
    """A value of the hinted type, from that type or from a string."""
    if isinstance(hint, UnionType):
        kind = next(arg for arg in get_args(hint) if arg is not NoneType)
        return (
            None
            if value is None or (isinstance(value, str) and value in ("none", "None"))
            else _read(name, value, kind)
        )
    if isinstance(hint, type) and issubclass(hint, Eraser):
        return eraser(value)
    if hint is Corpus:
        return Corpus.of(value)
    if hint in (TrainingSet, GradientIndex):
        return hint.of(value)
    if get_origin(hint) is Literal:
        if value not in get_args(hint):
            raise UnknownName.of(f"value of {name}", value, map(str, get_args(hint)))
        return value
    if get_origin(hint) is tuple:
        parts = value.split(",") if isinstance(value, str) else value
        return tuple(_read(name, part, get_args(hint)[0]) for part in parts)
    return _number(name, value, hint) if hint in (int, float, bool) else value


def _number(name: str, value: Any, hint: type) -> Any:
    try:
        if hint is bool:
            return {"true": True, "false": False, "1": True, "0": False}[str(value).lower()]
        return hint(value)
    except (ValueError, KeyError):
        raise BadInput(f"{name} must be of type {hint.__name__}, not {value!r}.") from None

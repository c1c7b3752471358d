"""--train F and --index DIR: what a model was trained on, for the methods of a command that search it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.errors import BadInput
from assay.registry.finding import methods as all_methods
from assay.registry.finding import resolve_method
from assay.registry.parameters import parameters
from assay.text.gradient_index import GradientIndex
from assay.text.training_set import TrainingSet

_TRAIN, _INDEX = "train", "index"


def with_training_set(methods: Sequence[Any], given: Mapping[str, Any]) -> list[Any]:
    """The same methods, those that take a training set with that of the file; the columns are those of the command."""
    _require_any(methods, _TRAIN)
    columns = {"text": given.get("column"), "pair": given.get("pair_column"), "label": given.get("label_column")}
    return [_with(one, _TRAIN, TrainingSet.of(given[_TRAIN], **columns)) for one in methods]


def with_index(methods: Sequence[Any], place: Path) -> list[Any]:
    """The same methods, those that take an index with this one."""
    _require_any(methods, _INDEX)
    return [_with(one, _INDEX, GradientIndex(place)) for one in methods]


def _require_any(methods: Sequence[Any], option: str) -> None:
    if not any(option in resolve_method(one)[0].parameters for one in methods):
        able = ", ".join(name for name, card in all_methods().items() if option in card.parameters)
        what = "search a training set" if option == _TRAIN else "read an index"
        raise BadInput(f"--{option} is for methods that {what}: {able}.")


def _with(method: Any, option: str, value: Any) -> Any:
    card, made = resolve_method(method)
    return card.make({**parameters(made), option: value}) if option in card.parameters else made

"""--train F: the labelled texts that a model was trained on, for the methods of a command that search them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.errors import BadInput
from assay.registry.finding import methods as all_methods
from assay.registry.finding import resolve_method
from assay.registry.parameters import parameters
from assay.text.training_set import TrainingSet

_TRAIN = "train"


def with_training_set(methods: Sequence[Any], given: Mapping[str, Any]) -> list[Any]:
    """The same methods, those that take a training set with that of the file; the columns are those of the command."""
    if not any(_TRAIN in resolve_method(one)[0].parameters for one in methods):
        able = ", ".join(name for name, card in all_methods().items() if _TRAIN in card.parameters)
        raise BadInput(f"--train is for methods that search a training set: {able}.")
    columns = {"text": given.get("column"), "pair": given.get("pair_column"), "label": given.get("label_column")}
    train = TrainingSet.of(given[_TRAIN], **columns)
    return [_with(one, train) for one in methods]


def _with(method: Any, train: TrainingSet) -> Any:
    card, made = resolve_method(method)
    return card.make({**parameters(made), _TRAIN: train}) if _TRAIN in card.parameters else made

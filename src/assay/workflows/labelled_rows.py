"""Labelled texts as a model reads them: every label by the model's own name, or an error that says which row is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from assay.errors import BadInput, EmptyText, UnknownName
from assay.models import TextModel
from assay.text.labelled import LabelledTexts
from assay.text.text import Text
from assay.verbs import label_index


def labelled_rows(name: str, rows: Any, model: TextModel) -> tuple[LabelledTexts, bool]:
    """The texts by the model's own names for their labels, and whether labels were given as numbers."""
    given = LabelledTexts.of(rows, name)
    labels = [_label(model, label, f"row {i} of {name}") for i, label in enumerate(given.labels, start=1)]
    return replace(given, labels=labels), set(given.labels) != set(labels)


def require_words(data: LabelledTexts, names: Sequence[str], focus: Sequence[str] | None) -> None:
    """An error that says which text has no word, or is not of the kind of the others."""
    for i, (text, strings) in enumerate(zip(data.texts, data.strings, strict=True), start=1):
        if len(strings) != len(data.strings[0]):
            raise BadInput(f"row {i} of {data.name}: the texts must all be single strings, or all be pairs.")
        try:
            Text.of(text, names=names, focus=focus).require_words()
        except EmptyText as error:
            raise EmptyText(f"row {i} of {data.name}: {error}") from None


def numbers_read(model: TextModel) -> str:
    """The warning where labels were given as numbers."""
    named = ", ".join(f"{i} is {label}" for i, label in enumerate(model.labels))
    return f"labels were given as numbers and read as the model counts them: {named}."


def _label(model: TextModel, label: str, where: str) -> str:
    """The model's own name; what a model that answers freely should answer is anything."""
    if model.target is not None:
        return label
    try:
        return model.labels[label_index(model, label)]
    except UnknownName as error:
        raise UnknownName(f"{where}: {error}") from None

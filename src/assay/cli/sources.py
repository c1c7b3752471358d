"""The texts of a command: from its arguments, from stdin, or from a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from assay.cli.files import column_of, lines
from assay.cli.options import Source
from assay.errors import BadInput


def read(source: Source) -> list[Any]:
    """Texts, or pairs of texts, as the verbs take them."""
    _require_one(source)
    found = _from_file(source) if source.file else _paired(list(_from_arguments(source.texts)), source.pair)
    if not found:
        raise BadInput("there is no text to read on stdin.")
    return found[: source.limit]


def require_fields(fields: Sequence[str], texts: Sequence[Any], model: str) -> None:
    """A model of pairs needs both texts: without the second it would answer another question."""
    if len(fields) == 2 and any(isinstance(text, str) for text in texts):
        raise BadInput(f"the model {model} reads pairs ({', '.join(fields)}); give the second text by --pair.")


def _require_one(source: Source) -> None:
    if source.file and source.texts:
        raise BadInput("give texts or --file, not both.")
    if not source.file and not source.texts:
        raise BadInput("give a text, - for stdin, or --file.")
    if not source.file and (source.column or source.pair_column):
        raise BadInput("--column and --pair-column belong to --file.")
    if source.pair is not None and source.pair_column:
        raise BadInput("give --pair or --pair-column, not both.")


def _from_file(source: Source) -> list[Any]:
    assert source.file is not None
    return _paired(column_of(source.file, source.column, source.pair_column), source.pair)


def _from_arguments(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        if text == "-":
            yield from lines(sys.stdin.buffer.read(), "stdin")
        else:
            yield text


def _paired(texts: list[Any], second: str | None) -> list[Any]:
    return texts if second is None else [(text, second) for text in texts]

"""The texts of a command: from its arguments, from stdin, or from a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from assay.errors import BadFile, BadInput
from assay.request import TextSource
from assay.text.reading import STDIN
from assay.text.sample import Sample


def read(source: TextSource) -> list[Any]:
    """Texts, or pairs of texts, as the verbs take them."""
    return list(sample_of(source).texts)


def sample_of(source: TextSource) -> Sample:
    """The rows, at least one."""
    _require_one(source)
    found = _from_file(source) if source.file else _from_arguments(source.texts)
    chosen = found if source.limit is None else found.head(source.limit)
    return chosen if source.pair is None else chosen.with_texts([(str(text), source.pair) for text in chosen.texts])


def none_given(source: TextSource) -> bool:
    """Whether there are neither texts nor a file, so that only the model itself can be described."""
    return not source.file and not source.texts


def require_fields(fields: Sequence[str], texts: Iterable[Any], model: str) -> None:
    """A model of pairs needs both texts: without the second it would answer another question."""
    if len(fields) == 2 and any(isinstance(text, str) for text in texts):
        raise BadInput(f"the model {model} reads pairs ({', '.join(fields)}); give the second text by --pair.")


def _require_one(source: TextSource) -> None:
    if source.file and source.texts:
        raise BadInput("give texts or --file, not both.")
    if none_given(source):
        raise BadInput("give a text, - for stdin, or --file.")
    if not source.file and (source.column or source.pair_column):
        raise BadInput("--column and --pair-column belong to --file.")
    if source.pair is not None and source.pair_column:
        raise BadInput("give --pair or --pair-column, not both.")


def _from_file(source: TextSource) -> Sample:
    found = Sample.of(source.file, text=source.column, pair=source.pair_column, label=source.label_column)
    if not found:
        raise BadFile(f"{source.file} holds no texts.")
    return found


def _from_arguments(given: Sequence[str]) -> Sample:
    """The texts themselves, and for each - those of stdin, one a line."""
    for one in given:
        _require_no_file(one)
    texts = [text for one in given for text in (Sample.of(STDIN).texts if one == STDIN else [one])]
    return Sample.of(texts, name="the command line")


def _require_no_file(text: str) -> None:
    """The name of a file would be explained as a text of one word or two: nobody wants that."""
    try:
        is_file, is_folder = Path(text).is_file(), "/" in text and Path(text).is_dir()
    except (OSError, ValueError):  # too long for a name, or with a zero byte
        return
    if is_file:
        raise BadInput(f"{text} is a file; to read the texts in it, say --file {text}.")
    if is_folder:
        raise BadInput(f"{text} is a directory; to read texts, name a file in it by --file.")

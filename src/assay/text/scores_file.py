"""A file of scores that another tool made: a row for each text, or for each text and tool.

    {"text": "a fine film", "scores": [0.1, 0.7, 0.2]}
    {"text": "a fine film", "words": ["a", "fine", "film"], "scores": [0.1, 0.7, 0.2], "method": "mine"}
    {"text": "a fine film", "scores": [["fine", 0.7], ["film", 0.2]]}

Where `method` (or `name`) is missing, the file's name stands for it. Lines of `assay explain --json` are such rows too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import AssayError, BadFile
from assay.text.columns import require_column
from assay.text.tables import named
from assay.text.text import TextLike

_SCORES, _WORDS, _NAMES = "scores", ("words", "tokens"), ("method", "name")


@dataclass(frozen=True)
class ScoresFile:
    """The texts, and by name the scores of each of them."""

    texts: list[TextLike]
    scores: dict[str, list[dict[str, Any]]]

    @classmethod
    def read(cls, path: Path, text: str | None = None, pair: str | None = None) -> ScoresFile:
        """The file's rows; `text` and `pair` are the columns of the texts where they are not called `text`."""
        texts: dict[str, list[TextLike]] = {}
        scores: dict[str, list[dict[str, Any]]] = {}
        for i, record in enumerate(_records(path, text or "text", pair), start=1):
            where = f"row {i} of {path}"
            given = _text(record, text or "text", pair, where)
            name = _name(record) or path.name.partition(".")[0]
            texts.setdefault(name, []).append(given)
            scores.setdefault(name, []).append(_values(record, where))
        first, *others = texts
        for other in others:
            if texts[other] != texts[first]:
                raise BadFile(f"in {path} {other!r} and {first!r} score other texts, or the same in another order.")
        return cls(texts[first], scores)


def _records(path: Path, text: str, pair: str | None) -> list[Mapping[str, Any]]:
    table = named(str(path))
    known = table.columns()
    for column in (text, _SCORES, *([pair] if pair else [])):
        require_column(column, known, str(path))
    records = list(table.records(known))
    for i, record in enumerate(records, start=1):
        if isinstance(record, AssayError):
            raise BadFile(f"row {i} of {path}: {record}") from record
    return [record for record in records if not isinstance(record, AssayError)]


def _text(record: Mapping[str, Any], text: str, pair: str | None, where: str) -> TextLike:
    found = record.get(text)
    if isinstance(found, Mapping):
        return {str(name): str(string) for name, string in found.items()}
    strings = [record.get(column) for column in (text, pair) if column is not None]
    if not all(isinstance(string, str) for string in strings):
        raise BadFile(f"{where} has no text in the column {text!r}.")
    return str(strings[0]) if pair is None else (str(strings[0]), str(strings[1]))


def _name(record: Mapping[str, Any]) -> str | None:
    about = record.get("about")
    inner = about.get("method") if isinstance(about, Mapping) else None
    found = next((record[key] for key in _NAMES if record.get(key)), inner)
    return None if found is None else str(found)


def _values(record: Mapping[str, Any], where: str) -> dict[str, Any]:
    scores = record.get(_SCORES)
    if scores is None or isinstance(scores, str):
        raise BadFile(f"{where} has no list of numbers in the column {_SCORES!r}; use .jsonl or .parquet.")
    words = next((record[key] for key in _WORDS if record.get(key) is not None), None)
    return {_SCORES: list(scores)} | ({} if words is None else {"words": list(words)})

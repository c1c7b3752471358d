"""Small files of words: lists, pairs, and words with a score.

    words        a word a line; or JSON: a list of words, or of lists that begin with a word
    pairs        two words a line; or JSON: a list of pairs
    scores       .csv or .tsv with a header: a word and its score; or JSON: lists of a word, and last its score

The JSON forms are those of the word lists of Bolukbasi et al. (2016).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assay.data.files import FilePlace, lines, table
from assay.errors import BadFile
from assay.text.opening import opened


def words_of(path: str | Path) -> list[str]:
    """The words of a file, each once."""
    if _is_json(path):
        found = [row[0] if isinstance(row, list) and row else row for row in _json_list(path)]
    else:
        found = [line.strip() for _, line in lines(path)]
    return list(dict.fromkeys(_word(path, word) for word in found))


def pairs_of(path: str | Path) -> list[tuple[str, str]]:
    """The pairs of a file."""
    if _is_json(path):
        rows = [(FilePlace(path, 1), row) for row in _json_list(path)]
    else:
        rows = [(place, line.replace(",", " ").split()) for place, line in lines(path)]
    for place, row in rows:
        if not isinstance(row, list) or len(row) != 2:
            place.refuse(f"a pair is two words, not {row!r:.60}")
    return [(_word(path, a), _word(path, b)) for _, (a, b) in rows]


def scores_of(path: str | Path) -> dict[str, float]:
    """The score of each word of a file."""
    if _is_json(path):
        return {_word(path, row[0]): _number(FilePlace(path, 1), row[-1]) for row in _scored(path)}
    found = {}
    for record in table(path, tabs=Path(path).suffix == ".tsv"):
        word, *_, score = record.values.values()
        found[_word(path, word)] = _number(record.place, score)
    return found


def _scored(path: str | Path) -> list[list[Any]]:
    rows = _json_list(path)
    for row in rows:
        if not isinstance(row, list) or len(row) < 2:
            raise BadFile(f"{path}: a scored word is a list of a word and its score, not {row!r:.60}.")
    return rows


def _is_json(path: str | Path) -> bool:
    return Path(path).suffix == ".json"


def _json_list(path: str | Path) -> list[Any]:
    with opened(path) as file:
        try:
            found = json.load(file)
        except (ValueError, RecursionError) as error:
            raise BadFile(f"{path} is not JSON ({error}).") from error
    if not isinstance(found, list) or not found:
        raise BadFile(f"{path} must hold a list that is not empty.")
    return found


def _word(path: str | Path, word: object) -> str:
    """Words of several parts are written with underscores in the lists of word2vec."""
    if not isinstance(word, str) or not word.strip():
        raise BadFile(f"{path}: a word is a string that is not blank, not {word!r:.60}.")
    return word.strip().replace("_", " ")


def _number(place: FilePlace, value: object) -> float:
    try:
        number = float(str(value))
    except ValueError:
        place.refuse(f"a score is a number, not {value!r:.60}")
    if number != number or abs(number) == float("inf"):
        place.refuse(f"a score is a finite number, not {value!r:.60}")
    return number

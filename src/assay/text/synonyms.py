"""Files of words that may replace each other.

film movie picture                      a word, then its synonyms, separated by blanks, tabs or commas
{"film": ["movie", "picture"]}          a .json file, as lists of counter-fitted neighbours are published
00001740-n  n  ...  film|movie  ...     a .tsv file of synsets: the column whose cells are members, as of WordNet

Either may be packed (.xz, .gz). A word may come in several lines; of a synset each member may replace the others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from assay.errors import AssayError, BadInput
from assay.text.opening import opened

_BETWEEN = re.compile(r"[\s,;]+")
_SYNSET = re.compile(r"\d{4,}-[a-z]\t")  # what a line of a file of synsets begins with


def read_synonyms(path: str | Path) -> dict[str, frozenset[str]]:
    """For every word, in small letters, the words that may stand in its place."""
    try:
        with opened(path) as file:
            string = file.read()
    except AssayError as error:
        raise BadInput(f"the file of synonyms {str(path)!r} cannot be read: {_why(error)}.") from error
    found: dict[str, set[str]] = {}
    for word, others in _groups(string, path):
        found.setdefault(word.lower(), set()).update(other.lower() for other in others)
    known = {word: frozenset(others - {word}) for word, others in found.items() if others - {word}}
    if not known:
        raise BadInput(f"the file {str(path)!r} has no line with a word and its synonyms.")
    return known


def _why(error: Exception) -> str:
    return str(error).rpartition("cannot be read: ")[2].rstrip(".")


def _groups(string: str, path: str | Path) -> Iterator[tuple[str, Iterable[str]]]:
    """Words, and what may replace each."""
    if string.lstrip().startswith("{"):
        yield from _listed(string, path)
    elif _SYNSET.match(string):
        for line in string.splitlines():
            members = next((cell.split("|") for cell in line.split("\t") if "|" in cell), [])
            yield from ((word, members) for word in members)
    else:
        for line in string.splitlines():
            word, *others = [part for part in _BETWEEN.split(line.strip()) if part] or [""]
            yield word, others


def _listed(string: str, path: str | Path) -> Iterator[tuple[str, Iterable[str]]]:
    try:
        data = json.loads(string)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"the file of synonyms {str(path)!r} is not JSON ({error}).") from error
    for word, others in data.items():
        if not isinstance(others, list) or not all(isinstance(other, str) for other in others):
            raise BadInput(f"the file of synonyms {str(path)!r} must have a list of words for {word!r}.")
        yield word, others

"""Sentences whose words are annotated, read from CoNLL-U files and from files of IOB tags.

    CoNLL-U      ten columns with tabs: number, word, lemma, part of speech, ..., head (7), relation (8)
    IOB          a word a line, its tag last; columns with blanks or tabs; a blank line ends a sentence

    bundled      some 260 sentences of our own, of a small grammar, with parts of speech and trees

Ranges (3-4) and empty nodes (8.1) of CoNLL-U are no words and are passed over. `.gz` and `.xz` are read as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from sys import intern
from typing import Any

from assay.data.files import FilePlace
from assay.text.opening import opened
from assay.text.text import Field, Text

BUNDLED = "bundled"
_COLUMNS = 10


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words with their tags, and in a tree the place of the head of each (-1 for the root) and its relation."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    heads: tuple[int, ...] = ()
    relations: tuple[str, ...] = ()
    place: FilePlace = field(default=FilePlace("", 0), compare=False)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def text(self) -> Text:
        """The words with a blank between them, each a word of the text as it stands."""
        spans, at = [], 0
        for word in self.words:
            spans.append((at, at + len(word)))
            at += len(word) + 1
        return Text((Field("text", " ".join(self.words), tuple(spans)),), ("text",))


def sentences(path: str | Path) -> Iterator[Sentence]:
    """The sentences of a file, one at a time; its name says the format: .conllu, else IOB."""
    if path == BUNDLED:
        path = str(files("assay.data") / "sentences" / "plain.conllu")
    conllu = ".conllu" in Path(path).suffixes
    with opened(path, "\n") as file:
        numbered = ((i, line.rstrip("\r\n")) for i, line in enumerate(file, start=1))
        for filled, lines in groupby(numbered, key=lambda line: bool(line[1].strip())):
            found = (_conllu if conllu else _iob)(path, lines) if filled else None
            if found is not None:
                yield found


def _conllu(path: str | Path, lines: Iterator[tuple[int, str]]) -> Sentence | None:
    rows: list[list[str]] = []
    place = FilePlace(path, 1)
    for number, line in lines:
        if line.startswith("#"):
            continue
        place, cells = FilePlace(path, number), line.split("\t")
        if len(cells) != _COLUMNS:
            place.refuse(f"a word of CoNLL-U has {_COLUMNS} columns with tabs between them, not {len(cells)}")
        if "-" in cells[0] or "." in cells[0]:
            continue
        if cells[0] != str(len(rows) + 1):
            place.refuse(f"words are numbered from 1 in each sentence; this is word {len(rows) + 1}, not {cells[0]!r}")
        rows.append(cells)
    if not rows:
        return None
    heads = tuple(_head(place, row[6], len(rows)) for row in rows)
    words = tuple(intern(row[1].replace(" ", "\u00a0")) for row in rows)  # a word with a blank stays one word
    tags, relations = (tuple(intern(row[column]) for row in rows) for column in (3, 7))
    return Sentence(words, tags, heads, relations, place)


def _head(place: FilePlace, cell: str, size: int) -> int:
    if cell == "_":
        return -1
    if not cell.isdecimal() or int(cell) > size:
        place.refuse(f"a head is 0 or the number of a word up to {size}, not {cell!r}")
    return int(cell) - 1


def _iob(path: str | Path, lines: Iterator[tuple[int, str]]) -> Sentence | None:
    words, tags, place = [], [], FilePlace(path, 1)
    for number, line in lines:
        place, cells = FilePlace(path, number), line.split()
        if cells[0] == "-DOCSTART-":
            continue
        if len(cells) < 2:
            place.refuse(f"a line of IOB has a word and its tag, not {line!r:.60}")
        words.append(intern(cells[0]))
        tags.append(intern(cells[-1]))
    return Sentence(tuple(words), tuple(tags), place=place) if words else None


def depths(sentence: Sentence) -> list[int]:
    """How far each word is from the root of its tree."""
    return [len(_path(sentence, i)) - 1 for i in range(len(sentence))]


def distances(sentence: Sentence) -> list[list[int]]:
    """How many edges lie between every two words of a tree."""
    paths: list[list[int]] = [_path(sentence, i) for i in range(len(sentence))]
    found: list[list[int]] = []
    for a in paths:
        steps = {node: i for i, node in enumerate(a)}
        found.append([next(steps[node] + j for j, node in enumerate(b) if node in steps) for b in paths])
    return found


def _path(sentence: Sentence, word: int) -> list[int]:
    """From a word up to the root, both included, and -1 above all."""
    found: list[Any] = [word]
    while found[-1] != -1:
        if len(found) > len(sentence):
            sentence.place.refuse("the heads of this sentence go round in a circle, so they are no tree")
        found.append(sentence.heads[found[-1]])
    return found[:-1]

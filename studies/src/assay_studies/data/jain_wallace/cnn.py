"""CNN news as Danqi Chen and others released it: cnn/{train,dev,test}.txt.

Three lines a row, an empty line after each: the question with @placeholder, the answer, the passage. The text is
tokenised, its entities are @entity0, @entity1 and so on. The labels are the entities of the training passages; of
these, the entities of its own passage can be the answer to a question.
Hermann et al. (2015), arXiv:1506.03340; Chen, Bolton and Manning (2016), arXiv:1606.02858.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from assay.data.files import FilePlace, PathLike, lines
from assay.text.example import Example
from assay_studies.data.jain_wallace.filters import Bounds
from assay_studies.data.jain_wallace.splits import Split, answerable, unanswerable
from assay_studies.data.jain_wallace.tokens import plain

BOUNDS = Bounds()
TABLE_1 = ("380298", "3198")
_ENTITY = "@entity"


def read(directory: Path) -> Split:
    rows = [list(_questions(directory / "cnn" / f"{part}.txt")) for part in ("train", "dev", "test")]
    found = sorted(
        {word for row in rows[0] for word in row.strings[0].split() if word.startswith(_ENTITY)}, key=_number
    )
    train, dev, test = (answerable(_in_passage(part), found) for part in rows)
    split = Split("cnn", train, dev, test, tuple(found), "question_answering", "candidates")
    return unanswerable(split, sum(map(len, rows)))


def _number(entity: str) -> tuple[int, str]:
    return len(entity), entity


def _in_passage(rows: Iterable[Example]) -> list[Example]:
    return [row for row in rows if row.label in row.strings[0].split()]


def _questions(path: PathLike) -> Iterator[Example]:
    for place, block in _blocks(path):
        if len(block) < 3 or not block[1].startswith(_ENTITY):
            place.refuse("a row is three lines, a question, its answer (@entity and a number) and a passage, then none")
        question, answer, passage = (plain(line) for line in block[:3])
        yield Example(str(place.number), (passage, question), answer)


def _blocks(path: PathLike) -> Iterator[tuple[FilePlace, list[str]]]:
    """Lines with no empty line between them."""
    numbered: Iterable[tuple[int, tuple[FilePlace, str]]] = enumerate(lines(path))
    for _, run in groupby(numbered, key=lambda item: item[1][0].number - item[0]):
        block = [item for _, item in run]
        yield block[0][0], [line for _, line in block]

"""The Stanford Sentiment Treebank: sentences with a label on every phrase, and its binary form in GLUE.

trees/{train,dev,test}.txt: one tree a line, every phrase labelled 0 (very negative) to 4 (very positive), 2 neutral.
SST-2: tab-separated sentence and label, 0 negative and 1 positive; the test file has an index and no labels.

What people highlighted, after Pham et al. (2022), section 5.2, arXiv:2110.04947: the words of all phrases that speak
clearly for the label of the sentence and are no longer than half of it. They take phrases scored <= 0.3 or >= 0.7;
the trees hold only the five classes, of which 3 is (0.6, 0.8] and 4 is (0.8, 1], so we take 0, 1 and 3, 4 (`clear`
= 1), or 0 and 4 alone (`clear` = 2). Of the words of the dev set this marks 55 % or 19 %, theirs 37 % (Table A2).
Socher et al. (2013), doi:10.18653/v1/D13-1170.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from assay.data.files import FilePlace, PathLike, lines, table
from assay.text.example import Example, Mark, joined, runs

LABELS = ("negative", "positive")
_NEUTRAL, _STRONGEST = 2, 4
_SIGN = re.compile(r"[()]|[^\s()]+")
_ESCAPED = {"-LRB-": "(", "-RRB-": ")"}


class Phrase(NamedTuple):
    """The words from start to before end, and their label from 0 to 4."""

    start: int
    end: int
    label: int


@dataclass(frozen=True)
class Tree:
    """A sentence and the labels of all its phrases; the last phrase is the sentence itself."""

    words: tuple[str, ...]
    phrases: tuple[Phrase, ...]

    @property
    def label(self) -> int:
        return self.phrases[-1].label

    def marked(self, clear: int = 1, longest: float = 0.5) -> set[int]:
        """The words of phrases that speak for the sentence's label, `clear` steps or more away from neutral."""
        side = (self.label > _NEUTRAL) - (self.label < _NEUTRAL)
        short = (p for p in self.phrases if p.end - p.start <= longest * len(self.words))
        return {i for p in short if side * (p.label - _NEUTRAL) >= clear for i in range(p.start, p.end)}


def read(path: PathLike, *, clear: int = 1, longest: float = 0.5) -> Iterator[Example]:
    """The sentences that are not neutral, as negative or positive, with their highlights."""
    for place, tree in trees(path):
        if tree.label != _NEUTRAL:
            string, spans = joined(tree.words)
            marks: tuple[Mark, ...] = runs(0, spans, tree.marked(clear, longest))
            yield Example(str(place.number), (string,), LABELS[tree.label > _NEUTRAL], (marks,))


def trees(path: PathLike) -> Iterator[tuple[FilePlace, Tree]]:
    """Every tree of the file, and its line."""
    for place, line in lines(path):
        yield place, _parsed(place, line)


def glue(path: PathLike) -> Iterator[Example]:
    """SST-2 as GLUE has it."""
    for row in table(path, tabs=True):
        label = row.string("label") if "label" in row else None
        if label not in (None, "0", "1"):
            row.place.refuse(f"the label must be 0 or 1, not {label!r}")
        name = row.string("index") if "index" in row else str(row.place.number)
        yield Example(name, (row.string("sentence").strip(),), None if label is None else LABELS[int(label)])


def _parsed(place: FilePlace, line: str) -> Tree:
    words: list[str] = []
    phrases: list[Phrase] = []
    open_: list[tuple[int, int]] = []  # the label of each open phrase, and where it begins
    signs = iter(_SIGN.findall(line))
    for sign in signs:
        if sign == "(":
            _require(place, open_ or not phrases, "there is more than one tree")
            open_.append((_label(place, next(signs, "")), len(words)))
        elif sign == ")":
            _require(place, open_ and open_[-1][1] < len(words), "a bracket closes nothing")
            label, start = open_.pop()
            phrases.append(Phrase(start, len(words), label))
        else:
            _require(place, open_, "a word lies outside the tree")
            words.append(_plain(sign))
    _require(place, phrases and not open_, "the tree is not closed")
    return Tree(tuple(words), tuple(phrases))


def _require(place: FilePlace, holds: object, what: str) -> None:
    if not holds:
        place.refuse(f"{what}; a tree is written (3 (2 a) (3 (4 fine) (2 film)))")


def _label(place: FilePlace, sign: str) -> int:
    known = sign.isdecimal() and int(sign) <= _STRONGEST
    _require(place, known, f"a phrase begins with its label, 0 to 4, not {sign!r}")
    return int(sign)


def _plain(word: str) -> str:
    """Brackets and slashes as they were before the tree was written."""
    return _ESCAPED.get(word, word.replace("\\/", "/").replace("\\*", "*"))

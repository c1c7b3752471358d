"""SNLI pairs, and the words that people marked for e-SNLI.

published   esnli_{dev,test}.csv: Sentence1_marked_k is the sentence with the *words* that person k marked in stars
            (Sentence1_Highlighted_k lists their numbers, but some copies hold dates in place of lists: 2006 for 6)
tokens      jsonl of word lists: premise, hypothesis, premise_highlight, hypothesis_highlight (0 or 1 for each word)
starred     dev.tsv of Kumar and Talukdar (2020), arXiv:2005.12116, without a header: pair, label, both sentences, three
            explanations, both sentences with the *words* that one person marked, three generated explanations
pairs       s1.SPLIT, s2.SPLIT and labels.SPLIT of the preprocessed release, line by line
tagged      label, source, premise and hypothesis, tab by tab, without a header
snli        snli_1.0_{train,dev,test}.jsonl: sentence1, sentence2, gold_label ("-" where people did not agree)

Bowman et al. (2015), arXiv:1508.05326; Camburu et al. (2018), arXiv:1812.01193.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from assay.data.files import FilePlace, PathLike, Record, lines, objects, table
from assay.text.example import Example, Mark, joined, runs
from assay.text.text import Span

LABELS = ("entailment", "neutral", "contradiction")
_STARRED_COLUMNS = ("pair", "label", "premise", "hypothesis", *"123", "premise_marked", "hypothesis_marked", *"456")
_WORD = re.compile(r"\S+")
_PEOPLE = (1, 2, 3)
_STARRED = re.compile(r"\*.+\*")
_PARTS = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s*]")
_NOBODY = ("", "NA")


def published(path: PathLike) -> Iterator[Example]:
    """The published table, one annotation for each person that is in it."""
    for row in table(path):
        strings = (row.string("Sentence1"), row.string("Sentence2"))
        people = (_person(row, strings, k) for k in _PEOPLE)
        marks = tuple(person for person in people if person is not None)
        yield Example(row.string("pairID"), strings, _label(row.place, row.string("gold_label")), marks)


def tokens(path: PathLike) -> Iterator[Example]:
    """Words and whether they are marked, as one annotation."""
    for row in objects(path):
        premise, in_premise = _flagged(row, 0, "premise")
        hypothesis, in_hypothesis = _flagged(row, 1, "hypothesis")
        name = row.name("snli_dev_line") or str(row.place.number)
        label = _label(row.place, row.string("label"))
        yield Example(name, (premise, hypothesis), label, ((*in_premise, *in_hypothesis),))


def starred(path: PathLike) -> Iterator[Example]:
    """One annotation a pair, named by its number from 0 as in the token lists; words stand one blank apart as there.

    A pair whose starred sentences have other words than the sentences is left out.
    """
    for number, row in enumerate(table(path, _STARRED_COLUMNS, tabs=True)):
        found = [_split_stars(row.string(f"{name}_marked")) for name in ("premise", "hypothesis")]
        strings = (row.string("premise"), row.string("hypothesis"))
        if all(_letters(words) == _letters([string]) for (words, _), string in zip(found, strings, strict=True)):
            marks = [mark for i, (words, at) in enumerate(found) for mark in runs(i, joined(words)[1], at)]
            spaced = tuple(joined(words)[0] for words, _ in found)
            yield Example(str(number), spaced, _label(row.place, row.string("label")), (tuple(marks),))


def _split_stars(starred: str) -> tuple[list[str], list[int]]:
    """Words and marks of punctuation, and the numbers of those between stars."""
    words, marked = list[str](), list[int]()
    for word in starred.split():
        parts = _PARTS.findall(word.strip("*"))
        marked += range(len(words), len(words) + len(parts)) if _STARRED.fullmatch(word) else ()
        words += parts
    return words, marked


def _letters(words: Sequence[str]) -> str:
    return "".join("".join(words).split())


def pairs(directory: PathLike, split: str) -> Iterator[Example]:
    """Premise, hypothesis and label from three parallel files."""
    files = [lines(Path(directory) / f"{name}.{split}") for name in ("s1", "s2", "labels")]
    for parts in zip_longest(*files):
        if None in parts or len({place.number for place, _ in parts}) != 1:
            place = next(part[0] for part in parts if part)
            place.refuse(f"s1.{split}, s2.{split} and labels.{split} must have the same lines")
        (place, premise), (_, hypothesis), (at, label) = parts
        yield Example(str(place.number), (premise.strip(), hypothesis.strip()), _label(at, label.strip()))


def tagged(path: PathLike) -> Iterator[Example]:
    """Labelled pairs, named by their number from 1."""
    for number, row in enumerate(table(path, ("label", "source", "premise", "hypothesis"), tabs=True), start=1):
        strings = (row.string("premise").strip(), row.string("hypothesis").strip())
        yield Example(str(number), strings, _label(row.place, row.string("label")))


def snli(path: PathLike) -> Iterator[Example]:
    """SNLI as it is published."""
    for row in objects(path):
        label = row.string("gold_label")
        strings = (row.string("sentence1"), row.string("sentence2"))
        yield Example(row.string("pairID"), strings, None if label == "-" else _label(row.place, label))


def _label(place: FilePlace, label: str) -> str:
    if label not in LABELS:
        place.refuse(f"the label must be {', '.join(LABELS)}, not {label!r}")
    return label


def _person(row: Record, strings: Sequence[str], k: int) -> tuple[Mark, ...] | None:
    """What one person marked in both sentences; None where there is no such person."""
    columns = [f"Sentence{i}_marked_{k}" for i in (1, 2)]
    if any(column not in row or row.string(column) in _NOBODY for column in columns):
        return None
    return tuple(mark for i, column in enumerate(columns) for mark in _starred(row, i, strings[i], column))


def _starred(row: Record, i: int, string: str, column: str) -> tuple[Mark, ...]:
    spans: list[Span] = [match.span() for match in _WORD.finditer(string)]
    words = row.string(column).split()
    if len(words) != len(spans):
        row.place.refuse(f"{column!r} has {len(words)} words, but the sentence {string!r:.60} has {len(spans)}")
    return runs(i, spans, [at for at, word in enumerate(words) if _STARRED.fullmatch(word)])


def _flagged(row: Record, i: int, name: str) -> tuple[str, tuple[Mark, ...]]:
    words, flags = row.strings(name), row.numbers(f"{name}_highlight")
    if len(words) != len(flags):
        row.place.refuse(f"{name!r} has {len(words)} words but {len(flags)} highlights")
    string, spans = joined(words)
    return string, runs(i, spans, [at for at, flag in enumerate(flags) if flag > 0])

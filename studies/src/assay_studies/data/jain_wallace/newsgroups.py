"""20 Newsgroups, baseball (0) against hockey (1): newsgroups20/{train,test}.jsonl, plain or .xz, raw messages of 1993.

One object a line: id, group, text. Headers, signatures and quotes are taken off as scikit-learn does for
remove=("headers", "footers", "quotes"), and all 18,846 messages are shuffled as its subset="all" is, so that the parts
(20 % test, then 20 % dev, evenly over the labels, the authors' seed) are those of the authors' release. Of each run of
marks and blanks only the last sign stays: a mark goes unless a word follows it at once. http://qwone.com/~jason/20Newsgroups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import regex

from assay.data.files import objects
from assay.text.example import Example
from assay_studies.data.jain_wallace.filters import Bounds
from assay_studies.data.jain_wallace.places import found
from assay_studies.data.jain_wallace.splits import Split, parted
from assay_studies.data.jain_wallace.tokens import tokenised

LABELS = ("baseball", "hockey")
BOUNDS = Bounds(above=6, below=500)
TABLE_1 = ("716 / 710", "151 / 183")
_SHARE, _SEED = 0.2, 13478
_GROUPS = tuple(f"rec.sport.{label}" for label in LABELS)
_FILE_SEED, _ALL_SEED = 0, 42  # of scikit-learn: one shuffle of each file, then one of both together
_RUN = regex.compile(r"\W*(\W)")
_QUOTE = regex.compile(r"writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^[|>]")
_ALL = 18846
_SAME = (
    "The rows are those of the authors' release, whose test part has 179 / 178 messages within the bounds; the paper's "
    "Table 1 counts another one, and its training part holds our dev part."
)
_OTHER = f"There are not {_ALL} messages, so the parts are others than in the authors' release."


class Message(NamedTuple):
    """A message and where it stands in the published folders."""

    group: str
    id: str
    text: str


def read(directory: Path) -> Split:
    folder = directory / "newsgroups20"
    train, test = (_messages(found(folder, f"{part}.jsonl.xz", f"{part}.jsonl")) for part in ("train", "test"))
    examples = _examples(_shuffled([*train, *test], _ALL_SEED))
    rest, taken = parted(examples, _SHARE, _SEED, [example.label for example in examples])
    rest, dev = parted(rest, _SHARE, _SEED, [example.label for example in rest])
    note = _SAME if len(train) + len(test) == _ALL else _OTHER
    return Split("newsgroups", tuple(rest), tuple(dev), tuple(taken), LABELS, notes=(note,))


def _messages(path: Path) -> list[Message]:
    """All groups: the order of two groups depends on the messages of the others."""
    messages = [Message(row.string("group"), row.name("id") or "", row.string("text")) for row in objects(path)]
    return _shuffled(sorted(messages), _FILE_SEED)


def _shuffled(messages: list[Message], seed: int) -> list[Message]:
    order = np.arange(len(messages))
    np.random.RandomState(seed).shuffle(order)
    return [messages[i] for i in order]


def _examples(messages: Iterable[Message]) -> list[Example]:
    """First baseball, then hockey, without messages in which nothing is left."""
    examples = (Example(m.id, (cleaned(m.text),), LABELS[_GROUPS.index(m.group)]) for m in _of_sports(messages))
    return sorted((e for e in examples if e.strings[0]), key=lambda e: LABELS.index(str(e.label)))


def _of_sports(messages: Iterable[Message]) -> Iterator[Message]:
    return (message for message in messages if message.group in _GROUPS)


def cleaned(text: str) -> str:
    """What the writer of a message wrote, as tokens."""
    return " ".join(_RUN.sub(r" \1 ", tokenised(without_quotes(without_footer(without_header(text))))).split())


def without_header(text: str) -> str:
    """What follows the first empty line."""
    return text.partition("\n\n")[2]


def without_footer(text: str) -> str:
    """What stands before the last line that is blank or of hyphens only; all of it when that is the first line."""
    lines = text.strip().split("\n")
    last = max((i for i, line in enumerate(lines) if not line.strip().strip("-")), default=0)
    return "\n".join(lines[:last]) if last else text


def without_quotes(text: str) -> str:
    """Without the lines that are quoted, or that say who is."""
    return "\n".join(line for line in text.split("\n") if not _QUOTE.search(line))

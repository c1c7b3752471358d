"""bAbI, tasks 1 to 3, qaN_*_{train,test}.txt: babi/en-10k/ or babi_en10k/ (10,000 questions), else babi/en/ (1,000).

    3 Where is Mary? <tab> bathroom <tab> 1        a question, its answer, and the lines that it rests on
    4 Daniel went back to the hallway.             a sentence; number 1 begins a new story

The paragraph is the story so far, its sentences parted by " . ", without the questions in it. Any word of the training
texts can be the answer. Weston et al. (2015), arXiv:1502.05698.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from assay.data.files import FilePlace, lines
from assay.text.example import Example
from assay_studies.data.jain_wallace.filters import Bounds
from assay_studies.data.jain_wallace.places import found
from assay_studies.data.jain_wallace.splits import Split, answerable, unanswerable, with_dev
from assay_studies.data.jain_wallace.tokens import plain

BOUNDS = Bounds()
TABLE_1 = ("10000", "1000")
_TASKS = {1: "qa1_single-supporting-fact", 2: "qa2_two-supporting-facts", 3: "qa3_three-supporting-facts"}


def read(directory: Path, task: int) -> Split:
    train_rows, test_rows = (list(_questions(_path(directory, task, part))) for part in ("train", "test"))
    train, dev = with_dev(train_rows)
    words = tuple(sorted({word for example in train for string in example.strings for word in string.split()}))
    train, dev, test = (answerable(part, words) for part in (train, dev, tuple(test_rows)))
    notes = (f"{len(train_rows)} training questions, of which 15 % are dev.",)
    split = Split(f"babi_{task}", train, dev, test, words, "question_answering", "vocabulary", notes)
    return unanswerable(split, len(train_rows) + len(test_rows))


def _path(directory: Path, task: int, part: str) -> Path:
    """Both parts are of one folder: the first that has the training questions of the task."""
    for folder, end in (("babi/en-10k", "txt"), ("babi_en10k", "txt.xz")):
        if (directory / folder / f"{_TASKS[task]}_train.{end}").is_file():
            return directory / folder / f"{_TASKS[task]}_{part}.{end}"
    return found(directory / "babi", f"en/{_TASKS[task]}_{part}.txt")


def _questions(path: Path) -> Iterator[Example]:
    story: list[str] = []
    for place, line in lines(path):
        number, _, text = line.partition(" ")
        story = [] if number == "1" else story
        if "\t" in text:
            yield _question(place, story, text)
        else:
            story.append(_sentence(place, number, text))


def _sentence(place: FilePlace, number: str, text: str) -> str:
    if not number.isdecimal() or not text.strip():
        place.refuse("a line is a number, a blank and a sentence, or a question with its answer after a tab")
    return text.strip().removesuffix(".")


def _question(place: FilePlace, story: Iterable[str], text: str) -> Example:
    question, answer, *_ = (cell.strip() for cell in text.split("\t"))
    paragraph = plain(" . ".join(story))
    if not paragraph or not answer:
        place.refuse("a question must follow a sentence of its story, and its answer must follow a tab")
    return Example(str(place.number), (paragraph, plain(question.removesuffix("?"))), plain(answer))

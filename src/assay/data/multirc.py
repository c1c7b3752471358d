"""MultiRC: questions about a paragraph, several answers each, and the sentences that are needed to judge them.

{train,dev}-fixedIds.json: paragraph.text with its sentences as <b>Sent N: </b>...<br>, and for each question
`sentences_used` (from 0) and `answers` with isAnswer. One row per answer, as a pair in the manner of Pham et al.
(2022): the paragraph and the question behind it, and the answer; marked are the sentences used. For a model that sees
only so much, `fits` says whether it sees a whole row; where it does not, the last sentences of the paragraph go.
Khashabi et al. (2018), doi:10.18653/v1/N18-1023.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from assay.data.files import PathLike, Record, whole
from assay.text.example import Example, joined, runs
from assay.text.text import Row

Fits = Callable[[Row], bool]
LABELS = ("false", "true")
_SENTENCE = re.compile(r"<b>\s*Sent \d+:\s*</b>(.*?)<br>", re.DOTALL)


def read(path: PathLike, *, fits: Fits = lambda row: True) -> Iterator[Example]:
    """One row for every answer of every question."""
    for number, entry in enumerate(whole(path).records("data"), start=1):
        here = replace(entry, place=replace(entry.place, number=number, unit="paragraph"))
        paragraph = here.record("paragraph")
        sentences = _sentences(paragraph)
        for question in paragraph.records("questions"):
            yield from _answers(here.string("id"), sentences, question, fits)


def _answers(paragraph: str, sentences: Sequence[str], question: Record, fits: Fits) -> Iterator[Example]:
    used = question.numbers("sentences_used")
    if any(not 0 <= i < len(sentences) for i in used):
        question.place.refuse(f"sentences_used names {used}, but there are {len(sentences)} sentences")
    asked = question.string("question").strip()
    for k, answer in enumerate(question.records("answers")):
        name = f"{paragraph}/{question.name('idx')}/{k}"
        kept, row = _fitting(sentences, asked, answer.string("text").strip(), fits)
        marks = runs(0, joined(sentences)[1], [i for i in used if i < kept])
        yield Example(name, row, _label(answer), (marks,))


def _fitting(sentences: Sequence[str], question: str, answer: str, fits: Fits) -> tuple[int, Row]:
    """How many of the sentences stay, one in any case, and the row that they make."""
    for kept in range(len(sentences), 0, -1):
        row = (f"{joined(sentences[:kept])[0]} {question}", answer)
        if fits(row):
            break
    return kept, row


def _sentences(paragraph: Record) -> list[str]:
    found = [sentence.strip() for sentence in _SENTENCE.findall(paragraph.string("text"))]
    if not found:
        paragraph.place.refuse("the paragraph has no sentences written as <b>Sent 1: </b>...<br>")
    return found


def _label(answer: Record) -> str:
    holds = answer.values.get("isAnswer")
    if not isinstance(holds, bool):
        answer.place.refuse(f"'isAnswer' must be true or false, not {holds!r:.60}")
    return LABELS[holds]

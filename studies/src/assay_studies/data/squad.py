"""SQuAD 1.1: questions about paragraphs, each answered by a stretch of its paragraph.

{train,dev}.json: data[].paragraphs[] with a context and qas[], each with a question and answers[] (text, answer_start).
One row per question, as a pair of question and context; the label is the first answer, and every answer is what one
person marked in the context. Rajpurkar et al. (2016), arXiv:1606.05250.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from assay.data.files import PathLike, Record, whole
from assay.text.example import Example, Mark


def read(path: PathLike) -> Iterator[Example]:
    """One row for every question."""
    for number, article in enumerate(whole(path).records("data"), start=1):
        here = replace(article, place=replace(article.place, number=number, unit="article"))
        for paragraph in here.records("paragraphs"):
            context = paragraph.string("context")
            yield from (_asked(context, question) for question in paragraph.records("qas"))


def answers(example: Example) -> list[str]:
    """All answers that people gave, as they stand in the context."""
    return [example.strings[mark.string][mark.start : mark.end] for marks in example.marks for mark in marks]


def _asked(context: str, question: Record) -> Example:
    marks = tuple((_marked(context, answer),) for answer in question.records("answers"))
    asked = Example(question.string("id"), (question.string("question").strip(), context), None, marks)
    return replace(asked, label=next(iter(answers(asked)), None))


def _marked(context: str, answer: Record) -> Mark:
    text, start = answer.string("text"), answer.number("answer_start")
    if not text or start < 0 or context[start : start + len(text)] != text:
        answer.place.refuse(f"the answer {text[:40]!r} does not stand at {start} in its context")
    return Mark(1, start, start + len(text))

"""How close what the writer wrote is to what people wrote, and to itself when it is told something else.

BLEU       of all rationales together against all human explanations of their texts (bleu.py)
likeness   F1 of the words of two sentences; to what people wrote, that of the most alike of their explanations

Told the answer (rationalise), told another answer, told none (reason); NILE's explanation for the same label; and a
human explanation against the other two, which is as close as people are to each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from assay.explanations.rationale import Rationale
from assay.explanations.word_overlap import overlap
from assay.statistics.intervals import Estimate
from assay_studies.claims import Claim, Evidence, above, claim, higher
from assay_studies.rationales.bleu import corpus_bleu, counts
from assay_studies.rationales.questions import Question
from assay_studies.rationales.tasks import PAPER, Task
from assay_studies.specification import PartSpec, Subject, TableSpec, Values, on_each

_WRITTEN = {
    "told": "told the answer",
    "otherwise": "told another answer",
    "untold": "told no answer",
    "another_text": "of another text",
    "nile": "NILE, the same answer",
    "person": "one person, by the others",
}
_ALIKE = {
    ("alike", "untold"): "told the answer, and told none",
    ("alike", "otherwise"): "told the answer, and told another",
    ("alike", "another_text"): "of two texts",
}
_MOST = 0.5  # our limit for "nearly identical": more than half of the words


def _measure(task: Task) -> Subject:
    told, untold = task.written("rationalise"), task.written("reason")
    measures: dict[tuple[str, str], Values] = {}
    for what, (sentences, human) in _compared(task.questions, told, untold).items():
        measures["bleu", what] = Values(np.array(list(map(counts, sentences, human)), dtype=float), corpus_bleu)
        measures["likeness", what] = Values(np.array(list(map(_nearest, sentences, human))))
    alike = {"untold": [one.rationale for one in untold], "otherwise": _otherwise(told), "another_text": _next(told)}
    for what, theirs in alike.items():
        shared = [overlap(one.rationale, other) for one, other in zip(told, theirs, strict=True)]
        measures["alike", what] = Values(np.array(shared))
    return Subject(task.name, task.title, measures)


def _compared(
    questions: Sequence[Question], told: Sequence[Rationale], untold: Sequence[Rationale]
) -> Mapping[str, tuple[Sequence[str], Sequence[Sequence[str]]]]:
    """Sentences, and what people wrote about the same texts."""
    human = [one.human for one in questions]
    nile = [one.other_writer.get(one.choices[e.target], "") for one, e in zip(questions, told, strict=True)]
    several = [by for by in human if len(by) > 1]
    found: dict[str, tuple[Sequence[str], Sequence[Sequence[str]]]] = {
        "told": ([one.rationale for one in told], human),
        "otherwise": (_otherwise(told), human),
        "untold": ([one.rationale for one in untold], human),
        "another_text": (_next(told), human),
        "nile": (nile if all(nile) else [], human),
        "person": ([by[0] for by in several], [by[1:] for by in several]),
    }
    return {what: both for what, both in found.items() if both[0]}


def _nearest(sentence: str, human: Sequence[str]) -> float:
    return max(overlap(sentence, other) for other in human)


def _otherwise(told: Sequence[Rationale]) -> list[str]:
    """What was written for the likeliest other answer."""
    return [next(iter(one.others.values())).text for one in told]


def _next(told: Sequence[Rationale]) -> list[str]:
    """What was written for the text that follows."""
    texts = [one.rationale for one in told]
    return [*texts[1:], texts[0]]


def _gap(subject: Subject, measure: str, other: str) -> Estimate | None:
    """How much closer the rationales for the answer are to what people wrote."""
    return subject.gap((measure, "told"), (measure, other))


def _claims(subject: Subject) -> Iterator[Claim]:
    yield claim(
        f"{subject.title}: rationales that are told the answer are nearly identical to those that are not (10.1)",
        Evidence("overlap of words", subject.estimate("alike", "untold"), above(_MOST)),
        Evidence("of two texts", subject.estimate("alike", "another_text")),
        key="nearly_identical",
        about=subject.title,
    )
    yield claim(
        f"{subject.title}: a rationale for the answer is closer to the human ones than one for another answer",
        Evidence("likeness, answer - another", _gap(subject, "likeness", "otherwise"), higher),
        Evidence("BLEU, answer - another", _gap(subject, "bleu", "otherwise"), higher),
        key="closer",
        about=subject.title,
    )
    yield claim(
        f"{subject.title}: a rationale is closer to the human ones than that of another text",
        Evidence("likeness, own - another text's", _gap(subject, "likeness", "another_text"), higher),
        Evidence("BLEU, own - another text's", _gap(subject, "bleu", "another_text"), higher),
        key="about_the_text",
        about=subject.title,
    )
    if ("bleu", "nile") in subject:
        yield claim(
            f"{subject.title}: ours are closer to the human ones than NILE's, which a larger writer wrote",
            Evidence("likeness, ours - NILE's", _gap(subject, "likeness", "nile"), higher),
            Evidence("BLEU, ours - NILE's", _gap(subject, "bleu", "nile"), higher),
            key="nile",
            about=subject.title,
        )


PART = PartSpec(
    name="closeness",
    title="How close are rationales to what people wrote, and to each other?",
    measure=on_each(_measure),
    tables=[
        TableSpec(
            name="bleu",
            title="BLEU against human explanations",
            rows={("bleu", key): name for key, name in _WRITTEN.items()},
            better="higher",
            digits=2,
        ),
        TableSpec(
            name="likeness",
            title="Words shared with the most alike human explanation (F1)",
            rows={("likeness", key): name for key, name in _WRITTEN.items()},
            better="higher",
        ),
        TableSpec(name="overlap", title="Words that two rationales share (F1)", rows=_ALIKE),
    ],
    claims=[_claims],
    published=PAPER,
)

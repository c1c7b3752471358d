"""How close what the writer wrote is to what people wrote, and to itself when it is told something else.

BLEU     of one rationale against all human explanations of its text (4-grams, smoothed from bigrams on)
overlap  F1 of the words of two rationales

Told the answer (rationalise), told another answer, told none (reason); NILE's explanation for the same label; and a
human explanation against the other two, which is as close as people are to each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from assay.checks.diversity import bleu
from assay.explanations.rationale import Rationale
from assay.explanations.word_overlap import overlap, words_of
from assay_studies.claims import Claim, Evidence, above, claim, higher
from assay_studies.rationales.questions import Question
from assay_studies.rationales.tasks import PAPER, Task
from assay_studies.specification import PartSpec, Subject, TableSpec, Values, on_each

_BLEU = {
    ("bleu", "told"): "told the answer",
    ("bleu", "otherwise"): "told another answer",
    ("bleu", "untold"): "told no answer",
    ("bleu", "another_text"): "of another text",
    ("bleu", "nile"): "NILE, the same answer",
    ("bleu", "person"): "one person, by the others",
}
_ALIKE = {
    ("alike", "untold"): "told the answer, and told none",
    ("alike", "otherwise"): "told the answer, and told another",
    ("alike", "another_text"): "of two texts",
}
_MOST = 0.5  # our limit for "nearly identical": more than half of the words


def _measure(task: Task) -> Subject:
    told, untold = task.written("rationalise"), task.written("reason")
    measures = {key: Values(values) for key, values in _bleus(task.questions, told, untold) if len(values) > 1}
    others = [next(iter(one.others.values())).text for one in told]
    alike = {"untold": [one.rationale for one in untold], "otherwise": others, "another_text": _next(told)}
    for what, theirs in alike.items():
        shared = [overlap(one.rationale, other) for one, other in zip(told, theirs, strict=True)]
        measures["alike", what] = Values(np.array(shared))
    return Subject(task.name, task.title, measures)


def _bleus(
    questions: Sequence[Question], told: Sequence[Rationale], untold: Sequence[Rationale]
) -> Iterator[tuple[tuple[str, str], np.ndarray]]:
    human = [one.human for one in questions]
    others = [next(iter(one.others.values())).text for one in told]
    nile = [one.other_writer.get(one.choices[e.target], "") for one, e in zip(questions, told, strict=True)]
    written = {
        "told": [one.rationale for one in told],
        "otherwise": others,
        "untold": [one.rationale for one in untold],
        "another_text": _next(told),
        "nile": nile if all(nile) else [],
    }
    for what, texts in written.items():
        yield ("bleu", what), np.array([_bleu(one, by) for one, by in zip(texts, human, strict=bool(texts))])
    several = [by for by in human if len(by) > 1]
    yield ("bleu", "person"), np.array([_bleu(by[0], by[1:]) for by in several])


def _bleu(one: str, references: Sequence[str]) -> float:
    return 100 * bleu(words_of(one), [words_of(other) for other in references])


def _next(told: Sequence[Rationale]) -> list[str]:
    """What was written for the text that follows."""
    texts = [one.rationale for one in told]
    return [*texts[1:], texts[0]]


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
        Evidence("BLEU, answer - another", subject.gap(("bleu", "told"), ("bleu", "otherwise")), higher),
        digits=2,
        key="closer",
        about=subject.title,
    )
    yield claim(
        f"{subject.title}: a rationale is closer to the human ones than that of another text",
        Evidence("BLEU, own - another text's", subject.gap(("bleu", "told"), ("bleu", "another_text")), higher),
        digits=2,
        key="about_the_text",
        about=subject.title,
    )
    if ("bleu", "nile") in subject:
        yield claim(
            f"{subject.title}: ours are closer to the human ones than NILE's, which a larger writer wrote",
            Evidence("BLEU, ours - NILE's", subject.gap(("bleu", "told"), ("bleu", "nile")), higher),
            digits=2,
            key="nile",
            about=subject.title,
        )


PART = PartSpec(
    name="closeness",
    title="How close are rationales to what people wrote, and to each other?",
    measure=on_each(_measure),
    tables=[
        TableSpec(name="bleu", title="BLEU against human explanations", rows=_BLEU, better="higher", digits=2),
        TableSpec(name="overlap", title="Words that two rationales share (F1)", rows=_ALIKE),
    ],
    claims=[_claims],
    published=PAPER,
)

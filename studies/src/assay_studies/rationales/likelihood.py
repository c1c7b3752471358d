"""How likely human explanations are to the writer: perplexity by token, with the adapter and without.

    perplexity = exp( - sum over texts of log p(explanation | prompt) / sum of its tokens )

The prompt is that of rationalising with the right answer, and the token that ends a text is one of them. People's
spelling is a part of what is unlikely: capital letters, full stops and blanks. So the same explanations are read once
more in the spelling that the adapter learned, and of each text the first one alone, as the writer's card has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from assay.methods.natural_language.cage import Cage
from assay.questions.base import Conversation
from assay.questions.generation import Likelihood
from assay.statistics.arrays import Floats
from assay.text.text import Text
from assay_studies.claims import Claim, Evidence, claim, lower
from assay_studies.rationales.questions import Question
from assay_studies.rationales.tasks import BASE, PAPER, WRITER, Task
from assay_studies.specification import PartSpec, Subject, TableSpec, Values, on_each

_TITLE = "Perplexity of what people wrote"
_NAMES = {WRITER: "with the adapter", BASE: "the base"}
_READ = {
    (False, False): "",
    (False, True): ", the first of each text",
    (True, False): ", in the spelling of the adapter",
    (True, True): ", the first of each text, in the spelling of the adapter",
}
_ROWS = {(name, str(read)): f"{told}{how}" for name, told in _NAMES.items() for read, how in _READ.items()}
ALL = str((False, False))


def spelt(text: str) -> str:
    """Small letters, sentences of one text joined by a semicolon, `can not` in two words, no blanks at the ends."""
    text = re.sub(r"\s+", " ", text.replace("’", "'")).strip().lower()
    return re.sub(r"[.]\s+(?=\w)", "; ", text).replace("cannot", "can not")


def perplexity(means: Floats) -> Floats:
    """Of the mean log-probability and the mean number of tokens of a text [..., 2]."""
    return np.asarray(np.exp(-means[..., 0] / means[..., 1]))


def _measure(task: Task) -> Subject:
    measures: dict[tuple[str, str], Values] = {}
    several = any(len(one.human) > 1 for one in task.read)
    for name in _NAMES:
        task.request.say(f"{task.title}: perplexity, {name}")
        read = task.ask(_read(one, name) for one in task.read)
        for so_spelt, first in _READ:
            if several or not first:
                rows = [(one[so_spelt][:1] if first else one[so_spelt]).sum(axis=0) for one in read]
                measures[name, str((so_spelt, first))] = Values(np.array(rows), perplexity)
    return Subject(task.name, task.title, measures)


def _read(question: Question, writer: str) -> Conversation[tuple[Floats, Floats]]:
    """Log p and the number of tokens of each explanation [explanations, 2], as it is and in the adapter's spelling."""
    prompt = Cage().prompt(Text.of(question.text), question.choices, question.answer)
    said = [*question.human, *map(spelt, question.human)]
    found = yield Likelihood(prompt, *(f" {one}" for one in said), ended=True, model=writer)
    rows = np.array([(one.total, len(one.tokens)) for one in found], dtype=float)
    return rows[: len(question.human)], rows[len(question.human) :]


def _claims(subject: Subject) -> Iterator[Claim]:
    yield claim(
        f"{subject.title}: human explanations are likelier to the writer with its adapter than to its base",
        Evidence("perplexity, adapter - base", subject.gap((WRITER, ALL), (BASE, ALL)), lower),
        digits=2,
        key="adapter",
        about=subject.title,
    )


PART = PartSpec(
    name="perplexity",
    title=_TITLE,
    measure=on_each(_measure),
    tables=[TableSpec(name="perplexity", title=_TITLE, rows=_ROWS, better="lower", digits=2)],
    claims=[_claims],
    published=PAPER,
)

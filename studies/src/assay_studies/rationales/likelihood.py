"""How likely human explanations are to the writer: perplexity by token, with the adapter and without.

    perplexity = exp( - sum over texts of log p(explanation | prompt) / sum of its tokens )

The prompt is that of rationalising with the right answer, and the token that ends a text is one of them.
"""

from __future__ import annotations

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

_WRITERS = {WRITER: "with the adapter", BASE: "the base"}
_TITLE = "Perplexity of what people wrote"


def perplexity(means: Floats) -> Floats:
    """Of the mean log-probability and the mean number of tokens of a text [..., 2]."""
    return np.asarray(np.exp(-means[..., 0] / means[..., 1]))


def _measure(task: Task) -> Subject:
    task.request.say(f"{task.title}: perplexity")
    rows = {name: np.array(task.ask(_read(one, name) for one in task.read)) for name in _WRITERS}
    return Subject(task.name, task.title, {name: Values(found, perplexity) for name, found in rows.items()})


def _read(question: Question, writer: str) -> Conversation[tuple[float, int]]:
    """Log p of all that people wrote about a question, and how many tokens that is."""
    prompt = Cage().prompt(Text.of(question.text), question.choices, question.answer)
    found = yield Likelihood(prompt, *(f" {said}" for said in question.human), ended=True, model=writer)
    return sum(one.total for one in found), sum(len(one.tokens) for one in found)


def _claims(subject: Subject) -> Iterator[Claim]:
    yield claim(
        f"{subject.title}: human explanations are likelier to the writer with its adapter than to its base",
        Evidence("perplexity, adapter - base", subject.gap(WRITER, BASE), lower),
        digits=2,
        key="adapter",
        about=subject.title,
    )


PART = PartSpec(
    name="perplexity",
    title=_TITLE,
    measure=on_each(_measure),
    tables=[TableSpec(name="perplexity", title=_TITLE, rows=_WRITERS, better="lower", digits=2)],
    claims=[_claims],
    published=PAPER,
)

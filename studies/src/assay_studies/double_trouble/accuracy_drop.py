"""Table 4: how much accuracy is lost when words are deleted or replaced.

LOO    every word deleted in turn, the mean over the words of a text
IM     every word replaced in turn by the likeliest word of the masked language model, be it the same word
LIME   samples of LIME: a uniform number of words deleted at random

In points of accuracy, over all texts, right and wrong predictions alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from assay.explanations.case import Case
from assay.methods.input_features.lime import neighbours
from assay.questions.base import Conversation
from assay.questions.erasers import each
from assay.questions.fill import Fill
from assay.questions.predict import Predict
from assay.text.text import Text
from assay.text.variants import Variants
from assay_studies.claims import Claim, Evidence, below, claim, higher
from assay_studies.double_trouble.tasks import DATASETS, NOT_MEASURED, PAPER, Task
from assay_studies.specification import PartSpec, Subject, TableSpec, Values, on_each

_WAYS = {
    "LOO": "LOO (one word deleted)",
    "IM": "IM (one word replaced)",
    "LIME": "LIME (many words deleted)",
}
_MARGINAL = 5.0  # points: what the paper calls marginal reaches from 1 to 5
_TIMES = 3.0  # LIME's samples cost the paper's classifiers 5 to 16 times as much
_TITLE = "Table 4: points of accuracy that are lost"


def _measure(task: Task) -> Subject:
    """For every text, what is lost in each way."""
    task.say(f"{task.title}: accuracy when words go")
    truth = [task.engine.model.labels.index(str(example.label)) for example in task.examples]
    rows = task.ask(_still_right(case, t, task.sizes.drop_samples) for case, t in zip(task.cases, truth, strict=True))
    right = np.array(rows)
    measures = {way: Values(100 * (task.correct - right[:, i])) for i, way in enumerate(_WAYS)}
    return Subject(task.name, task.title, measures)


def _still_right(case: Case, truth: int, samples: int) -> Conversation[list[float]]:
    """The share of the changed texts that are still predicted right, for each way of changing them."""
    text = case.text
    fills = yield Fill(Variants(text, each(len(text))), model="mlm", k=10)
    deleted, sampled = (
        Variants(text, each(len(text))),
        Variants(text, neighbours(case.generator(), len(text), samples)[1:]),
    )
    answers = yield Predict(deleted, _replaced(text, [fill.words[0][0] for fill in fills]), sampled)
    hit, n = answers.argmax() == truth, len(text)
    return [float(part.mean()) for part in np.split(hit, [n, 2 * n])]


def _replaced(text: Text, words: Sequence[str]) -> Variants:
    """Each word in turn replaced by its own candidate."""
    new = np.broadcast_to(np.array(words, dtype=object)[:, None], (len(words), len(words)))
    return Variants(text, each(len(words)), new)


def _claims(subject: Subject) -> Iterator[Claim]:
    one, many = subject.values("LOO"), subject.values("LIME")
    yield claim(
        f"{subject.title}: deleting one word costs little accuracy, less than {_MARGINAL:g} points (section 5.4)",
        Evidence("loss", one.estimate(), below(_MARGINAL), PAPER.text("table_4", "LOO", subject.name)),
        digits=2,
        key="one_word",
        about=subject.title,
    )
    yield claim(
        f"{subject.title}: LIME's samples cost much more accuracy, at least {_TIMES:g} times as much (section 6)",
        Evidence(f"loss by LIME less {_TIMES:g} times that by one word", many - Values(_TIMES * one.columns), higher),
        Evidence("loss by LIME", many.estimate(), None, PAPER.text("table_4", "LIME", subject.name)),
        Evidence("loss by one word", one.estimate()),
        digits=2,
        key="lime_cost",
        about=subject.title,
    )


PART = PartSpec(
    name="table_4",
    title=_TITLE,
    measure=on_each(_measure),
    tables=[
        TableSpec(name="table_4", title=_TITLE, rows=_WAYS, columns=DATASETS, digits=2, missing=NOT_MEASURED),
    ],
    claims=[_claims],
    published=PAPER,
)

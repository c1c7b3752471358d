"""Table 4: how much accuracy is lost when words are deleted or replaced.

LOO    every word deleted in turn, the mean over the words of a text
IM     every word replaced in turn by the likeliest word of the masked language model, be it the same word
LIME   samples of LIME: a uniform number of words deleted at random

In points of accuracy, over all texts, right and wrong predictions alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from assay.explanations.case import Case
from assay.methods.input_features.lime import neighbours
from assay.questions.base import Conversation
from assay.questions.erasers import each
from assay.questions.fill import Fill
from assay.questions.predict import Predict
from assay.statistics.arrays import Floats
from assay.text.text import Text
from assay.text.variants import Variants
from assay_studies.claims import Claim, all_of, higher, lower, told
from assay_studies.double_trouble.published import TABLE_4
from assay_studies.double_trouble.tasks import COLUMNS, Task, left_out
from assay_studies.estimates import Estimate, difference, estimate
from assay_studies.findings import Part
from assay_studies.tables import Cell, Line, Table

_WAYS = {
    "LOO": "LOO (one word deleted)",
    "IM": "IM (one word replaced)",
    "LIME": "LIME (many words deleted)",
}
_MARGINAL = 5.0  # points: what the paper calls marginal reaches from 1 to 5
_TIMES = 3.0  # LIME's samples cost the paper's classifiers 5 to 16 times as much


def part(tasks: Iterable[Task]) -> Part:
    """The losses and the claims about them."""
    listed = list(tasks)
    found = {task.name: _drops(task) for task in listed}
    lines = tuple(Line(_WAYS[way], tuple(_cell(found, way, name) for name in COLUMNS)) for way in _WAYS)
    title = "Table 4: points of accuracy that are lost"
    table = Table("table_4", title, tuple(COLUMNS.values()), lines, "", 2, left_out(listed))
    claims = tuple(claim for name, drops in found.items() for claim in _claims(COLUMNS[name], drops))
    return Part("table_4", title, (table,), claims)


def _drops(task: Task) -> dict[str, Floats]:
    """For every text, what is lost in each way."""
    task.say(f"{task.title}: accuracy when words go")
    truth = [task.engine.model.labels.index(str(example.label)) for example in task.examples]
    rows = task.ask(_kept(case, t, task.sizes.drop_samples) for case, t in zip(task.cases, truth, strict=True))
    right = np.array(rows)
    return {way: 100 * (task.correct - right[:, i]) for i, way in enumerate(_WAYS)}


def _kept(case: Case, truth: int, samples: int) -> Conversation[list[float]]:
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


def _cell(found: Mapping[str, Mapping[str, Floats]], way: str, task: str) -> Cell:
    return Cell(estimate(found[task][way]) if task in found else None, TABLE_4[way][task])


def _claims(title: str, drops: Mapping[str, Floats]) -> Iterator[Claim]:
    one = estimate(drops["LOO"] - _MARGINAL)
    yield Claim(
        f"{title}: deleting one word costs little accuracy, less than {_MARGINAL:g} points (section 5.4)",
        lower(one),
        told({"loss": estimate(drops["LOO"])}, 2),
    )
    much: Estimate | None = difference(drops["LIME"], _TIMES * drops["LOO"])
    yield Claim(
        f"{title}: LIME's samples cost much more accuracy, at least {_TIMES:g} times as much (section 6)",
        all_of([higher(much)]),
        told({"loss by LIME": estimate(drops["LIME"]), "loss by one word": estimate(drops["LOO"])}, 2),
    )

"""Why are our adversaries farther from the base than the published ones at lambda 0? Two attempts at the cause.

What a TVD counts: the released code takes half of the definition (see assay.training.adversary), so half of ours is
shown too. How the epoch is chosen: the paper says by the objective on the test texts, while the released script takes
that of the lowest training loss, as the study does; so the adversary of lambda 0 is trained once more with the epoch
chosen on the test texts. Beside both stands another seed of the base, which has learned the gold labels and not the
answers.
"""

from __future__ import annotations

from assay.statistics.intervals import mean_over_seeds
from assay_studies.attention_is_not_not_explanation.intervals import interval
from assay_studies.attention_is_not_not_explanation.tasks import PAPER, Task
from assay_studies.specification import Key, PartSpec, Quantity, Subject, TableSpec, on_each
from assay_studies.tables import Cell

_WAYS = {"train": "epoch of the lowest training loss", "test": "epoch of the lowest loss on test, as printed"}
_HALF = "half of it, as the released code counts"
_COLUMNS = ("F1", "TVD", "JSD")
_SEEDS = "another seed of the base"
_TITLE = "Adversaries of lambda 0: how far the answers are from the base's"


def _measure(task: Task) -> Subject:
    n = len(task.split.test)
    measures: dict[Key, Quantity] = {}
    for way, found in (("train", task.adversaries), ("test", task.chosen_on_test)):
        place = found.lambdas.index(0.0)
        row = found.table()[place]
        measures |= {(way, column): interval(row[column.lower()], n) for column in _COLUMNS}
        if way == "train":
            half = interval(mean_over_seeds(found.curve.tvd[place] / 2), n)
            printed = {column: PAPER.text("table_5", f"{task.name}, 0", column) for column in _COLUMNS}
            measures["half", "TVD"] = Cell(half, printed["TVD"])
            measures |= {(way, c): Cell(interval(row[c.lower()], n), printed[c]) for c in _COLUMNS if c != "TVD"}
    measures |= {("seeds", "TVD"): interval(task.seeds.mean_tvd, n)}
    measures |= {("seeds", "JSD"): interval(task.seeds.mean_jsd, n)}
    return Subject(task.name, task.title, measures)


def wanted(task: Task) -> bool:
    """One dataset is enough: the adversary is one more long training."""
    return task.name == "sst"


PART = PartSpec(
    name="selection",
    title="Does the choice of the epoch explain the distance of our adversaries?",
    measure=on_each(_measure),
    tables=[
        TableSpec(
            name="selection",
            title=_TITLE,
            rows={**_WAYS, "half": _HALF, "seeds": _SEEDS},
            columns=_COLUMNS,
            layout="rows",
        )
    ],
    published=PAPER,
    wants=wanted,
)

"""Why are our adversaries farther from the base than the published ones at lambda 0? One attempt at the cause.

The paper says that the best epoch is chosen by the objective on the test texts, while the released script takes that of
the lowest training loss, as the study does. Here the adversary of lambda 0 is trained once more with the epoch chosen
on the test texts. Beside both stands another seed of the base, which has learned the gold labels and not the answers.
"""

from __future__ import annotations

from assay.statistics.intervals import mean_over_seeds
from assay_studies.attention_is_not_not_explanation.intervals import interval
from assay_studies.attention_is_not_not_explanation.tasks import PAPER, Task
from assay_studies.specification import Key, PartSpec, Quantity, Subject, TableSpec, on_each

_WAYS = {"train": "epoch of the lowest training loss", "test": "epoch of the lowest loss on test, as printed"}
_SEEDS = "another seed of the base"
_TITLE = "Adversaries of lambda 0: how far the answers are from the base's"


def _measure(task: Task) -> Subject:
    n = len(task.split.test)
    measures: dict[Key, Quantity] = {}
    for way, found in (("train", task.adversaries), ("test", task.chosen_on_test)):
        place = found.lambdas.index(0.0)
        row = found.table()[place]
        measures |= {(way, "F1"): interval(row["f1"], n), (way, "TVD"): interval(row["tvd"], n)}
        measures[way, "JSD"] = interval(row["jsd"], n)
    measures |= {("seeds", "TVD"): interval(mean_over_seeds(task.seeds.tvd), n)}
    measures |= {("seeds", "JSD"): interval(task.seeds.mean_jsd, n)}
    return Subject(task.name, task.title, measures)


PART = PartSpec(
    name="selection",
    title="Does the choice of the epoch explain the distance of our adversaries?",
    measure=on_each(_measure),
    tables=[
        TableSpec(
            name="selection",
            title=_TITLE,
            rows={**_WAYS, "seeds": _SEEDS},
            columns=("F1", "TVD", "JSD"),
            layout="rows",
        )
    ],
    published=PAPER,
)

"""How well a model of the study does on the test texts, and what saying always the same would do.

F1 of the second class where there are two, accuracy where there are more (the micro-F1 of SNLI is the same number).
"""

from __future__ import annotations

from collections import Counter

from assay.statistics.intervals import Estimate, ratio
from assay_studies.attention_is_not_explanation.tasks import Task
from assay_studies.specification import Values


def performance(task: Task) -> Estimate | None:
    if len(task.answers.labels) == 2:
        return Values(task.f1_columns, ratio).estimate()
    return Values(task.right).estimate()


def commonest(task: Task) -> float:
    """The share of the commonest class; of two classes the F1 of saying the second one always."""
    counts, n = Counter(example.label for example in task.test), len(task.test)
    if len(task.answers.labels) == 2:
        share = counts[task.answers.labels[1]] / n
        return 2 * share / (1 + share)
    return max(counts.values()) / n

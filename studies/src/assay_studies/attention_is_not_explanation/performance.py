"""How well a model of the study does on the test texts, and what saying always the same would do.

F1 of the second class where there are two, accuracy where there are more (the micro-F1 of SNLI is the same number).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from assay.statistics.arrays import Floats, Ints
from assay.statistics.intervals import Estimate, estimate, estimate_over_seeds, ratio
from assay.statistics.intervals import over_seeds as resampled_seeds
from assay_studies.attention_is_not_explanation.tasks import Task


def performance(task: Task) -> Estimate | None:
    """Of all seeds together, where there are several."""
    if len(task.answers.labels) == 2:
        return over_seeds(task, lambda one: one.f1_columns[:, 0], lambda one: one.f1_columns[:, 1])
    return over_seeds(task, lambda one: one.right)


def over_seeds(
    task: Task, values: Callable[[Task], Floats], parts: Callable[[Task], Floats] | None = None
) -> Estimate | None:
    """The mean of a number of each text, NaN where it has none; or the sum of `values` over that of `parts`.

    The interval is over texts and seeds. None where a seed has no such number at all.
    """
    found = np.stack([values(one) for one in (task, *task.others)])
    known = ~np.isnan(found)
    below = known.astype(np.float64) if parts is None else np.stack([parts(one) for one in (task, *task.others)])
    above = np.where(known, found, 0.0)
    if not below.sum(axis=1).all():
        return None
    texts = int(known.any(axis=0).sum())
    if len(found) == 1:
        return estimate(np.stack([above[0], below[0]], axis=1)[known[0]], ratio)

    def statistic(counts: Floats, seeds: Ints) -> Floats:
        return resampled_seeds(np.divide(counts @ above.T, counts @ below.T), seeds)

    all_texts = estimate_over_seeds(found.shape[1], len(found), statistic)
    return Estimate(all_texts.value, all_texts.low, all_texts.high, texts)


def commonest(task: Task) -> float:
    """The share of the commonest class; of two classes the F1 of saying the second one always."""
    counts, n = Counter(example.label for example in task.test), len(task.test)
    if len(task.answers.labels) == 2:
        share = counts[task.answers.labels[1]] / n
        return 2 * share / (1 + share)
    return max(counts.values()) / n

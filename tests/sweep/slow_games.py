"""Black-box methods by hand: words are taken out of the string, which is encoded anew each time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from math import factorial

import numpy as np
from sklearn.linear_model import Ridge

from sweep.slow_rows import SlowTask

Tree = int | tuple["Tree", "Tree"]


def value(task: SlowTask, there: Sequence[bool] | set[int]) -> float:
    """The explained number with only these words."""
    kept = there if isinstance(there, set) else {i for i, is_there in enumerate(there) if is_there}
    return task.value([word if i in kept else None for i, word in enumerate(task.words)])


def leave_one_out(task: SlowTask) -> np.ndarray:
    every = set(range(len(task.words)))
    return np.array([value(task, every) - value(task, every - {i}) for i in sorted(every)])


def shapley(task: SlowTask) -> np.ndarray:
    """The mean of what each word adds, over all orders."""
    n = len(task.words)
    return _mean_over_orders(task, permutations(range(n)), factorial(n))


def owen(task: SlowTask) -> np.ndarray:
    """The same over the orders in which every group of words stands together."""
    orders = list(_orders(_halves([_halves(group) for group in groups(task)])))
    return _mean_over_orders(task, iter(orders), len(orders))


def groups(task: SlowTask) -> list[list[int]]:
    """The words before, at and behind the place that is explained, where there is one; else all together."""
    n, at = len(task.words), getattr(task, "chosen", None)
    if at is None:
        return [list(range(n))]
    middle = [at] if type(task).__name__ == "Tagging" else []
    parts = [list(range(at)), middle, list(range(at + len(middle), n))]
    return [part for part in parts if part]


def _mean_over_orders(task: SlowTask, orders: Iterator[Sequence[int]], many: int) -> np.ndarray:
    total = np.zeros(len(task.words))
    for order in orders:
        there: set[int] = set()
        for i in order:
            total[i] += value(task, there | {i}) - value(task, there)
            there.add(i)
    return total / many


def _halves(parts: Sequence[Tree]) -> Tree:
    if len(parts) == 1:
        return parts[0]
    middle = (len(parts) + 1) // 2
    return _halves(parts[:middle]), _halves(parts[middle:])


def _orders(tree: Tree) -> Iterator[tuple[int, ...]]:
    if isinstance(tree, int):
        yield (tree,)
        return
    for left in _orders(tree[0]):
        for right in _orders(tree[1]):
            yield left + right
            yield right + left


def lime(task: SlowTask, chance: np.random.Generator, samples: int) -> np.ndarray:
    """Weighted ridge regression on versions of the text, drawn as Assay draws them."""
    n = len(task.words)
    gone = chance.integers(1, n, size=samples - 1, endpoint=True)
    keys = chance.random((samples - 1, n))
    kept = np.ones((samples, n), dtype=bool)
    for k, (many, key) in enumerate(zip(gone, keys, strict=True), start=1):
        kept[k, np.argsort(key)[:many]] = False
    distance = 100 * (1 - np.sqrt(kept.mean(axis=1)))
    near = np.sqrt(np.exp(-((distance / 25) ** 2)))
    values = np.array([value(task, row.tolist()) for row in kept])
    return Ridge(alpha=1.0).fit(kept.astype(float), values, sample_weight=near).coef_

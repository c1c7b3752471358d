"""What a card reports: shares with Wilson intervals, means with bootstrap intervals, and calibration.

ECE = sum_b n_b / n |accuracy_b - confidence_b|,  15 bins of equal width         (Guo et al. 2017, arXiv:1706.04599)
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Z = 1.959964
BINS = 15


def wilson(hits: float, n: int) -> tuple[float, float]:
    """The 95 % interval of a share."""
    share, z2 = hits / n, Z * Z
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def bootstrap(values: Numbers, rounds: int = 2000, seed: int = 0) -> tuple[float, float]:
    """The 95 % interval of a mean."""
    rng = np.random.default_rng(seed)
    means = [values[rng.integers(0, len(values), len(values))].mean() for _ in range(rounds)]
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


def ece(confidence: Numbers, correct: Numbers) -> float:
    """The expected calibration error."""
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = [abs((correct - confidence)[bins == b].sum()) for b in range(BINS)]
    return float(sum(gaps) / len(correct))


def share(correct: Numbers, confidence: Numbers) -> dict[str, Any]:
    """An accuracy as a card holds it."""
    low, high = wilson(float(correct.sum()), len(correct))
    return {
        "n": len(correct),
        "accuracy": float(correct.mean()),
        "interval": [low, high],
        "ece": ece(confidence, correct),
    }


def mean(values: Numbers) -> dict[str, Any]:
    """A mean as a card holds it."""
    return {"n": len(values), "mean": float(values.mean()), "interval": list(bootstrap(values))}


def labelled(probabilities: Numbers, targets: NDArray[np.int64], labels: tuple[str, ...]) -> dict[str, Any]:
    """A classifier's figures on one part: accuracy, calibration, and the recall of each label."""
    guesses = probabilities.argmax(1)
    correct = (guesses == targets).astype(float)
    recall = {label: float(correct[targets == i].mean()) for i, label in enumerate(labels) if (targets == i).any()}
    return share(correct, probabilities.max(1)) | {
        "recall": recall,
        "confusion": worst_confusion(guesses, targets, labels),
    }


def worst_confusion(guesses: NDArray[np.int64], targets: NDArray[np.int64], labels: tuple[str, ...]) -> dict[str, Any]:
    """The mistake that is made most often."""
    table = np.zeros((len(labels), len(labels)), int)
    np.add.at(table, (targets, guesses), 1)
    np.fill_diagonal(table, 0)
    true, taken = np.unravel_index(table.argmax(), table.shape)
    return {"true": labels[true], "taken_for": labels[taken], "rows": int(table.max())}

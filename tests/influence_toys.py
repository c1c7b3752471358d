"""A small training set with words that say the label, and bags of words that are fitted to it to the last digit."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from assay.models import TextModel
from assay.training.bag import Bag

GOOD, BAD = "warm clever lively fresh superb funny".split(), "dull weak clumsy tired awful flat".split()
THINGS = "film plot cast music script ending story".split()


@cache
def reviews(n: int = 60, seed: int = 0, flipped: float = 0.05) -> tuple[tuple[str, str], ...]:
    """Texts of a few words and their labels, some of which are wrong."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        label = int(rng.integers(2))
        judged = rng.choice(GOOD if label else BAD, rng.integers(1, 3), replace=False).tolist()
        if rng.random() < 0.3:
            judged.append(str(rng.choice(BAD if label else GOOD)))
        words = [*judged, *rng.choice(THINGS, rng.integers(1, 4), replace=False).tolist()]
        said = label if rng.random() >= flipped else 1 - label
        rows.append((" ".join(rng.permutation(words).tolist()), ("bad", "good")[said]))
    return tuple(rows)


def fit(rows: Any, out: Path, **settings: Any) -> TextModel:
    how = Bag(**settings)
    how.make([(text,) for text, _ in rows], [label for _, label in rows], 0, out)
    return how.open(out)


@cache
def fitted(n: int = 60, **settings: Any) -> TextModel:
    return fit(reviews(n), Path(mkdtemp()) / "bag", **settings)

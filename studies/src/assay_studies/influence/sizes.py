"""How large the study is: a few minutes on a GPU, or with --quick on a core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from assay_studies.sizing import Sizing


@dataclass(frozen=True)
class Sizes(Sizing):
    """Training texts and explained texts.

    `bag`, `attentive` and `encoder` are the training texts of each model in which labels are changed; a model of size 0
    is left out everywhere. `folds` are the models that were trained without a row. `rows` are the training texts of
    which `subsets` random halves are trained on, `queries` the explained texts. `planted` are the training texts with a
    cue, `pairs` those of the encoder with overlap as the cue, `probes` the texts in which the cue is wrong, `draws` the
    random removals. `left_out` rows are left out one by one.
    """

    bag: int = 2000
    attentive: int = 8000
    encoder: int = 2400
    folds: int = 4
    rows: int = 400
    subsets: int = 60
    queries: int = 40
    planted: int = 1000
    pairs: int = 2000
    probes: int = 40
    draws: int = 8
    left_out: int = 100

    small: ClassVar[Mapping[str, int]] = {
        "bag": 200,
        "attentive": 160,
        "encoder": 40,
        "folds": 2,
        "rows": 40,
        "subsets": 4,
        "queries": 4,
        "planted": 80,
        "pairs": 60,
        "probes": 6,
        "draws": 2,
        "left_out": 16,
    }

"""How large the study is: a few minutes on a GPU, or on two cores with --quick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from assay_studies.sizing import Sizing


@dataclass(frozen=True)
class Sizes(Sizing):
    """The texts that are edited, and what else is counted.

    A dataset of size 0 is left out. `paraphrased` of its texts are given to SEA, which is slow without a GPU.
    `searched` texts of each dataset are searched for rules of words (half of them; on the other half they are
    reported), `further` texts are those on which the rules are tried once more. Judges learn from `judged` texts at
    most. `draws` random versions are compared with every edit.
    """

    sst2: int = 150
    snli: int = 150
    ag_news: int = 100
    imdb: int = 100
    paraphrased: int = 60
    searched: int = 300
    further: int = 200
    judged: int = 30_000
    draws: int = 3

    small: ClassVar[Mapping[str, int]] = {
        **{"sst2": 8, "snli": 6, "ag_news": 3, "imdb": 0, "paraphrased": 4},
        **{"searched": 24, "further": 24, "judged": 3_000, "draws": 1},
    }

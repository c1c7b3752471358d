"""How large the study is: four datasets, eight seeds, a sweep of adversaries; or SST alone in minutes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from assay_studies.sizing import Sizing


@dataclass(frozen=True)
class Sizes(Sizing):
    """Which datasets (0 or 1), how many seeds and lambdas, how long is trained; `train` texts, 0 for all.

    `seeds` are those beside the base; uniform attention is compared with the learned one over `uniform_seeds`, MLPs
    over `guide_seeds`; adversaries are trained with `adversary_seeds`, each with a base of its own; on `sought` test
    texts attention is sought text by text. A `test_...` of 0 is left out, and so is what is sought on 0 texts: a run of
    some of the tests finds what earlier runs kept, and a page of it replaces what it has. Without `glove` (0) word
    vectors begin as random numbers. 20 News is so small that the published 8 epochs are 288 steps, after which a model
    with uniform attention has not learned its training texts; whoever gives it more chose that after the test numbers
    were seen, and the verdict says so.
    """

    sst: int = 1
    imdb: int = 1
    newsgroups: int = 1
    ag_news: int = 1
    seeds: int = 8
    uniform_seeds: int = 5
    guide_seeds: int = 5
    adversary_seeds: int = 3
    lambdas: int = 6
    epochs: int = 8
    imdb_epochs: int = 8
    newsgroups_epochs: int = 8
    adversary_epochs: int = 40
    sst_adversary_epochs: int = 80
    imdb_adversary_epochs: int = 40
    patience: int = 10
    sought: int = 500
    test_uniform: int = 1
    test_seeds: int = 1
    test_guides: int = 1
    test_adversaries: int = 1
    glove: int = 1
    train: int = 0

    small: ClassVar[Mapping[str, int]] = {
        **dict.fromkeys(("imdb", "newsgroups", "ag_news"), 0),
        **dict.fromkeys(("uniform_seeds", "guide_seeds", "adversary_seeds"), 1),
        **dict.fromkeys(("adversary_epochs", "sst_adversary_epochs"), 4),
        **{"seeds": 2, "lambdas": 3, "epochs": 3, "patience": 2, "sought": 100},
    }

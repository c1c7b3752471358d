"""How large the study is: all datasets and models, or SST alone in minutes on two cores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from assay_studies.sizing import Sizing


@dataclass(frozen=True)
class Sizes(Sizing):
    """Which datasets (0 or 1), how long is trained, and how much of the test part is audited how thoroughly.

    The BiLSTM with additive attention is trained with so many `seeds`, the other models once. `audited` texts are taken
    evenly from the test part, 0 for all of it; so are `train` texts. Without `glove` (0) word vectors begin as random
    numbers.
    """

    sst: int = 1
    imdb: int = 1
    newsgroups: int = 1
    ag_news: int = 1
    babi_1: int = 1
    babi_2: int = 1
    babi_3: int = 1
    snli: int = 1
    cnn_encoder: int = 1
    average_encoder: int = 1
    dot_attention: int = 1
    seeds: int = 3
    epochs: int = 8
    imdb_epochs: int = 8
    question_epochs: int = 25
    babi_epochs: int = 100
    glove: int = 1
    train: int = 0
    audited: int = 0
    permutations: int = 100
    adversaries: int = 5
    steps: int = 500

    small: ClassVar[Mapping[str, int]] = {
        **dict.fromkeys(("imdb", "newsgroups", "ag_news", "babi_1", "babi_2", "babi_3", "snli"), 0),
        **{"cnn_encoder": 0, "dot_attention": 0, "seeds": 1, "epochs": 4, "audited": 400},
    }

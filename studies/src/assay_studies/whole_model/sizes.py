"""How large the study is: about an hour on two cores, minutes with a card or with --quick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from assay_studies.sizing import Sizing


@dataclass(frozen=True)
class Sizes(Sizing):
    """What each part is measured on; a part of size 0 is left out.

    `hans` pairs of each of 30 cases and `shuffled` SNLI pairs for the heuristics; `stereotypes` pairs of each kind;
    `words` of a treebank that probes are trained on, and `few` for the probes that get little; `mlp` words for a probe
    with a hidden layer; `concept` pairs of a concept, by all heads; `vocabulary` words that are rotated; `neurons`
    texts that formulas are searched on.
    """

    hans: int = 1000
    shuffled: int = 3000
    stereotypes: int = 1000
    words: int = 200_000
    few: int = 2000
    mlp: int = 20_000
    concept: int = 100
    vocabulary: int = 2000
    neurons: int = 3000
    draws: int = 200

    small: ClassVar[Mapping[str, int]] = {
        "hans": 8,
        "shuffled": 80,
        "stereotypes": 3,
        "words": 3000,
        "few": 300,
        "mlp": 600,
        "concept": 2,
        "vocabulary": 300,
        "neurons": 240,
        "draws": 20,
    }

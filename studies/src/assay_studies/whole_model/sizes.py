"""How large the studies are: what each part is measured on; a part of size 0 is left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from assay_studies.sizing import Sizing


@dataclass(frozen=True)
class ConceptSizes(Sizing):
    """Pairs of a concept, by all heads: `professions` (short texts), and `sentences` of WinoBias and Winogender."""

    professions: int = 100
    sentences: int = 20
    draws: int = 200

    small: ClassVar[Mapping[str, int]] = {"professions": 2, "sentences": 1, "draws": 20}


@dataclass(frozen=True)
class VocabularySizes(Sizing):
    """`vocabulary` words that are rotated."""

    vocabulary: int = 2000
    draws: int = 200

    small: ClassVar[Mapping[str, int]] = {"vocabulary": 300, "draws": 20}


@dataclass(frozen=True)
class LinguisticSizes(Sizing):
    """`hans` pairs of each of 30 cases, `shuffled` SNLI pairs, `stereotypes` pairs of each kind; probes learn from
    `words` of a treebank, from `few`, and those with a hidden layer from `mlp`.
    """

    hans: int = 1000
    shuffled: int = 3000
    stereotypes: int = 1000
    words: int = 200_000
    few: int = 2000
    mlp: int = 20_000
    draws: int = 200

    small: ClassVar[Mapping[str, int]] = {
        "hans": 8,
        "shuffled": 80,
        "stereotypes": 3,
        "words": 3000,
        "few": 300,
        "mlp": 600,
        "draws": 20,
    }


@dataclass(frozen=True)
class NeuronSizes(Sizing):
    """`neurons` texts that formulas are searched on."""

    neurons: int = 3000
    draws: int = 200

    small: ClassVar[Mapping[str, int]] = {"neurons": 240, "draws": 20}

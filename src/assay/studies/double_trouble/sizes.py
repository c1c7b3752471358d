"""How large the study is: all of it, meant for a GPU, or a small one in minutes on two cores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Self

from assay.errors import UnknownName


@dataclass(frozen=True)
class Sizes:
    """Texts, samples and seeds; of a file that has more rows, as many are taken evenly spread over it."""

    sst2: int = 872
    esnli: int = 1000
    lime_samples: int = 1000
    lime_bert_samples: int = 100
    drop_samples: int = 50
    sanity_texts: int = 200
    sanity_seeds: int = 3
    threshold_texts: int = 30
    roar_train: int = 0
    roar_seeds: int = 5

    @classmethod
    def of(cls, quick: bool, changes: Mapping[str, int]) -> Self:
        known = [f.name for f in fields(cls)]
        for name in changes:
            if name not in known:
                raise UnknownName.of("size of the study", name, known)
        return replace(cls(**_QUICK) if quick else cls(), **changes)


_QUICK = {
    "sst2": 60,
    "esnli": 30,
    "lime_samples": 100,
    "lime_bert_samples": 50,
    "drop_samples": 20,
    "sanity_texts": 20,
    "sanity_seeds": 1,
    "threshold_texts": 0,
}

"""How large the study is: all of it, meant for a GPU, or a small one in minutes on two cores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import ClassVar

from assay_studies.sizing import Sizing

# What only some parts depend on: another number of it leaves the other parts as they are.
_LIME = ("table_1", "table_1b", "table_3")
_ONLY = {
    **dict.fromkeys(("roar_train", "roar_seeds", "roar_filled"), ("table_2", "table_a6")),
    "roar_deleted": ("table_2",),
    **dict.fromkeys(("roar_lime", "roar_lime_samples"), ("table_a6",)),
    **dict.fromkeys(("lime_samples", "lime_bert_samples"), _LIME),
    **dict.fromkeys(("sanity_texts", "sanity_seeds"), ("table_a5",)),
    "mlm_train": ("table_1b", "table_3", "table_a6"),
    "drop_samples": ("table_4",),
    "threshold_texts": ("table_a4",),
    "multirc_train": (),
}


@dataclass(frozen=True)
class Sizes(Sizing):
    """Texts, samples and seeds; of a file that has more rows, as many are taken evenly spread over it.

    0 leaves out what is trained: mlm_train the masked language model that knows SST-2, multirc_train all of MultiRC,
    roar_train Tables 2 and A6, roar_deleted the metric ROAR of Table 2, roar_filled the metrics that fill holes,
    roar_lime Table A6, of which it is the number of metrics (ROAR, ROAR_BERT, ROAR_BERT_SST2). `random_maps` are the
    random explanations of each text that stand beside those of a method in its verdicts.
    """

    sst2: int = 872
    esnli: int = 1000
    multirc: int = 200
    multirc_train: int = 27_243
    mlm_train: int = 20_000
    lime_samples: int = 1000
    lime_bert_samples: int = 1000
    drop_samples: int = 50
    sanity_texts: int = 200
    sanity_seeds: int = 10
    threshold_texts: int = 30
    roar_train: int = 0
    roar_seeds: int = 5
    roar_deleted: int = 1
    roar_filled: int = 1
    roar_lime: int = 0
    roar_lime_samples: int = 100
    random_maps: int = 1

    small: ClassVar[Mapping[str, int]] = {
        "sst2": 60,
        "esnli": 30,
        "multirc_train": 0,
        "mlm_train": 0,
        "lime_samples": 100,
        "lime_bert_samples": 100,
        "drop_samples": 20,
        "sanity_texts": 20,
        "sanity_seeds": 1,
        "threshold_texts": 0,
    }

    def of_part(self, name: str) -> dict[str, int]:
        """The numbers that a part depends on."""
        return {size: count for size, count in asdict(self).items() if name in _ONLY.get(size, (name,))}

"""How large the study is: hours on two cores, or minutes with --quick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import ClassVar

from assay_studies.sizing import Sizing

# What only some parts depend on: another number of it leaves the other parts as they are.
_ONLY = {
    "draws": ("random_removal", "transfer"),
    "checkpoints": ("transfer", "checkpoints"),
    "checkpoint_texts": ("checkpoints",),
    "glove": ("transfer", "checkpoints"),
    "people": (),
    "exhaustive": ("agreement",),
    **dict.fromkeys(("per_label", "second_epochs", "drqa_train", "drqa_epochs"), ("transfer",)),
    **dict.fromkeys(
        ("mend_train", "mend_reduced", "mend_epochs", "mend_rank", "mend_floor", "mend_squad"), ("table_2",)
    ),
}


@dataclass(frozen=True)
class Sizes(Sizing):
    """The number of texts of each task (0 leaves it out), and how much is trained.

    `draws` is how many random versions a text has (0 leaves random removal and transfer out), `per_label` how many
    texts of each label are given to the second model. The second models: `second_epochs` for decomposable attention,
    `checkpoints` epochs for the attentive model (each of them is reduced, on `checkpoint_texts` texts), `drqa_train`
    questions for the reader; 0 leaves one out. Mending learns from `mend_train` texts, of which `mend_reduced` are
    reduced, that of the span reader from `mend_squad` questions, of which half are reduced (0 leaves it out), by
    low-rank changes of `mend_rank` (0: all weights); `mend_floor` is the per cent of confidence that reduced texts must
    keep in a second mending (released: 90; 0 leaves it out). `people` texts of each task are exported. `exhaustive` (0)
    leaves section 2.1 out, which tries every word at every step. Without `glove` (0) word vectors begin as random
    numbers.
    """

    snli: int = 1000
    sst: int = 872
    squad: int = 300
    scenes: int = 300
    beam: int = 5
    draws: int = 10
    per_label: int = 50
    second_epochs: int = 15
    drqa_train: int = 10_000
    drqa_epochs: int = 6
    scene_train: int = 6000
    scene_epochs: int = 20
    mend_train: int = 4000
    mend_reduced: int = 2000
    mend_squad: int = 2000
    mend_epochs: int = 3
    mend_rank: int = 8
    mend_floor: int = 90
    checkpoints: int = 6
    checkpoint_texts: int = 300
    people: int = 200
    exhaustive: int = 1
    glove: int = 1

    small: ClassVar[Mapping[str, int]] = {
        **{"snli": 40, "sst": 30, "squad": 10, "scenes": 30, "draws": 5, "drqa_train": 0, "second_epochs": 3},
        **{"scene_train": 3000, "mend_train": 200, "mend_reduced": 60, "mend_squad": 0, "mend_epochs": 1},
        **{"checkpoints": 2, "checkpoint_texts": 30, "people": 20},
    }

    def of_part(self, name: str) -> dict[str, int]:
        """The numbers that a part depends on."""
        return {size: count for size, count in asdict(self).items() if name in _ONLY.get(size, (name,))}

"""The verb behind the check of the same name: the same model under other seeds, and how far its attention moves.

    result = assay.seed_variance(train, dev, test, how=Attend(vectors="glove"), out="DIR")
    print(result); result.violins()

See assay.checks.seed_variance. `violins` is the data of Figure 3 of the paper, the mean of TVD and JSD a triangle of
its Figure 5. Classes are those that the base predicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from assay.checks.seed_variance import SeedVariance
from assay.registry.finding import checks
from assay.registry.parameters import parameters
from assay.statistics.arrays import Floats, Ints
from assay.statistics.intervals import Estimate, mean_over_seeds
from assay.statistics.scoring import Scored
from assay.workflows.attention_tests.split import Labelled, splits

if TYPE_CHECKING:
    from assay.training.attentive import Attend
    from assay.training.observed import Observed

_BINS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class SeedResult:
    """Distances to the base [seeds, texts]; `highest` is the largest weight of the base in each text."""

    labels: tuple[str, ...]
    predicted: Ints
    highest: Floats
    tvd: Floats
    jsd: Floats
    scores: Scored
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def median(self) -> Floats:
        """The JSD of each text, as the median over seeds."""
        return np.asarray(np.median(self.jsd, axis=0))

    @property
    def mean_jsd(self) -> Estimate:
        """The mean of the medians."""
        return mean_over_seeds(self.median)

    @property
    def mean_tvd(self) -> Estimate:
        """Of each text the mean over seeds, as in the released code."""
        return mean_over_seeds(self.tvd.mean(axis=0))

    def by_class(self) -> list[dict[str, Any]]:
        """The same for the texts of each class that the base predicts."""
        return [
            {
                "label": name,
                "texts": int(own.sum()),
                "jsd": mean_over_seeds(self.median[own]),
                "tvd": mean_over_seeds(self.tvd.mean(axis=0)[own]),
            }
            for i, name in enumerate(self.labels)
            if (own := self.predicted == i).any()
        ]

    def by_seed(self) -> list[dict[str, float]]:
        """The mean distances of each other seed, and its F1."""
        seeds, f1 = self.parameters.get("seeds", range(len(self.jsd))), self.scores.f1_by_seed[1:]
        return [
            {"seed": seed, "jsd": float(j.mean()), "tvd": float(t.mean()), "f1": f}
            for seed, j, t, f in zip(seeds, self.jsd, self.tvd, f1, strict=True)
        ]

    def violins(self) -> list[dict[str, Any]]:
        """Texts by largest weight of the base (four bins) and class, with the JSD of each: Figure 3."""
        place = np.clip(np.searchsorted(_BINS, self.highest, side="right") - 1, 0, len(_BINS) - 2)
        return [
            {"from": _BINS[b], "to": _BINS[b + 1], "label": name, "jsd": self.median[own]}
            for b in range(len(_BINS) - 1)
            for i, name in enumerate(self.labels)
            if (own := (place == b) & (self.predicted == i)).any()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back."""
        arrays = {name: getattr(self, name).tolist() for name in ("predicted", "highest", "tvd", "jsd")}
        told = {"labels": list(self.labels), "scores": self.scores.to_dict(), "parameters": dict(self.parameters)}
        return {"check": "seed_variance", **arrays, **told}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        arrays = {name: np.array(data[name]) for name in ("predicted", "highest", "tvd", "jsd")}
        scores = Scored.from_dict(data["scores"])
        return cls(labels=tuple(data["labels"]), scores=scores, parameters=data["parameters"], **arrays)

    def __str__(self) -> str:
        whole = f"JSD {self.mean_jsd.shown()}, TVD {self.mean_tvd.shown()} to the base, {len(self.jsd)} other seeds"
        classes = (f"{r['label']}: JSD {r['jsd'].shown()}, {r['texts']} texts" for r in self.by_class())
        return "\n".join([whole, *classes])


def seed_variance(
    train: Sequence[Labelled],
    dev: Sequence[Labelled] | None,
    test: Sequence[Labelled],
    *,
    base: Any = None,
    how: Attend | None = None,
    out: str | Path | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> SeedResult:
    """Train the same model under other seeds, and compare each with the base on test.

    Rows are (text, label) pairs or Examples. The epoch is chosen on dev; None keeps the last. `base` is an attentive
    model trained as `how` says; None trains it. `out` keeps the models, and the same call goes on from there.
    `settings` are those of the check: seeds, base_seed.
    """
    from assay.workflows.attention_tests.workshop import told, workshop  # torch is slow to import

    check: SeedVariance = checks()["seed_variance"].make(settings)
    shop = workshop(splits(train, dev, test), how, out, progress)
    first = shop.base(base, check.base_seed)
    others = [shop.model(s, **first.made_like) for s in told(check.seeds, len(check.seeds), "seed variance")]
    return _result(first.test, [shop.seen(model) for model in others], shop.test.labels, parameters(check))


def _result(base: Observed, others: list[Observed], gold: list[str], settings: dict[str, Any]) -> SeedResult:
    from assay.training.observed import apart

    moved = [apart(base, other) for other in others]
    said = [other.under(base.labels).argmax(axis=1) for other in others]
    return SeedResult(
        labels=base.labels,
        predicted=base.predicted,
        highest=base.highest,
        tvd=np.stack([one.tvd for one in moved]),
        jsd=np.stack([one.jsd for one in moved]),
        scores=Scored.of(base.labels, gold, [base.predicted, *said]),
        parameters=settings,
    )

"""The verb behind the check of the same name: the model, and the same one with attention frozen to uniform weights.

    result = assay.uniform_attention(train, dev, test, how=Attend(vectors="glove"), out="DIR")
    print(result); result.difference

See assay.checks.uniform_attention. `tvd` and `jsd` say how far both are apart on the test texts, the square in Figure 5
of the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from assay.checks.uniform_attention import UniformAttention
from assay.registry.finding import checks
from assay.registry.parameters import parameters
from assay.statistics.arrays import Floats
from assay.statistics.intervals import Estimate, mean_over_seeds
from assay.statistics.scoring import Scored
from assay.workflows.attention_tests.split import Labelled, splits

if TYPE_CHECKING:
    from assay.training.attentive import Attend
    from assay.training.observed import Observed


@dataclass(frozen=True, eq=False, kw_only=True)
class UniformResult:
    """Both kinds of model on the test texts, one of each per seed; `tvd` and `jsd` [seeds, texts] are between them."""

    base: Scored
    uniform: Scored
    tvd: Floats
    jsd: Floats
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def difference(self) -> Estimate:
        """How much F1 the learned attention adds."""
        return self.base.above(self.uniform)

    @property
    def sentence(self) -> str:
        match self.difference.sign:
            case 1:
                return "Learned attention adds to F1: it is needed here."
            case -1:
                return "Uniform attention does better: learned attention is not needed here."
        return "No clear difference: attention may not be needed here, and then it explains nothing."

    def table(self) -> list[dict[str, Any]]:
        """One row per kind of model."""
        both = (("base", self.base), ("uniform", self.uniform))
        return [{"model": name, "f1": one.f1, "accuracy": one.accuracy} for name, one in both]

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back."""
        both = {"base": self.base.to_dict(), "uniform": self.uniform.to_dict()}
        apart = {"tvd": self.tvd.tolist(), "jsd": self.jsd.tolist()}
        return {"check": "uniform_attention", **both, **apart, "parameters": dict(self.parameters)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        return cls(
            base=Scored.from_dict(data["base"]),
            uniform=Scored.from_dict(data["uniform"]),
            tvd=np.array(data["tvd"]),
            jsd=np.array(data["jsd"]),
            parameters=data["parameters"],
        )

    def __str__(self) -> str:
        rows = [f"{r['model']:8} F1 {r['f1'].shown()}, accuracy {r['accuracy'].shown()}" for r in self.table()]
        moved = f"apart    TVD {mean_over_seeds(self.tvd).shown()}, JSD {mean_over_seeds(self.jsd).shown()}"
        return "\n".join([*rows, f"base - uniform: F1 {self.difference.shown(sign='+')}", moved, self.sentence])


def uniform_attention(
    train: Sequence[Labelled],
    dev: Sequence[Labelled] | None,
    test: Sequence[Labelled],
    *,
    how: Attend | None = None,
    out: str | Path | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> UniformResult:
    """Train with learned and with uniform attention, and compare F1 on test.

    Rows are (text, label) pairs or Examples. The epoch is chosen on dev; None keeps the last. `out` keeps the models,
    and the same call goes on from there. `settings` are those of the check: seeds.
    """
    from assay.workflows.attention_tests.workshop import told, workshop  # torch is slow to import

    check: UniformAttention = checks()["uniform_attention"].make(settings)
    shop = workshop(splits(train, dev, test), how, out, progress)
    kinds = [(seed, changes) for changes in ({}, {"attention": "uniform"}) for seed in check.seeds]
    models = [shop.model(s, **changes) for s, changes in told(kinds, len(kinds), "uniform attention")]
    seen = [shop.seen(model) for model in models]
    return _result(seen[: len(check.seeds)], seen[len(check.seeds) :], shop.test.labels, parameters(check))


def _result(base: list[Observed], other: list[Observed], gold: list[str], settings: dict[str, Any]) -> UniformResult:
    from assay.training.observed import apart

    moved = [apart(a, b) for a, b in zip(base, other, strict=True)]
    return UniformResult(
        base=Scored.of(base[0].labels, gold, [one.predicted for one in base]),
        uniform=Scored.of(other[0].labels, gold, [one.predicted for one in other]),
        tvd=np.stack([one.tvd for one in moved]),
        jsd=np.stack([one.jsd for one in moved]),
        parameters=settings,
    )

"""The verb behind the check of the same name: models that are trained to say the same and to look elsewhere.

    result = assay.trained_adversary(base, train, test, lambdas=(0, 5e-4, 1e-3), out="DIR")
    print(result); result.bend, result.shape

See assay.checks.trained_adversary. Whether the curve is convex is decided by the area against the chord: with the
points in the order of their mean JSD, x JSD and y TVD,

    bend = (area under the chord from the first point to the last - area under the points) / (x_last - x_first)

the mean height of the chord over the curve, in units of TVD. It is convex where the 95 % bootstrap interval over texts
is above zero, concave where it is below, else undecided, as it is with fewer than three points. The interval is of the
texts alone: each adversary is trained once, and what another training would give is not in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from assay.checks.trained_adversary import TrainedAdversary
from assay.errors import BadInput
from assay.registry.finding import checks
from assay.registry.parameters import parameters
from assay.statistics.arrays import Floats, Ints
from assay.statistics.intervals import Estimate, estimate_over_seeds, mean_over_seeds
from assay.statistics.scoring import Scored
from assay.workflows.attention_tests.split import Labelled, splits

if TYPE_CHECKING:
    import pandas as pd

    from assay.training.attentive import Attend
    from assay.training.observed import Observed

Shape = Literal["convex", "concave", "undecided"]
_NARROW = 1e-9


def bend(jsd: Floats, tvd: Floats) -> Floats:
    """The mean height of the chord over curves [draws, points], whose points are in order."""
    width = jsd[:, -1] - jsd[:, 0]
    chord = width * (tvd[:, 0] + tvd[:, -1]) / 2
    gap = chord - np.trapezoid(tvd, jsd, axis=1)
    return np.asarray(np.divide(gap, width, out=np.zeros_like(gap), where=np.abs(width) > _NARROW))


@dataclass(frozen=True, eq=False)
class Curve:
    """TVD and JSD of the adversaries on the same texts [lambdas, texts]."""

    tvd: Floats
    jsd: Floats

    @property
    def bend(self) -> Estimate:
        order = np.argsort(self.jsd.mean(axis=1), kind="stable")
        jsd, tvd, n = self.jsd[order], self.tvd[order], self.jsd.shape[1]
        return estimate_over_seeds(n, 1, lambda counts, _: bend(counts @ jsd.T / n, counts @ tvd.T / n))

    @property
    def shape(self) -> Shape:
        if len(self.jsd) < 3:
            return "undecided"
        shapes: dict[int, Shape] = {1: "convex", -1: "concave"}
        return shapes.get(self.bend.sign, "undecided")

    def at(self, texts: Any) -> Curve:
        """The curve of some of the texts."""
        return Curve(self.tvd[:, texts], self.jsd[:, texts])


@dataclass(frozen=True, eq=False, kw_only=True)
class AdversaryResult:
    """The adversaries of all lambdas against the base on the test texts; `predicted` is what the base says."""

    lambdas: tuple[float, ...]
    curve: Curve
    scores: tuple[Scored, ...]
    base: Scored
    predicted: Ints
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def bend(self) -> Estimate:
        return self.curve.bend

    @property
    def shape(self) -> Shape:
        return self.curve.shape

    def by_class(self) -> dict[str, Curve]:
        """The curve for the texts of each class that the base predicts."""
        names = enumerate(self.base.labels)
        return {name: self.curve.at(own) for i, name in names if (own := self.predicted == i).any()}

    def best(self, at_least: float = 0.4) -> dict[str, Any] | None:
        """The adversary with the highest F1 among those whose mean JSD is above this, as in Table 4 of the paper."""
        far = [row for row in self.table() if row["jsd"].value > at_least]
        return max(far, key=lambda row: float(row["f1"].value), default=None)

    def table(self) -> list[dict[str, Any]]:
        """One row per lambda."""
        rows = zip(self.lambdas, self.scores, self.curve.tvd, self.curve.jsd, strict=True)
        return [
            {"lambda": value, "f1": s.f1, "tvd": mean_over_seeds(tvd), "jsd": mean_over_seeds(jsd)}
            for value, s, tvd, jsd in rows
        ]

    def to_frame(self) -> pd.DataFrame:
        """The table's values without intervals, for all texts and for each predicted class."""
        import pandas as pd  # slow to import, and only wanted here

        curves = {"all": self.curve, **self.by_class()}
        return pd.DataFrame(
            {"texts": name, "lambda": value, "tvd": float(tvd.mean()), "jsd": float(jsd.mean())}
            for name, curve in curves.items()
            for value, tvd, jsd in zip(self.lambdas, curve.tvd, curve.jsd, strict=True)
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back."""
        curve = {"tvd": self.curve.tvd.tolist(), "jsd": self.curve.jsd.tolist(), "predicted": self.predicted.tolist()}
        scores = {"base": self.base.to_dict(), "scores": [one.to_dict() for one in self.scores]}
        said = {"bend": asdict(self.bend), "shape": self.shape, "parameters": dict(self.parameters)}
        return {"check": "trained_adversary", "lambdas": list(self.lambdas), **curve, **scores, **said}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        return cls(
            lambdas=tuple(data["lambdas"]),
            curve=Curve(np.array(data["tvd"]), np.array(data["jsd"])),
            scores=tuple(Scored.from_dict(one) for one in data["scores"]),
            base=Scored.from_dict(data["base"]),
            predicted=np.array(data["predicted"]),
            parameters=data["parameters"],
        )

    def __str__(self) -> str:
        rows = [
            f"lambda {r['lambda']:g}: F1 {r['f1'].shown()}, TVD {r['tvd'].shown()}, JSD {r['jsd'].shown()}"
            for r in self.table()
        ]
        said = f"the curve is {self.shape}, bend {self.bend.shown(sign='+')}"
        classes = (f"{name}: {curve.shape}" for name, curve in self.by_class().items())
        return "\n".join([f"base: F1 {self.base.f1.shown()}", *rows, f"{said} ({', '.join(classes)})"])


def trained_adversary(
    base: Any,
    train: Sequence[Labelled],
    test: Sequence[Labelled],
    *,
    dev: Sequence[Labelled] | None = None,
    how: Attend | None = None,
    out: str | Path | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> AdversaryResult:
    """Train a model away from the base for each lambda, and compare it with the base on test.

    `base` is an attentive model or its directory; None trains one as `how` says, its epoch chosen on dev. Rows are
    (text, label) pairs or Examples. Adversaries have the encoder, attention and size of the base, and all else from
    `how`. `out` keeps the models, and the same call goes on from there. `settings` are those of the check: lambdas,
    epochs, patience, choose, variant, seed.
    """
    from assay.workflows.attention_tests.workshop import told, workshop  # torch is slow to import

    check: TrainedAdversary = checks()["trained_adversary"].make(settings)
    if check.choose == "dev" and dev is None:
        raise BadInput('choose="dev" needs the texts of dev.')
    shop = workshop(splits(train, dev, test), how, out, progress)
    first = shop.base(base, check.seed)
    lines = told(check.lambdas, len(check.lambdas), "trained adversary")
    seen = [shop.seen(shop.adversary(first, value, check)) for value in lines]
    return _result(first.test, seen, shop.test.labels, check)


def _result(base: Observed, seen: list[Observed], gold: list[str], check: TrainedAdversary) -> AdversaryResult:
    from assay.training.observed import apart

    moved = [apart(base, one) for one in seen]
    return AdversaryResult(
        lambdas=check.lambdas,
        curve=Curve(np.stack([one.tvd for one in moved]), np.stack([one.jsd for one in moved])),
        scores=tuple(Scored.of(one.labels, gold, [one.predicted]) for one in seen),
        base=Scored.of(base.labels, gold, [base.predicted]),
        predicted=base.predicted,
        parameters=parameters(check),
    )

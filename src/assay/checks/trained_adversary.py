"""Trained adversary: whether a model can be trained that says the same and looks elsewhere.

    minimise  sum_i TVD(y_i, y'_i) - lambda sum_i KL(a_i || a'_i)        y', a' of the base model

Wiegreffe and Pinter (2019), section 4, arXiv:1908.04626. A curve over lambda of TVD against JSD that is convex speaks
against attention as explanation (far attention is cheap), a concave one for it. Lower JSD at the same TVD is better.
Kept is the epoch with the lowest training loss, as in the released code, or with choose="test" that with the lowest
loss on the test texts, as in the paper; choose="dev" does the same on dev. variant="released" trains as the released
code does, which of two labels counts one: its lambda does as much as twice that lambda here, and the TVD that it
reports is half of the one above (assay.training.adversary); here the TVD is the one above in any case. Chance is the
adversary's weights in random order, text by text.

Whether the curve is convex is decided by the area against the chord: with the points in the order of their mean JSD,
x JSD and y TVD,

    bend = (area under the chord from the first point to the last - area under the points) / (x_last - x_first)

the mean height of the chord over the curve, in units of TVD. It is convex where the 95 % bootstrap interval over texts
is above zero, concave where it is below, else undecided, as it is with fewer than three points. The interval is of the
texts alone: each adversary is trained once, and what another training would give is not in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from assay.checks.trained_models import (
    ATTENTION,
    HELD_OUT,
    Base,
    described,
    gold,
    observe,
    require_attention,
    shuffled,
    train_adversary,
)
from assay.errors import BadInput
from assay.questions.base import Conversation
from assay.questions.inside import Attention
from assay.questions.predict import Predict
from assay.registry.cards import check
from assay.registry.sample_task import SampleTask
from assay.statistics.arrays import Floats, Ints
from assay.statistics.intervals import Estimate, estimate_over_seeds, mean_over_seeds
from assay.statistics.scoring import Scored
from assay.statistics.verdict import Verdict
from assay.training.observed import Observed, apart
from assay.training.recipes import Recipe

if TYPE_CHECKING:
    import pandas as pd

Shape = Literal["convex", "concave", "undecided"]
_NARROW = 1e-9


@check(
    title="Trained adversary",
    better="lower",
    paper="arXiv:1908.04626",
    needs=(Attention, Predict),
    sensitive_to="how long adversaries train; lambdas that are too few to show a curve",
)
@dataclass(frozen=True, kw_only=True)
class TrainedAdversary:
    """How far attention can be from the base's while the answers stay.

    Adversaries have the encoder, attention and size of the base, and all else from `recipe`.
    """

    lambdas: tuple[float, ...] = (0.0, 1e-4, 5e-4, 1e-3, 5e-3, 1e-2)
    epochs: int = 80
    patience: int = 10
    choose: Literal["train", "dev", "test"] = "train"
    variant: Literal["paper", "released"] = "paper"
    seed: int = 10
    recipe: str | Recipe = "attentive"

    def __post_init__(self) -> None:
        if not self.lambdas or len(set(self.lambdas)) < len(self.lambdas):
            raise BadInput(f"lambdas are different numbers, at least one, not {self.lambdas}.")
        if not all(value >= 0 and isfinite(value) for value in self.lambdas):
            raise BadInput(f"lambdas are finite and not below zero, unlike {self.lambdas}.")
        if min(self.epochs, self.patience) < 1:
            raise BadInput("epochs and patience are 1 or more.")

    def trainings(self, task: SampleTask) -> int:
        return len(self.lambdas) + (task.model is None)

    def held_out(self) -> Mapping[str, float]:
        return HELD_OUT

    def examine_sample(self, task: SampleTask) -> Conversation[AdversaryResult]:
        """Train a model away from the base for each lambda, and compare it with the base on test."""
        from assay.training.attention_reading import attentive_recipe  # torch is slow to import

        test = require_attention("trained_adversary", task)
        if self.choose == "dev" and task.dev is None:
            raise BadInput('choose="dev" needs the texts of dev.')
        chosen_by = {"train": None, "dev": task.dev, "test": test}[self.choose]
        recipe = attentive_recipe(self.recipe, task.model)
        base = yield from (yield from Base.trained(task, recipe, self.seed)).observed(task.train, task.dev, test)
        how: dict[str, Any] = {"epochs": self.epochs, "patience": self.patience, "variant": self.variant}
        adversaries: list[Observed] = []
        for value in self.lambdas:
            model = yield from train_adversary(
                task.train, recipe, base, value, **how, seed=self.seed, chosen_by=chosen_by
            )
            adversaries.append((yield from observe(model, test)))
        seen = base.of([row.strings for row in test])
        moved = [apart(seen, one) for one in adversaries]
        mixed = [[apart(seen, order).jsd for order in shuffled(one, task.seed)] for one in adversaries]
        return AdversaryResult(
            lambdas=self.lambdas,
            curve=Curve(np.stack([one.tvd for one in moved]), np.stack([one.jsd for one in moved])),
            scores=tuple(Scored.of(one.labels, gold(test), [one.predicted]) for one in adversaries),
            base=Scored.of(seen.labels, gold(test), [seen.predicted]),
            predicted=seen.predicted,
            parameters=described(self, recipe),
            shuffled_jsd=np.array(mixed),
        )


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
    """The adversaries of all lambdas against the base on the test texts; `predicted` is what the base says.

    `shuffled_jsd` [lambdas, orders, texts] is that of the adversaries' weights in random order.
    """

    lambdas: tuple[float, ...]
    curve: Curve
    scores: tuple[Scored, ...]
    base: Scored
    predicted: Ints
    parameters: Mapping[str, Any] = field(default_factory=dict)
    shuffled_jsd: Floats = field(default_factory=lambda: np.zeros((0, 0, 0)))

    def verdicts(self) -> list[Verdict]:
        """For every lambda, how far the attention moved against how far weights in random order are."""
        return [
            Verdict(
                ATTENTION,
                "trained_adversary",
                "lower",
                jsd,
                mixed.T,
                parameters=self.parameters,
                facts={"lambda": value, "tvd": float(tvd.mean()), "f1": scores.f1.value},
            )
            for value, jsd, tvd, mixed, scores in zip(
                self.lambdas, self.curve.jsd, self.curve.tvd, self.shuffled_jsd, self.scores, strict=True
            )
        ]

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
        found = {"bend": asdict(self.bend), "shape": self.shape, "parameters": dict(self.parameters)}
        found |= {"shuffled_jsd": self.shuffled_jsd.tolist()}
        return {"check": "trained_adversary", "lambdas": list(self.lambdas), **curve, **scores, **found}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        return cls(
            lambdas=tuple(data["lambdas"]),
            curve=Curve(np.array(data["tvd"]), np.array(data["jsd"])),
            scores=tuple(Scored.from_dict(one) for one in data["scores"]),
            base=Scored.from_dict(data["base"]),
            predicted=np.array(data["predicted"]),
            parameters=data["parameters"],
            shuffled_jsd=np.array(data.get("shuffled_jsd", np.zeros((0, 0, 0)))),
        )

    def __str__(self) -> str:
        rows = [
            f"lambda {r['lambda']:g}: F1 {r['f1'].shown()}, TVD {r['tvd'].shown()}, JSD {r['jsd'].shown()}"
            for r in self.table()
        ]
        shape = f"the curve is {self.shape}, bend {self.bend.shown(sign='+')}"
        classes = (f"{name}: {curve.shape}" for name, curve in self.by_class().items())
        return "\n".join([f"base: F1 {self.base.f1.shown()}", *rows, f"{shape} ({', '.join(classes)})"])

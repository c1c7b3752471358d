"""Seed variance: how much the attention of a model changes when nothing but its random start does.

    JSD(a of the base, a of the same model under another seed), for each text the median over the seeds

Wiegreffe and Pinter (2019), section 3.3, arXiv:1908.04626: an adversary is none before it is farther away than that.
Lower is better. The seeds are those of their released code. Chance is the same weights in random order, text by text.
`violins` of the result is the data of Figure 3, the mean of TVD and JSD a triangle of Figure 5. Classes are those that
the base predicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from assay.checks.trained_models import ATTENTION, HELD_OUT, Base, described, gold, observe, require_attention, shuffled
from assay.errors import BadInput
from assay.questions.base import Conversation
from assay.questions.inside import Attention
from assay.questions.predict import Predict
from assay.questions.train import Train
from assay.registry.cards import check
from assay.registry.sample_task import SampleTask
from assay.statistics.arrays import Floats, Ints
from assay.statistics.intervals import Estimate, estimate_over_seeds, mean_over_seeds
from assay.statistics.scoring import Scored
from assay.statistics.verdict import Verdict
from assay.training.observed import apart
from assay.training.recipes import Recipe

_BINS = (0.0, 0.25, 0.5, 0.75, 1.0)
_ARRAYS = ("predicted", "highest", "tvd", "jsd", "shuffled_jsd")


@check(
    title="Seed variance",
    better="lower",
    paper="arXiv:1908.04626",
    needs=(Attention, Predict),
    sensitive_to="long training, which makes attention sharp; flat attention, which is the same under all seeds",
)
@dataclass(frozen=True, kw_only=True)
class SeedVariance:
    """How far seeds move the attention; `recipe` is how models are trained."""

    seeds: tuple[int, ...] = (50, 257, 500231, 100078, 12504, 90754789, 8988812, 2)
    base_seed: int = 10
    recipe: str | Recipe = "attentive"

    def __post_init__(self) -> None:
        if not self.seeds or len({*self.seeds, self.base_seed}) <= len(self.seeds):
            raise BadInput(f"seeds are different numbers, none of them that of the base ({self.base_seed}).")

    def trainings(self, task: SampleTask) -> int:
        return len(self.seeds) + (task.model is None)

    def held_out(self) -> Mapping[str, float]:
        return HELD_OUT

    def examine_sample(self, task: SampleTask) -> Conversation[SeedResult]:
        """Train the same model under other seeds, and compare each with the base on test."""
        from assay.training.attention_reading import attentive_recipe  # torch is slow to import

        test = require_attention("seed_variance", task)
        recipe = attentive_recipe(self.recipe, task.model)
        base = yield from (yield from Base.trained(task, recipe, self.base_seed)).observed(test)
        others = []
        for seed in self.seeds:
            model = yield Train(recipe, task.train, seed=seed, dev=task.dev)
            others.append((yield from observe(model, test)))
        moved = [apart(base, other) for other in others]
        mixed = [[apart(base, one).jsd for one in shuffled(other, task.seed)] for other in others]
        return SeedResult(
            labels=base.labels,
            predicted=base.predicted,
            highest=base.highest,
            tvd=np.stack([one.tvd for one in moved]),
            jsd=np.stack([one.jsd for one in moved]),
            scores=Scored.of(
                base.labels, gold(test), [base.predicted, *(one.under(base.labels).argmax(axis=1) for one in others)]
            ),
            parameters=described(self, recipe),
            shuffled_jsd=np.median(np.array(mixed), axis=0).T,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class SeedResult:
    """Distances to the base [seeds, texts]; `highest` is the largest weight of the base in each text.

    `shuffled_jsd` [texts, orders] is the median over seeds of the distance to their weights in random order.
    """

    labels: tuple[str, ...]
    predicted: Ints
    highest: Floats
    tvd: Floats
    jsd: Floats
    scores: Scored
    parameters: Mapping[str, Any] = field(default_factory=dict)
    shuffled_jsd: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    def verdicts(self) -> list[Verdict]:
        """The medians against those of weights in random order."""
        facts = {"tvd": float(self.tvd.mean())}
        about: dict[str, Any] = {"parameters": self.parameters, "facts": facts}
        return [Verdict(ATTENTION, "seed_variance", "lower", self.median, self.shuffled_jsd, **about)]

    @property
    def median(self) -> Floats:
        """The JSD of each text, as the median over seeds."""
        return np.asarray(np.median(self.jsd, axis=0))

    @property
    def mean_jsd(self) -> Estimate:
        """The mean of the medians; the interval is over texts and seeds."""
        return _mean_of_medians(self.jsd)

    @property
    def mean_tvd(self) -> Estimate:
        """The mean over texts and seeds, as in the released code."""
        return mean_over_seeds(self.tvd)

    def by_class(self) -> list[dict[str, Any]]:
        """The same for the texts of each class that the base predicts."""
        return [
            {
                "label": name,
                "texts": int(own.sum()),
                "jsd": _mean_of_medians(self.jsd[:, own]),
                "tvd": mean_over_seeds(self.tvd[:, own]),
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
        arrays = {name: getattr(self, name).tolist() for name in _ARRAYS}
        other = {"labels": list(self.labels), "scores": self.scores.to_dict(), "parameters": dict(self.parameters)}
        return {"check": "seed_variance", **arrays, **other}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        arrays = {name: np.array(data[name]) for name in _ARRAYS if name in data}
        scores = Scored.from_dict(data["scores"])
        return cls(labels=tuple(data["labels"]), scores=scores, parameters=data["parameters"], **arrays)

    def __str__(self) -> str:
        whole = f"JSD {self.mean_jsd.shown()}, TVD {self.mean_tvd.shown()} to the base, {len(self.jsd)} other seeds"
        classes = (f"{r['label']}: JSD {r['jsd'].shown()}, {r['texts']} texts" for r in self.by_class())
        return "\n".join([whole, *classes])


def _mean_of_medians(jsd: Floats) -> Estimate:
    """Of each text the median over seeds, of these the mean; texts and seeds are resampled together."""
    seeds, texts = jsd.shape

    def measure(counts: Floats, drawn: Ints) -> Floats:
        medians = (np.median(jsd[some], axis=0) for some in drawn)
        return np.array([own @ median / texts for own, median in zip(counts, medians, strict=True)])

    return estimate_over_seeds(texts, seeds, measure)

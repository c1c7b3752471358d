"""Probes of all layers on the same items: how many are right, what is learned by heart, and the bits of the labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import BadInput
from assay.explanations.probe_scores import ProbeScores
from assay.explanations.sample_explanation import SampleId
from assay.methods.linguistic.probe_tasks import Labels, ProbeItems
from assay.statistics.arrays import Floats, Ints
from assay.statistics.intervals import estimate, ratio
from assay.storage.state_file import StateFile

if TYPE_CHECKING:
    from assay.training.description_lengths import Code
    from assay.training.probe_instances import Instances


@dataclass(frozen=True)
class LayerProbes:
    """Items, the rows of their words in the states, the sentence of each, and how many sentences are trained on."""

    states: StateFile
    items: ProbeItems
    rows: Ints
    trained: int
    left_out: int

    @classmethod
    def of(cls, states: StateFile, units: list[int], items: ProbeItems, trained: int) -> LayerProbes:
        """The items of sentences that have so many vectors each; words beyond the window have none."""
        rows: Ints = np.cumsum([0, *units], dtype=np.int64)[items.sentence][:, None] + items.places
        kept = states.seen[rows].all(axis=1)
        made = cls(states, items.some(kept), rows[kept], trained, int((~kept).sum()))
        if len(made.train) < 4 or not len(made.test):
            counts = f"{len(made.train)} and {len(made.test)}"
            raise BadInput(f"a probe needs items to train on and to test on; there are {counts}.")
        return made

    @property
    def train(self) -> Ints:
        return np.flatnonzero(self.items.sentence < self.trained)

    @property
    def test(self) -> Ints:
        return np.flatnonzero(self.items.sentence >= self.trained)

    def scores(
        self, sample: SampleId, task: str, code: Code, settings: Mapping[str, Any], *, typed: bool
    ) -> ProbeScores:
        """Probes of every layer and of all together; with types, of control labels too."""
        from assay.training.description_lengths import description_lengths  # torch is slow to import
        from assay.training.probes import ProbePlan, fit_with_mix

        known = Labels.of(self.items.labels[i] for i in self.items.label[self.train].tolist())
        plan = ProbePlan(classes=len(known.names), **settings)
        labels = self._labels(known, plan.seed, typed)
        train, test = (self._instances(labels, chosen) for chosen in (self.train, self.test))
        train = train.scaled(plan.seed)
        probes, mix, shares = fit_with_mix(train, plan)
        right = (probes.answers(test)[1] == test.labels).astype(float)
        mixed = mix.answers(test.first_set())[1][0, 0] == test.labels[0]
        edges = [estimate(self._by_sentence(one), ratio) for one in right[:, 0]]
        return ProbeScores(
            sample,
            task,
            tuple(range(self.states.layers)),
            right[:, 0].mean(axis=1),
            tuple((one.low, one.high) for one in edges if one is not None),
            right[:, 1].mean(axis=1) if typed else np.zeros(0),
            description_lengths(train, plan, code) / len(train),
            float(np.log2(len(known.names))),
            known.bits(),
            np.array(shares),
            float(mixed.mean()),
            float((test.labels[0] == 0).mean()),
            (len(train), len(test)),
            facts={"labels": len(known.names)},
            warnings=tuple(self._warnings()),
        )

    def _labels(self, known: Labels, seed: int, typed: bool) -> Ints:
        """The labels, and where items have types the control labels: both are learned from the same vectors."""
        labels = [known.numbered(self.items.labels)[self.items.label]]
        if typed:
            labels.append(np.array(list(known.drawn_for(self.items.types, seed)))[self.items.type])
        return np.stack(labels)

    def _instances(self, labels: Ints, chosen: Ints) -> Instances:
        from assay.training.probe_instances import Instances

        return Instances(self.states, self.rows[chosen], labels[:, chosen])

    def _by_sentence(self, right: Floats) -> Floats:
        """Right answers and items of each sentence: sentences are resampled, as words of one are not independent."""
        _, place = np.unique(self.items.sentence[self.test], return_inverse=True)
        return np.stack([np.bincount(place, right), np.bincount(place)], axis=1)

    def _warnings(self) -> list[str]:
        beyond = f"{self.left_out} items lie beyond the model's window, or have no token, and are left out"
        few = f"only {len(self.test)} items were tested on, so the scores are rough"
        return [*([beyond] if self.left_out else []), *([few] if len(self.test) < 100 else [])]

"""Probes of all layers on the same items: how many are right, what is learned by heart, and the bits of the labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import BadInput
from assay.explanations.probe_scores import ProbeScores
from assay.explanations.sample_explanation import SampleId
from assay.methods.linguistic.probe_tasks import Labels, ProbeItem
from assay.statistics.arrays import Floats, Ints
from assay.statistics.intervals import estimate, ratio
from assay.storage.state_file import StateFile

if TYPE_CHECKING:
    from assay.training.probes import Code, Instances, Probe


@dataclass(frozen=True)
class LayerProbes:
    """Items, the rows of their words in the states, the sentence of each, and how many sentences are trained on."""

    states: StateFile
    items: Sequence[ProbeItem]
    rows: Ints
    group: Ints
    trained: int
    left_out: int

    @classmethod
    def of(cls, states: StateFile, units: list[int], items: list[list[ProbeItem]], trained: int) -> LayerProbes:
        """The items of sentences that have so many vectors each; words beyond the window have none."""
        rows, kept, group = [], [], []
        for s, (start, found) in enumerate(zip(np.cumsum([0, *units]).tolist(), items, strict=False)):
            for item in found:
                at = [start + place for place in item.places]
                if states.seen[at].all():
                    rows.append(at)
                    kept.append(item)
                    group.append(s)
        left_out = sum(map(len, items)) - len(kept)
        made = cls(states, kept, np.array(rows, dtype=np.int64), np.array(group, dtype=np.int64), trained, left_out)
        if len(made.train) < 4 or not len(made.test):
            counts = f"{len(made.train)} and {len(made.test)}"
            raise BadInput(f"a probe needs items to train on and to test on; there are {counts}.")
        return made

    @property
    def train(self) -> Ints:
        return np.flatnonzero(self.group < self.trained)

    @property
    def test(self) -> Ints:
        return np.flatnonzero(self.group >= self.trained)

    def scores(
        self, sample: SampleId, task: str, code: Code, settings: Mapping[str, Any], *, typed: bool
    ) -> ProbeScores:
        """Probes of every layer and of all together; with types, of control labels too."""
        from assay.training.probes import ProbePlan, description_length, fit  # torch is slow to import

        known = Labels.of(self.items[i].label for i in self.train)
        real = known.numbered(item.label for item in self.items)
        drawn = known.drawn_for((item.type for item in self.items), settings["seed"])
        control = np.fromiter(drawn, np.int64, len(self.items))
        plan, layers = ProbePlan(classes=len(known.names), **settings), range(self.states.layers)
        train, test, everything = self.train, self.test, tuple(layers)

        def right(labels: Ints, *chosen: int) -> tuple[Floats, Probe]:
            probe = fit(self._instances(labels, chosen, train), plan)
            given = self._instances(labels, chosen, test)
            return (probe.answers(given)[1] == given.labels).astype(float), probe

        found = [right(real, k)[0] for k in layers]
        by_heart = [right(control, k)[0].mean() for k in layers if typed]
        bits = [description_length(self._instances(real, (k,), train), plan, code) for k in layers]
        mixed, mix = right(real, *everything)
        edges = [estimate(self._by_sentence(one), ratio) for one in found]
        return ProbeScores(
            sample,
            task,
            everything,
            np.array([one.mean() for one in found]),
            tuple((one.low, one.high) for one in edges if one is not None),
            np.array(by_heart),
            np.array(bits) / len(train),
            float(np.log2(len(known.names))),
            known.bits(),
            np.array(mix.mix),
            float(mixed.mean()),
            float((real[test] == 0).mean()),
            (len(train), len(test)),
            facts={"labels": len(known.names)},
            warnings=tuple(self._warnings()),
        )

    def _instances(self, labels: Ints, layers: Sequence[int], chosen: Ints) -> Instances:
        from assay.training.probes import Instances

        return Instances([self.states.layer(k) for k in layers], self.rows[chosen], labels[chosen])

    def _by_sentence(self, right: Floats) -> Floats:
        """Right answers and items of each sentence: sentences are resampled, as words of one are not independent."""
        _, place = np.unique(self.group[self.test], return_inverse=True)
        return np.stack([np.bincount(place, right), np.bincount(place)], axis=1)

    def _warnings(self) -> list[str]:
        beyond = f"{self.left_out} items lie beyond the model's window and are left out"
        few = f"only {len(self.test)} items were tested on, so the scores are rough"
        return [*([beyond] if self.left_out else []), *([few] if len(self.test) < 100 else [])]

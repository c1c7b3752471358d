"""ProbeScores: what can be read off each layer of a model by a small classifier, and what that is worth.

layers, scores      for each layer the share of right answers on held-out items, with an interval over sentences
control             the same for labels that were drawn for each word type: what the probe can learn by heart
bits                per item, what the labels take when the layer's probe helps; without any help `uniform_bits`
mix, mix_score      how much each layer counts in a probe of all layers together, and its score
majority            the share that the most frequent label has: what a probe gets that reads nothing
label_bits          the mean and the spread of the bits per item of a code that knows the frequencies alone
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from assay.explanations.sample_explanation import SampleExplanation
from assay.statistics.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd

_BY_LAYER = ("scores", "control", "bits", "mix")


@dataclass(frozen=True, eq=False)
class ProbeScores(SampleExplanation):
    """Scores by layer; `control`, `bits` and `mix` are empty where they were not measured."""

    kind: ClassVar[str] = "ProbeScores"

    task: str = ""
    layers: tuple[int, ...] = ()
    scores: Floats = field(default_factory=lambda: np.zeros(0))
    intervals: tuple[tuple[float, float], ...] = ()
    control: Floats = field(default_factory=lambda: np.zeros(0))
    bits: Floats = field(default_factory=lambda: np.zeros(0))
    uniform_bits: float = 0.0
    label_bits: tuple[float, float] = (0.0, 0.0)
    mix: Floats = field(default_factory=lambda: np.zeros(0))
    mix_score: float | None = None
    majority: float = 0.0
    items: tuple[int, int] = (0, 0)  # that it was trained on, and tested on

    def __post_init__(self) -> None:
        for name in _BY_LAYER:
            values = np.array(getattr(self, name), dtype=np.float64)
            if len(values) not in (0, len(self.layers)) or not np.isfinite(values).all():
                raise ValueError(f"{len(self.layers)} layers need as many finite {name} or none, not {values!r:.200}")
            values.flags.writeable = False
            object.__setattr__(self, name, values)

    @property
    def best(self) -> int:
        """The place of the layer with the highest score, the first of equals."""
        return int(self.scores.argmax())

    def random_like(self, count: int) -> Iterator[Self]:
        """Probes that know how frequent each label is and nothing else, tested on as many items."""
        rng, (trained, tested) = self.generator(), self.items
        mean, spread = self.label_bits
        for _ in range(count):
            changes: dict[str, Any] = {"scores": rng.binomial(tested, self.majority, len(self.layers)) / tested}
            if len(self.control):
                changes["control"] = rng.binomial(tested, self.majority, len(self.layers)) / tested
            if len(self.bits):
                changes["bits"] = rng.normal(mean, spread / max(1, trained) ** 0.5, len(self.layers)).clip(1e-9)
            yield self.told(**changes, intervals=(), mix=np.zeros(0), mix_score=None)

    def to_frame(self) -> pd.DataFrame:
        """One row per layer."""
        import pandas as pd  # slow to import, and only wanted here

        found = {name: getattr(self, name) for name in _BY_LAYER if len(getattr(self, name))}
        return pd.DataFrame({"layer": self.layers, **found})

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {
            "task": self.task,
            "layers": list(self.layers),
            **{name: getattr(self, name).tolist() for name in _BY_LAYER},
            "intervals": [list(edges) for edges in self.intervals],
            "uniform_bits": self.uniform_bits,
            "label_bits": list(self.label_bits),
            "mix_score": self.mix_score,
            "majority": self.majority,
            "items": list(self.items),
        }

    @classmethod
    def _own(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        plain = ("task", "uniform_bits", "mix_score", "majority", *_BY_LAYER)
        (trained, tested), (mean, spread) = data["items"], data["label_bits"]
        return {name: data[name] for name in plain} | {
            "layers": tuple(data["layers"]),
            "intervals": tuple((low, high) for low, high in data["intervals"]),
            "items": (trained, tested),
            "label_bits": (mean, spread),
        }

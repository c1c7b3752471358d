"""Description length: how much shorter the labels become when a probe of the layer helps to write them down.

    compression = log2 K / bits per label        of the layer with the fewest bits

Voita and Titov (2020), arXiv:2003.12298. The length counts what it takes to learn the probe too, so that a probe which
needs all its labels to learn the task gets no credit for it: with random labels the compression is at most about 1.
Their released code adds natural and binary logarithms; ours are bits throughout. Beside it stands a code that knows
how frequent each label is and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.errors import BadInput
from assay.explanations.probe_scores import ProbeScores
from assay.questions.base import Conversation, now
from assay.registry.cards import check
from assay.registry.measured import Measured


@check(
    title="Description length",
    better="higher",
    paper="arXiv:2003.12298",
    needs=(),
    sensitive_to="how many labels there are to learn from; rare labels, which a code of frequencies writes cheaply",
    reads=ProbeScores,
)
@dataclass(frozen=True, kw_only=True)
class DescriptionLength:
    """How far the labels can be compressed."""

    def examine(self, e: ProbeScores) -> Conversation[Measured]:
        if not len(e.bits):
            raise BadInput(f"the task {e.task} has no labels, so there are no bits to count; see control_task.")
        least = int(e.bits.argmin())
        bits = float(e.bits[least])
        known = {"layer": float(e.layers[least]), "bits": bits, "uniform_bits": e.uniform_bits}
        return now(Measured(e.uniform_bits / bits, {**known, "frequency_bits": e.label_bits[0]}))

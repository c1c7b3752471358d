"""Control task: whether a probe tells of the layer, or of what the probe can learn by heart.

    selectivity = score on the task - score on labels that were drawn for each word type        at the best layer

Hewitt and Liang (2019), arXiv:1909.03368. A probe with much room learns both; the
score that the layer deserves is what it gets beyond the control. Beside it stand probes that know how frequent each
label is and nothing else, whose selectivity is 0 but for chance. A task of whole texts has no types and no control.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.explanations.probe_scores import ProbeScores
from assay.questions.base import Conversation, now
from assay.registry.cards import check
from assay.registry.measured import Measured


@check(
    title="Control task",
    better="higher",
    paper="arXiv:1909.03368",
    needs=(),
    sensitive_to="how large the probe is; how often the same word occurs in training and test",
    reads=ProbeScores,
)
@dataclass(frozen=True, kw_only=True)
class ControlTask:
    """Selectivity: the score beyond what is learned by heart."""

    def left_out(self, e: ProbeScores) -> str | None:
        return None if len(e.control) else f"the task {e.task!r} has no word types to draw control labels for."

    def examine(self, e: ProbeScores) -> Conversation[Measured]:
        score, control = float(e.scores[e.best]), float(e.control[e.best])
        facts = {"layer": float(e.layers[e.best]), "score": score, "control": control, "majority": e.majority}
        return now(Measured(score - control, facts))

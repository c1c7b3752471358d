"""Untrained baseline: whether the model had to be trained for its layers to know the task.

    score = best score of the model - best score of the same architecture with weights drawn anew

Zhang and Bowman (2018), arXiv:1809.10040, who find that probes do well on untrained encoders, where much can be read
off the identity of words. All weights are drawn, the embeddings too; the probes are trained in the same way on the same
items. Beside it stand probes that know how frequent each label is: they lie below the untrained model.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.explanations.probe_scores import ProbeScores
from assay.questions.aims import Aims
from assay.questions.base import Conversation, elsewhere
from assay.questions.cases import with_aims
from assay.questions.inside import Hidden
from assay.registry.cards import check
from assay.registry.finding import describing, find_method
from assay.registry.measured import Measured
from assay.text.sample import NO_SAMPLE


@check(
    title="Untrained baseline",
    better="higher",
    paper="arXiv:1809.10040",
    needs=(Hidden,),
    sensitive_to="how many labels there are to learn from; what an architecture does with random weights",
    reads=ProbeScores,
)
@dataclass(frozen=True, kw_only=True)
class UntrainedBaseline:
    """The score beyond that of an untrained model."""

    seed: int = 0

    def left_out(self, e: ProbeScores) -> str | None:
        if e.task == "label":
            return (
                "the texts of its sample are not kept, so an untrained model cannot read them; "
                "take a task of a corpus (-p task=pos -p corpus=FILE)."
            )
        return None

    def against(self, e: ProbeScores) -> Conversation[ProbeScores]:
        """The same description of the untrained model."""
        card = find_method(e.about.method)
        talk = describing(card, card.make(e.about.parameters)).describe(NO_SAMPLE)
        found = yield from elsewhere(with_aims(talk, Aims(seed=e.about.seed)), f"@randomized:all:{self.seed}")
        assert isinstance(found, ProbeScores)
        return found

    def measure(self, e: ProbeScores, known: ProbeScores) -> Measured:
        score, other = float(e.scores[e.best]), float(known.scores[known.best])
        warnings = ("an untrained model does as well",) if score <= other and score > e.majority + 0.05 else ()
        facts = {"score": score, "untrained": other, "untrained_layer": float(known.layers[known.best])}
        bits = {"untrained_bits": float(known.bits.min())} if len(known.bits) else {}
        return Measured(score - other, {**facts, **bits, "majority": e.majority}, warnings)

    def examine(self, e: ProbeScores) -> Conversation[Measured]:
        return self.measure(e, (yield from self.against(e)))

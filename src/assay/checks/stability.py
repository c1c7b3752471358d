"""Stability: whether the map stays as it is when the text changes and its meaning does not.

    mean over changed texts x' of  Spearman(a(x), a(x')) over the words that both have

Alvarez-Melis and Jaakkola (2018), On the Robustness of Interpretability Methods, arXiv:1806.08049, with distances of
ranks instead of scores and edits that keep the meaning instead of small noise. Higher is better. The edits are those of
`rewordings.py`: case, punctuation, synonym, or another seed. The fact prediction_change is the mean change of the
explained label's probability: where the model itself is not stable, its explanation should not be either. The other
facts are the correlations by kind of edit. A text to which no chosen edit applies is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.errors import BadInput
from assay.explanations.rewordings import Change, Edited, edited
from assay.explanations.token_scores import TokenScores
from assay.questions.base import Conversation
from assay.questions.predict import Predict
from assay.registry.cards import check
from assay.registry.measured import Measured
from assay.registry.reexplain import again
from assay.statistics.arrays import Floats
from assay.statistics.ranks import spearman


@dataclass(frozen=True)
class Changed:
    """The maps of the changed texts, and how much the probability moved with each change."""

    maps: list[tuple[Edited, TokenScores]]
    moved: Floats


@check(
    title="Stability",
    better="higher",
    paper="arXiv:1806.08049",
    needs=(Predict,),
    sensitive_to="models that are not stable themselves; methods that look at the positions of words only",
)
@dataclass(frozen=True, kw_only=True)
class Stability:
    """How much of the order of the words outlives a change without meaning."""

    edits: tuple[Change, ...] = ("case", "punctuation", "synonym")

    def __post_init__(self) -> None:
        if not self.edits:
            raise BadInput("stability needs at least one kind of edit: case, punctuation, synonym or seed.")

    def left_out(self, e: TokenScores) -> str | None:
        return None if edited(e.case, self.edits) else f"no edit of {', '.join(self.edits)} changes it"

    def examine(self, e: TokenScores) -> Conversation[Measured]:
        return self.measure(e, (yield from self.against(e)))

    def against(self, e: TokenScores) -> Conversation[Changed]:
        changes = edited(e.case, self.edits)
        if not changes:
            raise BadInput(f"no edit of {', '.join(self.edits)} changes the text {str(e.text)[:40]!r}.")
        chances = (yield Predict(e.text, *(change.case.text for change in changes))).probabilities[:, e.target]
        maps = []
        for change in changes:
            maps.append((change, (yield from again(e, change.case))))
        return Changed(maps, np.abs(chances[1:] - chances[0]))

    def measure(self, e: TokenScores, changed: Changed) -> Measured:
        kept = {
            change.kind: spearman(e.scores[list(change.before)], other.scores[list(change.after)])
            for change, other in changed.maps
        }
        return Measured(float(np.mean(list(kept.values()))), kept | {"prediction_change": float(changed.moved.mean())})

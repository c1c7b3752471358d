"""Sensitivity: how far the scores move, at worst, when the text changes a little.

    max over changed texts x' of  || a(x) - a(x') || / || a(x) ||        over the words that both have

Yeh et al. (2019), On the (In)fidelity and Sensitivity of Explanations, arXiv:1901.09392, definition 2.2; divided by the
norm of the map as in captum. Lower is better. Where they add noise of a small radius to an image, the changed texts
here are the nearest neighbours that words have: the edits of `rewordings.py` (case, punctuation, synonym, seed), and
the text without one word, for `drops` words drawn at random. A map of zeros is divided by one. The fact `mean` is the
mean instead of the maximum; a text to which nothing applies is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.errors import BadInput
from assay.explanations.case import Case
from assay.explanations.rewordings import Change, Edited, dropped, edited
from assay.explanations.token_scores import TokenScores
from assay.questions.base import Conversation
from assay.questions.predict import Predict
from assay.registry.cards import check
from assay.registry.measured import Measured
from assay.registry.reexplain import again
from assay.statistics.arrays import Floats

Neighbours = Sequence[tuple[Edited, TokenScores]]


@check(
    title="Sensitivity",
    better="lower",
    paper="arXiv:1901.09392",
    needs=(Predict,),
    sensitive_to="models that are not stable themselves; maps that hardly depend on the text at all",
)
@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """The largest relative change of the map among the neighbours of the text."""

    edits: tuple[Change, ...] = ("case", "punctuation", "synonym")
    drops: int = 3

    def __post_init__(self) -> None:
        if self.drops < 0 or not (self.edits or self.drops):
            raise BadInput("sensitivity needs drops >= 0, and edits where there are no drops.")

    def left_out(self, e: TokenScores) -> str | None:
        return None if self.neighbours(e.case) else "none of the chosen changes applies to it"

    def neighbours(self, case: Case) -> list[Edited]:
        return [*edited(case, self.edits), *dropped(case, self.drops)]

    def examine(self, e: TokenScores) -> Conversation[Measured]:
        return self.measure(e, (yield from self.against(e)))

    def against(self, e: TokenScores) -> Conversation[Neighbours]:
        """The maps of the changed texts."""
        changes = self.neighbours(e.case)
        if not changes:
            raise BadInput(f"none of the chosen changes applies to the text {str(e.text)[:40]!r}.")
        maps = []
        for change in changes:
            maps.append((change, (yield from again(e, change.case))))
        return maps

    def measure(self, e: TokenScores, neighbours: Neighbours) -> Measured:
        moves = np.array([_move(e.scores, change, other.scores) for change, other in neighbours])
        return Measured(float(moves.max()), {"mean": float(moves.mean())})


def _move(scores: Floats, change: Edited, others: Floats) -> float:
    moved = np.linalg.norm(scores[list(change.before)] - others[list(change.after)])
    return float(moved / (np.linalg.norm(scores) or 1.0))

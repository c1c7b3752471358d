"""Coverage gain: whether the chosen texts show more of what matters to the model than texts chosen by chance.

    coverage(V) = sum of I_j over words j that matter in a text of V / sum of I_j over all words

Against as many texts of the same sample, drawn at random: the baseline "random pick" of Ribeiro, Singh and Guestrin
(2016), arXiv:1602.04938, section 5.4, measured by the coverage of their section 4 instead of by people. Higher is
better. A greedy pick maximizes this number, so it should pass wherever there is something to choose; where it does
not, any few texts of the sample show as much, or the texts are so alike that none shows more than another. Whether the
explanations beneath are right, this check does not ask: examine their method by the checks of TokenScores.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.explanations.selection import Selection
from assay.questions.base import Conversation, now
from assay.registry.cards import check
from assay.registry.measured import Measured


@check(
    title="Coverage gain",
    better="higher",
    paper="arXiv:1602.04938",
    needs=(),
    sensitive_to="the number of picks; how many words of a text count; samples whose texts are all alike",
    reads=Selection,
)
@dataclass(frozen=True, kw_only=True)
class CoverageGain:
    """The share of the importance of all words that the chosen texts hold."""

    def examine(self, e: Selection) -> Conversation[Measured]:
        covered = {"picks": float(len(e.chosen)), "words": float(len(e.covered_words))}
        return now(Measured(e.covered, covered))

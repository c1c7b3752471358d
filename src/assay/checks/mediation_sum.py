"""Mediation sum: whether the strongest units carry the effect together, and whether direct and indirect effect add up.

    score = indirect(the k strongest units together) / total            beside k units drawn at random
    missed = |total - indirect - direct| / |total|                      of the same set, a fact of the verdict

The effects of single units say little if units stand in for each other, or if the model is far from linear: then what
goes through a set of units (indirect) and what is left without it (direct) do not add up to the total effect (Pearl
2001, Direct and Indirect Effects; Vig et al. 2020, section 3, arXiv:2004.12265). Higher is better. The set is asked
again, on at most `pairs` of the pairs that the effects are of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from assay.errors import BadInput
from assay.explanations.effects import Effects
from assay.explanations.mediated import MediatedTexts, Odds, read_pair
from assay.questions.base import Conversation
from assay.questions.each import Each
from assay.questions.facts import KnownFacts, ModelFacts
from assay.questions.intervene import Intervene, Part, Site
from assay.questions.predict import Predict
from assay.registry.cards import check
from assay.registry.measured import Measured

_FAR = 0.25


@check(
    title="Mediation sum",
    better="higher",
    paper="arXiv:2004.12265",
    needs=(Predict, Intervene),
    sensitive_to="the number of units; units that stand in for each other; pairs on which the concept does little",
    reads=Effects,
)
@dataclass(frozen=True, kw_only=True)
class MediationSum:
    """The share of the total effect that the strongest units carry together."""

    units: int = 3
    pairs: int = 20

    def __post_init__(self) -> None:
        if self.units < 1 or self.pairs < 1:
            raise BadInput(f"mediation_sum needs units >= 1 and pairs >= 1, not {self.units} and {self.pairs}.")

    def left_out(self, e: Effects) -> str | None:
        return None if e.total.value and e.pairs else "no total effect to be mediated"

    def examine(self, e: Effects) -> Conversation[Measured]:
        facts: KnownFacts = yield ModelFacts()
        read = yield Each(read_pair(pair, facts) for pair in e.pairs[: self.pairs])
        texts = [pair for pair in read if isinstance(pair, MediatedTexts)]
        together = (tuple(_site(e, at) for at in e.ranked[: self.units]),)
        odds = Odds("ratio" if e.about.parameters.get("scale") == "ratio" else "log")
        measured = yield Each(odds.effects(pair, together, direct=True) for pair in texts)
        total, indirect, direct = (float(np.mean([np.ravel(one[k])[0] for one in measured])) for k in range(3))
        if not total:
            return Measured(0.0, {"missed": 0.0}, ("the pairs that were asked again have no total effect",))
        missed = abs(total - indirect - direct) / abs(total)
        far = ("direct and indirect effect miss the total by more than a quarter of it",) if missed > _FAR else ()
        return Measured(indirect / total, {"missed": missed, "total": total, "direct": direct / total}, far)


def _site(e: Effects, at: tuple[int, int]) -> Site:
    position = e.about.parameters.get("position")
    index = None if e.part == "layer" else at[1]
    return Site(at[0], cast(Part, e.part), index, position)

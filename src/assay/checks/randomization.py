"""Randomization: how much of a map is left when the weights it should explain are drawn anew.

    mean over seeds of  | Spearman(a(f, x), a(f', x)) |        f' being f with its head and all its layers drawn anew

Adebayo et al. (2018), Sanity Checks for Saliency Maps, arXiv:1810.03292. Lower is better. The same method with the same
parameters explains the same label of the randomised model. part="cascade" goes down from the head layer by layer; the
score is that of the last stage, the facts similarity_K tell all of them. part="head" draws only what stands above the
base model, as Pham et al. (2022), section 5.3, and part="released" follows their code (the last layer's weight after
Glorot, its bias kept); the score is then that of the head.

The head alone cannot convict a method. A fine-tuned encoder with two labels may hold little more than one direction,
and a new head reads it again, with either sign: the randomised model is then nearly the old one, and a faithful map has
to stay as it was. The verdict says so in a warning. Even the whole cascade keeps the embeddings.

Random maps pass this check by construction, for they never knew the model. So nothing has to beat them: a method passes
unless it keeps significantly more of its order than unrelated maps share by chance. To pass shows that the method looks
at the weights, not that it is right. Other facts, as in Pham et al., Table A5, means over words, seeds and stages:
sign_changes (share of words), magnitude_before and magnitude_after (mean |a|), change (mean |a - a'|), scaled_change
(the same of maps that were each divided by their largest |a|), and rank_correlation (signed).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from assay.errors import BadInput, Unanswerable
from assay.explanations.token_scores import TokenScores
from assay.questions.base import Conversation, elsewhere
from assay.questions.inside import Depth
from assay.questions.predict import Predict
from assay.registry.cards import check
from assay.registry.measured import Measured
from assay.registry.reexplain import again
from assay.statistics.arrays import Floats
from assay.statistics.ranks import spearman

Maps = dict[str, list[TokenScores]]
_HEAD_ALONE = (
    "head alone: the layers below were kept, and a new head may read the same from them; a map that stays similar is "
    "no fault by itself, compare with part=cascade."
)


@check(
    title="Randomization",
    better="lower",
    paper="arXiv:1810.03292",
    needs=(Predict, Depth),
    sensitive_to="what stays: with the head alone a faithful map may stay too; nothing that random maps could fail, "
    "for they pass by construction; the scale of the new weights",
    chance="reach",
)
@dataclass(frozen=True, kw_only=True)
class Randomization:
    """What two maps share when only one of them saw the learned weights."""

    part: Literal["cascade", "head", "released"] = "cascade"
    seeds: tuple[int, ...] = (0, 1, 2)
    stages: int = 6

    def __post_init__(self) -> None:
        if not self.seeds or min(self.seeds) < 0 or self.stages < 1:
            raise BadInput("randomization needs at least one seed, none of them negative, and stages >= 1.")

    def examine(self, e: TokenScores) -> Conversation[Measured]:
        return self.measure(e, (yield from self.against(e)))

    def against(self, e: TokenScores) -> Conversation[Maps]:
        """The maps of the randomised models, by what was randomised."""
        maps: Maps = {}
        for what in (yield from self._parts()):
            maps[what] = []
            for seed in self.seeds:
                maps[what].append((yield from elsewhere(again(e, e.case), f"@randomized:{what}:{seed}")))
        return maps

    def _parts(self) -> Conversation[list[str]]:
        """What is randomised; of many layers so many stages, evenly spaced."""
        if self.part != "cascade":
            return [self.part]
        depth = yield Depth()
        if depth == 0:
            raise Unanswerable("the model has no layers that can be randomised one by one; choose part=head.")
        stages = np.unique(np.linspace(0, depth, min(self.stages, depth) + 1).round().astype(int))
        return [f"cascade:{layers}" for layers in stages]

    def measure(self, e: TokenScores, maps: Maps) -> Measured:
        kept = {what: np.array([spearman(e.scores, other.scores) for other in part]) for what, part in maps.items()}
        stages = {f"similarity_{what.partition(':')[2]}": _mean(abs(r)) for what, r in kept.items() if ":" in what}
        last, all_kept = list(kept.values())[-1], np.concatenate(list(kept.values()))
        after = np.array([other.scores for part in maps.values() for other in part])
        facts = _facts(e.scores, after) | {"rank_correlation": _mean(all_kept)} | stages
        return Measured(_mean(abs(last)), facts, () if self.part == "cascade" else (_HEAD_ALONE,))


def _facts(before: Floats, after: Floats) -> dict[str, float]:
    return {
        "sign_changes": _mean(np.sign(before) * np.sign(after) < 0),
        "magnitude_before": _mean(np.abs(before)),
        "magnitude_after": _mean(np.abs(after)),
        "change": _mean(np.abs(before - after)),
        "scaled_change": _mean(np.abs(_scaled(before) - _scaled(after))),
    }


def _scaled(scores: Floats) -> Floats:
    """Every map divided by its largest absolute score, so that it lies in [-1, 1]; one of zeros stays as it is."""
    top = np.abs(scores).max(axis=-1, keepdims=True)
    return np.asarray(scores / np.where(top == 0, 1, top))


def _mean(numbers: np.ndarray[Any, Any]) -> float:
    return float(numbers.mean())

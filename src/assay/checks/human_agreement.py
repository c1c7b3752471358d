"""Human agreement: whether the explanation marks the words that people marked.

    P = {i : a_i / max a >= t},  G = the words that `people` or more annotators marked
    IoU |P & G| / |P | G|,  precision |P & G| / |P|,  recall |P & G| / |G|,  F1 of these two;  two areas need no t

Pham et al. (2022), sections 3.3 and 5.2, arXiv:2110.04947. AUPRC is the area under precision over recall by trapezoids,
from precision 1 at recall 0, as in ERASER (DeYoung et al. 2020, arXiv:1911.03429); average_precision is that area by
steps, which the code of ERASER has under this name. P is empty if no score is positive. If G is empty recall is 1, the
others are 1 if P is empty too and else 0, and the areas are 0 (0.5 by the code of ERASER, whose texts all have a G). t
is the best of 0.05, 0.10 ... 0.95 under the metric, on a fifth of the texts that the verdict then leaves out; the paper
takes the best on the texts it reports (`tuned_on` = same). Random explanations get thresholds of their own in the same
way. The areas are measured on all texts, and the other facts are then at t = 0.5. The F1 of the paper is that of the
mean precision and the mean recall; ours is the mean F1. Highlights that name a label count where that label is
explained (`correct`), as in the paper, which keeps correct predictions only. The fact `human` is the share of words
that people marked: the IoU and precision of marking everything. Scores without sign (norms, attention) are held against
random maps without sign; still a flat map comes near that fact by marking nearly all words. The verdict then warns, and
the areas are not moved by it. Where a threshold is tuned, a run keeps all its rows in one shard, so that it tunes on
the same texts as `assay check`; with `threshold` or an area its shards are of any size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from assay.data.highlights import Given, Highlights, Marked
from assay.errors import BadInput
from assay.explanations.token_scores import TokenScores
from assay.questions.base import Conversation, now
from assay.registry.cards import check
from assay.registry.measured import Measured
from assay.statistics.arrays import Floats
from assay.statistics.shares import share_of
from assay.text.text import Masks

Metric = Literal["iou", "precision", "recall", "f1", "auprc", "average_precision"]
_AREAS = frozenset({"auprc", "average_precision"})  # over all thresholds: there is none to tune
_GRID = np.arange(1, 20) / 20
_UNTUNED = 0.5
_FEW = 10
_HELD = "held out to tune the threshold"
_SIGNLESS = (
    "the scores have no sign, so {}: compare the score with the fact `human`, which marking everything reaches, or "
    "take the metric auprc."
)
_FLAT = "a flat map marks nearly all words"
_UNTOLD = "they can mark more words than random maps, of which half are negative unless the method says signed: False"


@check(
    title="Human agreement",
    better="higher",
    paper="arXiv:2110.04947",
    needs=(),
    sensitive_to="the threshold and where it was tuned; how much people marked; a model right for other reasons",
)
@dataclass(frozen=True, kw_only=True)
class HumanAgreement:
    """The overlap of the highest scores with what people marked."""

    highlights: str | Highlights = ""
    metric: Metric = "iou"
    tuned_on: Literal["held_out", "same"] = "held_out"
    held_out: float = 0.2
    threshold: float | None = None
    people: int = 1
    correct: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "highlights", Given.of(self.highlights))
        if not 0 < self.held_out < 1 or not 0 < (1 if self.threshold is None else self.threshold) <= 1:
            raise BadInput(f"held_out and threshold lie between 0 and 1, not {self.held_out}, {self.threshold}.")
        if self.people < 1:
            raise BadInput(f"people is how many must have marked a word, 1 or more, not {self.people}.")

    @property
    def learns(self) -> bool:
        """Whether a threshold is tuned."""
        return self.threshold is None and self.metric not in _AREAS

    def prepare(self, explanations: Sequence[TokenScores]) -> Tuned:
        """Find what people marked in these texts, and tune the threshold on a part of them."""
        marked = Given.of(self.highlights).open("highlights").among(explanations, self.people, self.correct)
        tuned = self.learns
        held = _part(marked, self.held_out) if tuned and self.tuned_on == "held_out" else frozenset()
        tuning = [e for e in explanations if e in marked and (e.text.seed in held or self.tuned_on == "same")]
        best = _best(tuning, marked, self.metric) if tuned and tuning else self.threshold or _UNTUNED
        used = [e for e in explanations if e in marked and e.text.seed not in held]
        return Tuned(self, marked, held, best, tuple(self._warnings(used, len(held), best)))

    def _warnings(self, used: Sequence[TokenScores], held: int, threshold: float) -> Iterator[str]:
        """What a reader of the scores must know: of maps without a sign, and of how the threshold was found."""
        if self.metric in _AREAS:
            return
        if all(e.scores.min() >= 0 for e in used):
            untold = any(e.facts.get("signed", True) for e in used)
            yield _SIGNLESS.format(_UNTOLD if untold else _FLAT)
        if self.threshold is not None:
            return
        if self.tuned_on == "same":
            yield f"the threshold {threshold:.2f} was tuned on the same texts, which flatters every method."
        elif not held:
            yield f"one text cannot be held out: the threshold {threshold:.2f} is not tuned."
        elif held < _FEW:
            yield f"the threshold {threshold:.2f} was tuned on few texts ({held})."

    def examine(self, e: TokenScores) -> Conversation[Measured]:
        return self.prepare([e]).examine(e)


@dataclass(frozen=True)
class Tuned:
    """The check with its threshold, and the texts on which that was found."""

    check: HumanAgreement
    marked: Marked
    held: frozenset[int]
    threshold: float
    warnings: tuple[str, ...] = ()

    def left_out(self, e: TokenScores) -> str | None:
        if e not in self.marked:
            return self.marked.missing[e.text, e.target]
        return _HELD if e.text.seed in self.held else None

    def uses(self, e: TokenScores) -> bool:
        return self.left_out(e) is None

    def examine(self, e: TokenScores) -> Conversation[Measured]:
        people = self.marked[e]
        ours = marks(e.scores, np.array([self.threshold]))
        found = {name: float(values[0]) for name, values in overlap(ours, people).items()}
        found |= {**areas(e.scores, people), "threshold": self.threshold}
        found |= {"marked": float(ours.mean()), "human": float(people.mean())}
        return now(Measured(found[self.check.metric], found, self.warnings))


def marks(scores: Floats, thresholds: Floats) -> Masks:
    """The words that are marked at each threshold [thresholds, words]; none where no score is positive."""
    top = scores.max()
    if top <= 0:
        return np.zeros((len(thresholds), len(scores)), dtype=bool)
    with np.errstate(over="ignore"):  # far below zero is below every threshold
        return np.asarray(scores / top >= thresholds[:, None])


def overlap(ours: Masks, people: Masks) -> dict[str, Floats]:
    """The metrics of each row of marks [rows, words] against what people marked [words]."""
    both, size, marked = (ours & people).sum(axis=1), ours.sum(axis=1), people.sum()
    union = size + marked - both
    iou = np.where(union == 0, 1.0, both / np.maximum(union, 1))
    precision = np.where(size == 0, float(marked == 0), both / np.maximum(size, 1))
    recall = both / marked if marked else np.ones(len(ours))
    total = precision + recall
    f1 = np.where(total == 0, 0.0, 2 * precision * recall / np.where(total == 0, 1, total))
    return {"iou": iou, "precision": precision, "recall": recall, "f1": f1}


def areas(scores: Floats, people: Masks) -> dict[str, float]:
    """The area under precision over recall, from the highest score on; equal scores make one point of the curve."""
    order = np.argsort(-scores, kind="stable")
    last = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    hits = np.cumsum(people[order])[last]
    gained = np.diff(hits, prepend=0) / max(int(people.sum()), 1)  # recall
    precision = hits / (last + 1)
    before = np.concatenate([[1.0], precision[:-1]])
    by_trapezoids, by_steps = (gained * (before + precision) / 2).sum(), (gained * precision).sum()
    return {"auprc": float(by_trapezoids), "average_precision": float(by_steps)}


def _part(marked: Marked, share: float) -> frozenset[int]:
    """Texts to tune on: the same for every method, and at least one is left for the verdict."""
    seeds = sorted({text.seed for text in marked.texts})
    return frozenset(seeds[: min(share_of(len(seeds), share), len(seeds) - 1)])


def _best(tuning: Sequence[TokenScores], marked: Marked, metric: Metric) -> float:
    """The threshold with the highest mean; among equals the lowest."""
    each = [overlap(marks(e.scores, _GRID), marked[e])[metric] for e in tuning]
    return float(_GRID[np.argmax(np.mean(each, axis=0))])

"""SOURCE: influence functions over segments of the training, for a training that did not end at an optimum.

    score_i = -1/n  sum_l  grad f(x)' S_L ... S_(l+1) F_l  g_l(z_i)
    S_l = exp(-t_l H_l),   F_l = (1 - S_l) H_l^-1,   t_l = rate_l steps_l

A segment l is a part of the training with the step size `rate` and so many `steps`; H_l and g_l(z_i) are the means over
its checkpoints of the curvature and of the gradient of the loss of z_i, f is explained at the end. Bae et al. (2024),
Training Data Attribution via Approximate Unrolled Differentiation, arXiv:2405.12186. What a step on z_i did is carried
through the later steps: where they go on for long, F becomes the inverse curvature of influence functions; where they
are few, it is t, and the score that of TracIn. H is the Gauss-Newton matrix, in its own eigenvectors, plus `damping`
(the penalty of the training, `decay |w|^2` is damping 2 decay); the paper factors it (EK-FAC), here `project` keeps a
random projection of gradients that are too many. `checkpoints` are cut into `segments` equal parts; without any, the
model as it is stands for one. Step sizes are those of gradient descent; Adam's are not undone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from assay.errors import BadInput
from assay.explanations.case import Case
from assay.explanations.examples import KEPT, Examples
from assay.methods.influential.shared import require_kept, require_same_labels, shared_training
from assay.methods.influential.training import Training
from assay.questions.base import CHECKPOINT, Conversation, elsewhere
from assay.questions.once import Once
from assay.questions.parameters import ParameterGradient, Target
from assay.questions.predict import Predict
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.statistics.arrays import Floats
from assay.text.training_set import TrainingSet

_MOST = 4096  # parameters whose curvature is taken apart into eigenvectors
_FLAT = 1e-12  # where the curvature is so small, F is the time itself


@dataclass(frozen=True, eq=False)
class Segment:
    """The mean gradients of the training losses [n, p], the curvature as eigenvectors and values, and rate x steps."""

    gradients: Floats
    vectors: Floats
    values: Floats
    time: float

    def propagated(self, query: Floats) -> Floats:
        """S q: what is left of a change at the end of the segment; of one vector or of rows [.., p]."""
        return np.asarray((query @ self.vectors * np.exp(-self.time * self.values)) @ self.vectors.T)

    def pushed(self, query: Floats) -> Floats:
        """F q: what steps on a gradient do within the segment."""
        flat = self.values < _FLAT
        share = np.where(flat, self.time, -np.expm1(-self.time * self.values) / np.where(flat, 1.0, self.values))
        return np.asarray((query @ self.vectors * share) @ self.vectors.T)


@method(
    title="SOURCE",
    row=Row.INFLUENTIAL,
    uses=Uses.GRADIENT,
    paper="arXiv:2405.12186",
    marks="C",
    needs=(Predict, ParameterGradient),
    returns=Examples,
)
@dataclass(frozen=True, kw_only=True)
class Source:
    """What each training text did to the prediction, as far as later steps left it; `rates` and `steps` by segment."""

    train: TrainingSet | None = None
    checkpoints: tuple[int, ...] = ()
    segments: int = 3
    rates: tuple[float, ...] = (0.1,)
    steps: tuple[int, ...] = (100,)
    damping: float = 0.0
    layers: str = "head"
    project: int | None = None
    sum_tokens: bool = False
    kept: int = KEPT

    def __post_init__(self) -> None:
        require_kept(self.kept)
        if self.segments < 1 or self.damping < 0 or (self.project is not None and self.project < 1):
            raise BadInput("source needs segments >= 1, damping >= 0 and project >= 1.")
        for name, given in (("rates", self.rates), ("steps", self.steps)):
            if len(given) not in (1, self._count) or min(given) <= 0:
                raise BadInput(
                    f"source has {self._count} segments and takes as many {name} above 0 or one for all, not {given}."
                )

    @property
    def _count(self) -> int:
        """No more segments than checkpoints."""
        return max(1, min(self.segments, len(self.checkpoints)))

    def explain(self, case: Case) -> Conversation[Examples]:
        training = yield from shared_training(self.train, "source", sum_tokens=self.sum_tokens)
        known: list[Segment] = yield Once(("source", self), lambda: self._segments(training))
        (query,) = yield self._gradients([Target(case.text.strings, case.aim)])
        scores = np.zeros(len(training))
        for segment in reversed(known):
            scores -= segment.gradients @ segment.pushed(query) / len(training)
            query = segment.propagated(query)
        return training.explain(case, scores, self.kept, segments_used=len(known))

    def self_influence(self) -> Conversation[Floats]:
        """What each training text did to its own loss, over all segments."""
        training = yield from shared_training(self.train, "source", sum_tokens=self.sum_tokens)
        known: list[Segment] = yield Once(("source", self), lambda: self._segments(training))
        total = np.zeros(len(training))
        for segment in known:
            total += (segment.gradients * segment.pushed(segment.gradients)).sum(axis=1)
        return total

    def _gradients(self, targets: list[Target]) -> ParameterGradient:
        return ParameterGradient(targets, layers=self.layers, project=self.project)

    def _segments(self, training: Training) -> Conversation[list[Segment]]:
        (first,) = yield training.gradients(training.curved[:1], self.layers, self.project)
        size = len(first) - training.beside
        if size > _MOST:
            raise BadInput(
                f"source takes the curvature of {size:,} parameters apart, {_MOST:,} at most: give project=512, "
                "or fewer layers."
            )
        found = []
        for names, time in self._parts():
            gradients, curvature = np.zeros((len(training), size)), np.zeros((size, size))
            for name in names:
                yield from require_same_labels(name, training)
                own, factor = yield from elsewhere(self._at(training), name)
                gradients += own / len(names)
                curvature += factor.T @ factor / len(names)
            values, vectors = np.linalg.eigh(curvature)
            found.append(Segment(gradients, vectors, values.clip(min=0) + self.damping, time))
        return found

    def _at(self, training: Training) -> Conversation[tuple[Floats, Floats]]:
        """At one checkpoint: the gradients of the losses, and a factor of the curvature."""
        found: Floats = yield training.gradients(training.curved, self.layers, self.project)
        return training.curvature_factor(found)

    def _parts(self) -> Iterator[tuple[list[str | None], float]]:
        """The names of the checkpoints of each segment, in the order of the training, and rate x steps."""
        names: list[str | None] = [f"{CHECKPOINT}{number}" for number in self.checkpoints] or [None]
        rates, steps = (given * self._count if len(given) == 1 else given for given in (self.rates, self.steps))
        for places, rate, count in zip(np.array_split(np.arange(len(names)), self._count), rates, steps, strict=True):
            yield [names[i] for i in places], rate * count

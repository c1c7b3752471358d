"""Infidelity: how far the scores of erased words are from what their absence does to the prediction.

    mean over masks m of  ( m . a - (f_c(x) - f_c(x without the words of m)) )^2

Yeh et al. (2019), On the (In)fidelity and Sensitivity of Explanations, arXiv:1901.09392, definition 2.1, the
perturbation being the erasure of words; f is the explained number (log-odds by default). Lower is better. How many
words a mask takes is uniform in 1 ... n, which ones too. With scaled=true the scores are first multiplied by the factor
that suits them best, as methods whose scores have no unit need; a factor below zero is allowed, as in the authors'
code, so that a map of the wrong sign is forgiven. Both values and the factor are among the facts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.errors import BadInput
from assay.explanations.token_scores import TokenScores
from assay.questions.base import Conversation
from assay.questions.erasers import Delete, Eraser
from assay.questions.predict import Predict
from assay.registry.cards import check
from assay.registry.measured import Measured
from assay.statistics.arrays import Floats
from assay.text.text import Masks


@dataclass(frozen=True)
class ErasureEffects:
    """Which words each mask takes away, and what the explained number loses with them."""

    gone: Masks
    lost: Floats


@check(
    title="Infidelity",
    better="lower",
    paper="arXiv:1901.09392",
    needs=(Predict,),
    sensitive_to="the unit of the scores, unless scaled; texts that look like nothing the model has seen; the eraser",
)
@dataclass(frozen=True, kw_only=True)
class Infidelity:
    """The squared error of the scores as a forecast of what erasing does."""

    samples: int = 128
    scaled: bool = False
    eraser: Eraser = Delete()

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise BadInput("infidelity needs samples >= 1.")

    def examine(self, e: TokenScores) -> Conversation[Measured]:
        return self.measure(e, (yield from self.against(e)))

    def against(self, e: TokenScores) -> Conversation[ErasureEffects]:
        gone = masks(e.case.generator(), len(e.text), self.samples)
        without = yield from self.eraser.erase(e.text, ~gone)
        values = e.case.value((yield Predict(e.text, without)))
        return ErasureEffects(gone, values[0] - values[1:])

    def measure(self, e: TokenScores, effects: ErasureEffects) -> Measured:
        forecast = effects.gone @ e.scores
        factor = _factor(forecast, effects.lost)
        facts = {
            "plain": float(np.mean((forecast - effects.lost) ** 2)),
            "scaled": float(np.mean((factor * forecast - effects.lost) ** 2)),
            "factor": factor,
        }
        return Measured(facts["scaled" if self.scaled else "plain"], facts)


def masks(rng: np.random.Generator, words: int, samples: int) -> Masks:
    """Which words go: how many is uniform in 1 ... n, and which ones."""
    count = rng.integers(1, words, size=samples, endpoint=True)
    return np.asarray(rng.random((samples, words)).argsort(axis=1).argsort(axis=1) < count[:, None])


def _factor(forecast: Floats, lost: Floats) -> float:
    """The best factor for the forecast; one that forecasts nothing is left alone."""
    size = float(forecast @ forecast)
    return float(forecast @ lost) / size if size else 1.0

"""LIME: the weights of a simple model that imitates the explained one near the text.

    a = argmin over w of   sum_i pi_i (f_c(x_i) - b - w.z_i)^2 + |w|^2
    pi_i = sqrt(exp(-d_i^2 / width^2)),   d_i = 100 (1 - cos(z_i, 1))

Ribeiro, Singh and Guestrin (2016), arXiv:1602.04938; survey, section 6.3. The x_i are versions of the text, z_i says
which words each still has: how many go is uniform in 1..n, which ones too; the first sample is the text itself. With
surrogate="l1_logistic" it is the survey's eq. 4, lambda being penalty / sum of pi, and the probability is explained
whatever the scalar. With eraser="resample" it is LIME-BERT (Pham et al. 2022). Departures from the released code:
every position is a feature of its own (features="bag": equal words of a field are one, go together and share a score);
all words get a weight, there is no selection of features; log-odds are explained (scalar="probability": as released);
1,000 samples, not 5,000. Two runs of LIME may disagree: each weight comes with a 95 % interval, and stop="stable" draws
samples in rounds until as many new ones would put the same top_k words first, in the same order, with 95 % chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import expit

from assay.errors import BadInput
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.methods.input_features.surrogates import Surrogate, l1_logistic, ridge
from assay.questions.answers import Predictions
from assay.questions.base import Conversation
from assay.questions.erasers import Delete, Eraser
from assay.questions.predict import Predict
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.statistics.arrays import Floats
from assay.text.text import Masks, Text

SURROGATES: dict[str, Callable[..., Surrogate]] = {"ridge": ridge, "l1_logistic": l1_logistic}
_FIRST_ROUND = 100
_GROWTH = 1.5
_PER_WORD = 5  # samples a word, below which the weights say more of the draw than of the model


@method(
    title="LIME",
    row=Row.INPUT_FEATURES,
    uses=Uses.DATASET,
    paper="arXiv:1602.04938",
    section="6.3",
    needs=(Predict,),
)
@dataclass(frozen=True, kw_only=True)
class Lime:
    """Each word's weight in a simple model of the neighbourhood."""

    samples: int = 1000
    kernel_width: float = 25.0
    eraser: Eraser = Delete()
    surrogate: Literal["ridge", "l1_logistic"] = "ridge"
    penalty: float = 1.0
    features: Literal["positions", "bag"] = "positions"
    stop: Literal["samples", "stable"] = "samples"
    top_k: int = 5

    def __post_init__(self) -> None:
        if self.samples < 2 or self.top_k < 1 or self.kernel_width <= 0 or self.penalty < 0:
            raise BadInput("lime needs samples >= 2, top_k >= 1, kernel_width > 0 and penalty >= 0.")

    def explain(self, case: Case) -> Conversation[TokenScores]:
        feature = _bag(case.text) if self.features == "bag" else np.arange(len(case.text))
        kept = neighbours(case.generator(), int(feature.max()) + 1, self.samples)
        values: Floats = np.zeros(0)
        for end in self._rounds(kept.shape[1]):
            versions = yield from self.eraser.erase(case.text, kept[len(values) : end, feature])
            values = np.append(values, self._value(case, (yield Predict(versions))))
            near = proximity(kept[:end], self.kernel_width)
            fit = SURROGATES[self.surrogate](kept[:end], values, near, self.penalty)
            if self._stable(fit):
                break
        return self._told(case, fit, feature, len(values))

    def _rounds(self, features: int) -> Iterator[int]:
        """After how many samples the simple model is fitted."""
        end = max(_FIRST_ROUND, 2 * features)
        while self.stop == "stable" and end < self.samples:
            yield end
            end = int(end * _GROWTH)
        yield self.samples

    def _value(self, case: Case, answers: Predictions) -> Floats:
        if self.surrogate == "ridge":
            return case.value(answers)
        return np.asarray(answers.probabilities[:, case.target] if case.against is None else expit(case.value(answers)))

    def _stable(self, fit: Surrogate) -> bool:
        return fit.settled(self.top_k) == fit.places(self.top_k)

    def _told(self, case: Case, fit: Surrogate, feature: Any, samples: int) -> TokenScores:
        stable = self._stable(fit)
        facts = {
            "r2": fit.r2,
            "intercept": fit.intercept,
            "intervals": fit.intervals()[feature].tolist(),
            "samples": samples,
            "stable": stable,
            "settled": fit.settled(self.top_k),
        }
        warnings = tuple(self._warnings(fit, samples, stable))
        return TokenScores(case, fit.weights[feature], facts=facts, warnings=warnings)

    def _warnings(self, fit: Surrogate, samples: int, stable: bool) -> Iterator[str]:
        if samples < _PER_WORD * len(fit.weights):
            words = len(fit.weights)
            yield f"too few samples: {words} words need at least {_PER_WORD * words} samples, and there were {samples}"
        if self.stop == "stable" and not stable:
            yield f"unstable: another run may order the top {self.top_k} words differently; allow more samples"


def neighbours(rng: np.random.Generator, features: int, samples: int) -> Masks:
    """Which features each sample keeps: the first all of them, the others all but a uniform number in 1..features."""
    gone = rng.integers(1, features, size=samples - 1, endpoint=True)
    keys = rng.random((samples - 1, features))
    last = np.take_along_axis(np.sort(keys, axis=1), gone[:, None] - 1, axis=1)
    return np.concatenate([np.ones((1, features), dtype=bool), keys > last])


def proximity(kept: Masks, width: float) -> Floats:
    """The weight of each sample, by its cosine distance (times 100) from the whole text."""
    distance = 100 * (1 - np.sqrt(kept.mean(axis=1)))
    return np.asarray(np.exp(-((distance / width) ** 2) / 2))


def _bag(text: Text) -> np.ndarray[Any, np.dtype[np.intp]]:
    """The feature of each word: equal words of a field, whatever their case, are one."""
    known: dict[tuple[str, str], int] = {}
    keys = zip(text.where, (word.lower() for word in text.words), strict=True)
    return np.array([known.setdefault(key, len(known)) for key in keys])

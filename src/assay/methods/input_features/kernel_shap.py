"""KernelSHAP: the Shapley values of the words, from the model's value with only some of them there.

    argmin over a of  sum over coalitions S of  pi(S) (f_c(S) - f_c(nothing) - sum_{i in S} a_i)^2,
        pi(S) = (n - 1) / (C(n, s) s (n - s)),        subject to  sum_i a_i = f_c(x) - f_c(nothing)

Lundberg and Lee (2017), A Unified Approach to Interpreting Model Predictions, arXiv:1705.07874; survey, section 6.4.
The minimum over all coalitions is the Shapley values. Up to `exact_up_to` words, or where `samples` are enough for it,
every coalition is asked and nothing is estimated. Above, we depart from the paper: the surrogate has interactions as
far as the answers speak for them, and says how sure each score is; coalitions come in pairs (S and its complement), and
are those that tell most about the scores (smooth_game.py). `surrogate="linear"`, which thousands of samples get in
any case, is the weighted regression above on pairs drawn without replacement (coalitions.py). The scores always sum
to f_c(x) - f_c(nothing).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from assay.errors import BadInput
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.methods.input_features import smooth_game
from assay.methods.input_features.coalitions import draw, every, shapley
from assay.questions.base import Conversation
from assay.questions.erasers import Delete, Eraser
from assay.questions.predict import Predict
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.statistics.arrays import Floats
from assay.text.text import Masks

Fit: TypeAlias = Callable[[Floats, float], tuple[Floats, Floats]]

_MOST = 16  # words whose coalitions one may still want to ask all
_MANY = 2048  # pairs with which a linear surrogate errs little, and a smooth one takes longer than the model
_PER_WORD = 4  # rows a word: half as many pairs, twice as many as there are scores to find


@method(
    title="KernelSHAP",
    row=Row.INPUT_FEATURES,
    uses=Uses.BLACK_BOX,
    paper="arXiv:1705.07874",
    section="6.4",
    needs=(Predict,),
)
@dataclass(frozen=True, kw_only=True)
class KernelShap:
    """Each word's fair share of the prediction, over all orders in which the words may come."""

    samples: int = 512
    exact_up_to: int = 10
    surrogate: Literal["smooth", "linear"] = "smooth"
    eraser: Eraser = Delete()

    def explain(self, case: Case) -> Conversation[TokenScores]:
        if self.exact_up_to > _MOST:
            raise BadInput(f"exact_up_to={self.exact_up_to} would ask 2^{self.exact_up_to} rows; {_MOST} is the most.")
        n = len(case.text)
        rows = max(self.samples, 2 * n + 2)
        if n <= self.exact_up_to or 2**n <= rows:
            return (yield from self._exact(case))
        return (yield from self._sampled(case, rows))

    def _exact(self, case: Case) -> Conversation[TokenScores]:
        fewer = yield from self.eraser.erase(case.text, every(len(case.text))[:-1])
        values = case.value((yield Predict(fewer, case.text)))
        return self._told(case, values, shapley(values), np.zeros(len(case.text)), exact=True)

    def _sampled(self, case: Case, rows: int) -> Conversation[TokenScores]:
        n, pairs = len(case.text), (rows - 2) // 2
        some, fit = self._plan(n, pairs, case.generator())
        nothing = np.zeros((1, n), dtype=bool)
        fewer = yield from self.eraser.erase(case.text, np.concatenate([nothing, some, ~some]))
        values = case.value((yield Predict(fewer, case.text)))
        scores, errors = fit(values[1 : pairs + 1] - values[pairs + 1 : -1], values[-1] - values[0])
        return self._told(case, values, scores, errors, exact=False)

    def _plan(self, n: int, pairs: int, generator: np.random.Generator) -> tuple[Masks, Fit]:
        """One coalition of each pair, and what to make of the differences within the pairs and the whole change."""
        if self.surrogate == "linear" or pairs > max(_MANY, 4 * n):
            some, weights = draw(n, pairs, generator)
            return some, partial(linear, some, weights)
        some = smooth_game.design(n, pairs, generator)
        return some, partial(smooth_game.fit, some)

    def _told(self, case: Case, values: Floats, scores: Floats, errors: Floats, exact: bool) -> TokenScores:
        facts = {
            "value": float(values[-1]),
            "baseline": float(values[0]),
            "exact": exact,
            "samples": len(values),
            "standard_error": float(errors.mean()),
            "standard_errors": errors.tolist(),
        }
        least = _PER_WORD * len(case.text)
        few = f"too few samples: {len(case.text)} words need at least {least} rows, and {len(values)} were asked"
        return TokenScores(case, scores, facts=facts, warnings=() if exact or len(values) >= least else (few,))


def linear(keep: Masks, weights: Floats, differences: Floats, change: float) -> tuple[Floats, Floats]:
    """The weighted regression on pairs, and its standard errors by the residuals (White 1980).

    The sum of the scores is `change`: only their distance from the mean is free.
    """
    z = np.where(keep, 1.0, -1.0)
    mean = z.mean(axis=1)
    root = np.sqrt(weights / weights.mean())
    design, target = (z - mean[:, None]) * root[:, None], (differences - mean * change) * root
    inverse = np.linalg.pinv(design, rcond=1e-10)
    scores = inverse @ target
    pulls = inverse * (target - design @ scores)
    return change / z.shape[1] + scores - scores.mean(), np.sqrt((pulls**2).sum(axis=1))

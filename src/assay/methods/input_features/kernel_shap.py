"""KernelSHAP: the Shapley values of the words, from the model's value with only some of them there.

    argmin over a of  sum over coalitions S of  pi(S) (f_c(S) - f_c(nothing) - sum_{i in S} a_i)^2,
        pi(S) = (n - 1) / (C(n, s) s (n - s)),        subject to  sum_i a_i = f_c(x) - f_c(nothing)

Lundberg and Lee (2017), A Unified Approach to Interpreting Model Predictions, arXiv:1705.07874; survey, section 6.4.
The minimum over all coalitions is the Shapley values. Up to `exact_up_to` words, or where `samples` are enough for it,
every coalition is asked and nothing is estimated. Above, we depart from the paper: coalitions come in pairs (S and its
complement), without replacement, in fixed shares of sizes (assay.coalitions), and the surrogate has interactions as far
as the answers speak for them (assay.smooth_game), which also says how sure each score is. `surrogate="linear"` is the
weighted regression above, on the same coalitions. The scores sum to f_c(x) - f_c(nothing) in every case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from assay import smooth_game
from assay.ask import Conversation, Floats, Masks, Predict
from assay.coalitions import draw, every, shapley
from assay.erasers import Delete, Eraser
from assay.errors import BadInput
from assay.explanation import Case, TokenScores
from assay.registry import method
from assay.survey import Row, Uses

_MOST = 16  # words whose coalitions one may still want to ask all


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
        some, weights = draw(len(case.text), (rows - 2) // 2, case.generator())
        nothing = np.zeros((1, len(case.text)), dtype=bool)
        fewer = yield from self.eraser.erase(case.text, np.concatenate([nothing, some, ~some]))
        values = case.value((yield Predict(fewer, case.text)))
        differences = values[1 : len(some) + 1] - values[len(some) + 1 : -1]
        change = values[-1] - values[0]
        if self.surrogate == "linear":
            scores, errors = linear(some, differences, weights, change)
        else:
            whole = np.concatenate([~nothing, some])
            scores, errors = smooth_game.fit(whole, np.concatenate([[change], differences]))
        return self._told(case, values, scores, errors, exact=False)

    def _told(self, case: Case, values: Floats, scores: Floats, errors: Floats, exact: bool) -> TokenScores:
        facts = {
            "value": float(values[-1]),
            "baseline": float(values[0]),
            "exact": exact,
            "samples": len(values),
            "standard_error": float(errors.mean()),
            "standard_errors": errors.tolist(),
        }
        more = f"more samples: {len(case.text)} words need at least {len(values)} rows, and so many were asked"
        return TokenScores(case, scores, facts=facts, warnings=() if exact or len(values) <= self.samples else (more,))


def linear(keep: Masks, differences: Floats, weights: Floats, change: float) -> tuple[Floats, Floats]:
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

"""Input marginalization: the change of the prediction when a word is replaced by what a masked model expects there.

    a_i = f_c(x) - f_c of the mean prediction,   mean = sum_k m_k p(. | x with word i replaced by v_k) / sum_k m_k

Kim, Yi, Kim and Yoon (2020), arXiv:2010.13984; eq. 3-4 of Pham et al. (2022). m_k is the likelihood of the word v_k in
the place of word i by a masked language model; the original word is not left out. The k likeliest words are taken, as
Pham et al. do, or with `threshold` all words at least so likely, at most `cap`. Probabilities are averaged, then the
difference is taken on the explained scale: natural log-odds by default, where both papers have base 2; "logit" is here
the log-probability, since a mean of probabilities has no logits. Only whole words are put in, where the released code
also puts in pieces of words. A text longer than the masked model's window is read by it in halves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_expit, log_softmax, logsumexp

from assay.errors import BadInput, Unanswerable
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.questions.answers import Fills, Predictions
from assay.questions.base import Conversation
from assay.questions.erasers import each
from assay.questions.fill import Fill
from assay.questions.predict import Predict
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.statistics.arrays import Floats
from assay.text.text import Text
from assay.text.variants import Variants

_SHOWN = 10  # candidates of each word that are told
_LONG = 64  # texts of more words are tried at their last word before all words are asked
_LEAST = 1e-30  # a likelihood of nothing is taken as this, so that there is a mean


@method(
    title="Input marginalization",
    row=Row.INPUT_FEATURES,
    uses=Uses.BLACK_BOX,
    marks="M",
    paper="arXiv:2010.13984",
    needs=(Predict,),
)
@dataclass(frozen=True, kw_only=True)
class InputMarginalization:
    """What each word adds to the words one would expect in its place."""

    model: str = "mlm"
    k: int = 10
    threshold: float | None = None
    cap: int = 500

    def __post_init__(self) -> None:
        if self.k < 1 or self.cap < 1:
            raise BadInput("input_marginalization needs one candidate or more for each word.")

    def explain(self, case: Case) -> Conversation[TokenScores]:
        fills = [self._likely(fill) for fill in (yield from self._fills(case.text))]
        versions = [_replaced(case.text, i, fill.words[0]) for i, fill in enumerate(fills)]
        answers = yield Predict(case.text, *versions)
        whole = case.value(_mean(answers[:1], np.ones(1)))
        ends = np.cumsum([1, *map(len, versions)])
        parts = zip(ends, ends[1:], fills, strict=False)
        means = [case.value(_mean(answers[a:b], fill.probabilities[0])) for a, b, fill in parts]
        return TokenScores(case, whole - np.concatenate(means), facts=_facts(fills))

    def _fills(self, text: Text) -> Conversation[list[Fills]]:
        """Candidates for every word; where the masked model cannot see the whole text, it sees each half."""
        try:
            if len(text) > _LONG:
                yield self._question(text, slice(-1, None))
            return list((yield self._question(text, slice(None))))
        except Unanswerable:
            if len(text) < 2:
                raise
        places = np.arange(len(text))
        first = yield from self._fills(text.keep(places < len(text) // 2))
        return first + (yield from self._fills(text.keep(places >= len(text) // 2)))

    def _question(self, text: Text, places: slice) -> Fill:
        k = self.k if self.threshold is None else self.cap
        return Fill(Variants(text, each(len(text))[places]), model=self.model, k=k, threshold=self.threshold)

    def _likely(self, fill: Fills) -> Fills:
        """The candidates of one hole that are likely enough; the likeliest in any case."""
        count = max(1, int((fill.probabilities[0] >= (self.threshold or 0)).sum()))
        return Fills((fill.words[0][:count],), fill.probabilities[:1, :count])


def _replaced(text: Text, i: int, words: Sequence[str]) -> Variants:
    """The text with each of these words in the place of word i."""
    shape = (len(words), len(text))
    fill: Any = np.array(words, dtype=object)[:, None]
    return Variants(text, np.broadcast_to(np.arange(len(text)) != i, shape), np.broadcast_to(fill, shape))


def _mean(answers: Predictions, chances: Floats) -> Predictions:
    """One prediction: the mean of the probabilities, each answer weighted; in logarithms, so that none is lost."""
    share = np.log(np.maximum(chances, _LEAST))[:, None]
    if answers.multi_label:
        yes, no = (logsumexp(share + log_expit(sign * answers.logits), axis=0) for sign in (1, -1))
        return Predictions((yes - no)[None], multi_label=True)
    mean = logsumexp(share + log_softmax(answers.logits, axis=1), axis=0)
    return Predictions((mean - logsumexp(share))[None], one_logit=answers.one_logit)


def _facts(fills: Sequence[Fills]) -> dict[str, Any]:
    """How much of the likelihood was covered for each word, by how many candidates, and the first of them."""
    return {
        "mass": [float(fill.probabilities.sum()) for fill in fills],
        "counts": [len(fill.words[0]) for fill in fills],
        "candidates": [list(fill.words[0][:_SHOWN]) for fill in fills],
    }

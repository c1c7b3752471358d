"""Simulatability: whether a rationale lets a simulator guess the model's answer better than the text alone does.

    LAS = mean over leaking and not leaking rationales of  mean( 1[f(x, r) = y] - 1[f(x) = y] )

Leakage-adjusted simulatability: Hase, Zhang, Xie and Bansal (2020), arXiv:2010.04119. y is the model's answer; a
rationale leaks where the simulator guesses y from the rationale alone, f(r) = y, and the two groups weigh the same, so
that a rationale that names the label gains nothing by it. Where they fine-tune T5, our simulator is a logistic
regression on the words of what it is given, fitted to the other texts of the set (`folds` parts, each guessed by the
rest): it needs dozens of texts. Each text's score is weighted so that the mean over the texts is LAS. Higher is better.
A random rationale is that of another text. Facts: the shares of texts whose answer is guessed from each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from assay.errors import BadInput
from assay.explanations.rationale import Rationale
from assay.explanations.word_overlap import words_of
from assay.questions.base import Conversation, now
from assay.registry.cards import check
from assay.registry.measured import Measured
from assay.statistics.arrays import Floats

_FEW = 30  # texts below which the simulator has too little to learn from


@check(
    title="Simulatability (LAS)",
    better="higher",
    paper="arXiv:2010.04119",
    needs=(),
    sensitive_to="the simulator, which knows words and no order; few texts; labels that are rare among them",
    reads=Rationale,
)
@dataclass(frozen=True, kw_only=True)
class Simulatability:
    """What the rationale adds to the text for someone who guesses the model's answer."""

    folds: int = 10
    _known: dict[int, Measured] = field(default_factory=dict, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.folds < 2:
            raise BadInput("simulatability guesses each part of the texts from the others: it needs 2 folds or more.")

    def prepare(self, explanations: Sequence[Rationale]) -> Simulatability:
        """Simulate the answers to all texts of the set."""
        made = replace(self)
        made._known.update(zip(map(id, explanations), self._scores(explanations), strict=True))
        return made

    def examine(self, e: Rationale) -> Conversation[Measured]:
        return now(self._known[id(e)] if id(e) in self._known else self._scores([e])[0])

    def _scores(self, explanations: Sequence[Rationale]) -> list[Measured]:
        answers = tuple(e.target for e in explanations)
        texts = [" ".join(f"{f.name}:{w}" for f in e.text.fields for w in words_of(f.string)) for e in explanations]
        reasons = [" ".join(f"because:{w}" for w in words_of(e.rationale)) for e in explanations]
        both = [f"{text} {reason}" for text, reason in zip(texts, reasons, strict=True)]
        with_text, with_both, alone = (_guessed(tuple(given), answers, self.folds) for given in (texts, both, reasons))
        gain, weight = with_both - with_text, _weights(alone)
        few = (f"fewer than {_FEW} texts: the simulator has little to learn from",) if len(answers) < _FEW else ()
        return [
            Measured(float(g * w), {"from_text": float(t), "from_both": float(b), "from_rationale": float(r)}, few)
            for g, w, t, b, r in zip(gain, weight, with_text, with_both, alone, strict=True)
        ]


@lru_cache(maxsize=4)  # every set of random rationales has the same texts: what they tell alone is guessed once
def _guessed(given: tuple[str, ...], answers: tuple[int, ...], folds: int) -> Floats:
    """1 where the answer is guessed by a simulator that has seen the other parts, else 0."""
    part, wanted = np.arange(len(given)) % folds, np.array(answers)
    right = np.zeros(len(given))
    for k in range(min(folds, len(given))):
        mine = part == k
        guess = _guess([g for g, own in zip(given, mine, strict=True) if not own], wanted[~mine], given, mine)
        right[mine] = guess == wanted[mine]
    return right


def _guess(known: Sequence[str], answers: np.ndarray, given: Sequence[str], mine: np.ndarray) -> np.ndarray:
    """The answers to some texts, by what the others teach; -1 where these teach nothing."""
    asked = [g for g, own in zip(given, mine, strict=True) if own]
    if len(set(answers.tolist())) < 2:
        return np.full(len(asked), answers[0] if len(answers) else -1)
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    table = TfidfVectorizer(token_pattern=r"\S+", lowercase=False, ngram_range=(1, 2), sublinear_tf=True)
    if not any(text.strip() for text in known):
        return np.full(len(asked), np.bincount(answers).argmax())
    model = LogisticRegression(C=10.0, max_iter=200).fit(table.fit_transform(known), answers)
    return np.asarray(model.predict(table.transform(asked)))


def _weights(leaks: Floats) -> Floats:
    """So that the mean of weighted gains is the mean of the two groups' means; one group alone weighs all."""
    share = float(leaks.mean())
    if share in (0.0, 1.0):
        return np.ones(len(leaks))
    return np.where(leaks > 0, 0.5 / share, 0.5 / (1 - share))

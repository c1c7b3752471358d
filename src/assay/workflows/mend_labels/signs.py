"""Signs that a row has a wrong label: three rankings of the rows, and what they come to together.

    out_of_fold      the probability of the given label by models that were trained without the row (cross-validation)
    own              the probability of the given label by the model itself, which may have learned the label by heart
    self_influence   what training on the row does to its own loss: TracIn over the early checkpoints of the model where
                     it has some, else the model as it is (Pruthi et al. 2020, section 4.1, arXiv:2002.08484)

A row's suspicion is the mean over the signs of its place in their rankings, the first being the share 1 and the last 0.
Rows with the same text are left out together: a model that learned a label from one of them says it of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from assay.errors import BadInput
from assay.methods.influential.tracin import Tracin
from assay.questions.answers import Predictions
from assay.questions.base import Conversation
from assay.questions.facts import KnownFacts, ModelFacts
from assay.questions.predict import Predict
from assay.questions.train import Train
from assay.statistics.arrays import Floats, Ints
from assay.text.sample import Sample
from assay.text.text import Text
from assay.training.recipes import Recipe


@dataclass(frozen=True, eq=False)
class Signs:
    """Of each row: probabilities by models without it [n, labels], of its label by the model, and its self-influence.

    `fold` says which of `models` was trained without the row.
    """

    out_of_fold: Floats
    own: Floats
    self_influence: Floats | None
    fold: Ints
    models: tuple[str, ...]

    def suspicion(self, given: Ints) -> Floats:
        """[n], from 0 to 1."""
        return np.asarray(np.mean(self.places(given), axis=0))

    def places(self, given: Ints) -> list[Floats]:
        """The place of each row in the ranking by each sign: the share of the rows that look less suspicious."""
        rankings = [-self.out_of_fold[np.arange(len(given)), given], -self.own]
        if self.self_influence is not None:
            rankings.append(self.self_influence)
        return [np.asarray((rankdata(one) - 1) / max(1, len(given) - 1)) for one in rankings]


def signs(
    sample: Sample, labels: Sequence[str], how: Recipe, folds: int, seed: int, by_gradient: Tracin | None
) -> Conversation[Signs]:
    """All signs of all rows; the model that is asked is the one whose labels these are."""
    rows = list(sample)
    given = np.array([labels.index(str(row.label)) for row in rows])
    fold = folds_of([row.strings for row in rows], folds, seed)
    found, models = np.zeros((len(rows), len(labels))), []
    for number in range(folds):
        name: str = yield Train(how, sample.pick(np.flatnonzero(fold != number).tolist()), seed=seed)
        inside = np.flatnonzero(fold == number)
        found[inside] = yield from _chances([Text.of(rows[i].text) for i in inside], labels, name)
        models.append(name)
    answers: Predictions = yield Predict(*(Text.of(row.text) for row in rows))
    own = answers.probabilities[np.arange(len(rows)), given]
    influence = None if by_gradient is None else (yield from by_gradient.self_influence())
    return Signs(found, np.asarray(own), influence, fold, tuple(models))


def folds_of(texts: Sequence[tuple[str, ...]], folds: int, seed: int) -> Ints:
    """The fold of each text, drawn by the seed; the same texts are in the same fold."""
    distinct = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    if len(distinct) < 2 * folds:
        raise BadInput(f"{folds} folds need at least {2 * folds} different texts; there are {len(distinct)}.")
    drawn = np.random.default_rng(seed).permutation(len(distinct)) % folds
    return np.asarray(drawn[[distinct[text] for text in texts]])


def _chances(texts: Sequence[Text], labels: Sequence[str], name: str) -> Conversation[Floats]:
    """By the model of this name, in the order of the labels; a label that it never met has none."""
    facts: KnownFacts = yield ModelFacts().sent_to(name)
    answers: Predictions = yield Predict(*texts).sent_to(name)
    found = np.zeros((len(texts), len(labels)))
    for place, label in enumerate(facts.labels):
        found[:, labels.index(label)] = answers.probabilities[:, place]
    return found

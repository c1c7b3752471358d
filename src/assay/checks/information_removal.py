"""Information removal: whether a model forgets a planted cue when the texts that influence finds are not trained on.

    drop of the cue's label, in log-odds, on texts that say the other label; against the removal of random texts

A token that says a label (Bastings et al. 2021) is planted into a share of the training texts of two labels, a model is
trained, and the method explains why it follows the cue in texts that say the other label. The training texts with the
highest mean scores are removed and a model is trained again. Guo et al. (2021), section 5, arXiv:2012.15781, mend a
model by what influence functions find; here the cue is planted, so we know what is to be found. `cue_rows` among the
facts is the share of the removed texts that hold the cue, `cue_share` its share among all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assay.checks.trained_without import require_positive, without
from assay.data.shortcuts import Shortcut, contradictory, corpus
from assay.errors import BadInput
from assay.explanations.examples import Examples
from assay.questions.aims import Aims
from assay.questions.answers import Predictions
from assay.questions.base import Conversation, elsewhere
from assay.questions.cases import Cases
from assay.questions.each import Each
from assay.questions.facts import KnownFacts, ModelFacts
from assay.questions.predict import Predict
from assay.questions.train import Train
from assay.registry.cards import MethodCard, check
from assay.registry.parameters import parameters
from assay.registry.protocols import Method
from assay.registry.sample_task import SampleTask
from assay.statistics.arrays import Floats
from assay.statistics.verdict import Verdict
from assay.text.example import Example
from assay.text.sample import Sample
from assay.text.text import Text
from assay.text.training_set import TrainingSet
from assay.training.recipes import Recipe, recipe


@check(
    title="Information removal",
    better="higher",
    paper="arXiv:2012.15781",
    needs=(Predict,),
    reads=Examples,
    sensitive_to="how easily the cue is learned from what is left; the noise between trainings",
)
@dataclass(frozen=True, kw_only=True)
class InformationRemoval:
    """The drop of the cue's label; a share `planted` holds the cue, `share` is removed, and `draws` times at random."""

    recipe: str | Recipe = "bag"
    planted: float = 0.1
    share: float = 0.1
    texts: int = 20
    draws: int = 20

    def __post_init__(self) -> None:
        require_positive(texts=self.texts, draws=self.draws)
        if not (0 < self.planted < 1 and 0 < self.share < 0.5):
            raise BadInput("information_removal needs 0 < planted < 1 and 0 < share < 0.5.")

    def trainings(self, task: SampleTask) -> int:
        return 1 + len(task.methods) + self.draws

    def held_out(self) -> Mapping[str, float]:
        return {"dev": 0.2}

    def examine_sample(self, task: SampleTask) -> Conversation[RemovalResult]:
        cue, how = self._cue(task), recipe(self.recipe)
        whole: str = yield Train(how, cue.sample, seed=task.seed)
        before: Floats = yield from elsewhere(_cue_odds(cue), whole)
        removed, drops, random = [], [], []
        for card, made in task.methods:
            scores = yield from elsewhere(_mean_scores(card, made, cue), whole)
            removed.append(np.argsort(-scores, kind="stable")[: self._count(cue)].tolist())
            drops.append(before - (yield from self._after(how, cue, removed[-1], task.seed)))
        for gone in self._random(cue, task):
            random.append(before - (yield from self._after(how, cue, gone, task.seed)))
        return RemovalResult(
            [card.name for card, _ in task.methods],
            drops,
            np.array(random).T,
            [{"cue_rows": cue.share_of(gone), "cue_share": cue.share_of(range(len(cue.rows)))} for gone in removed],
            {name: value for name, value in parameters(self).items() if name != "recipe"} | dict(how.settings),
            task.seed,
        )

    def _cue(self, task: SampleTask) -> _Cue:
        """What is planted; an error where it cannot be."""
        for card, _ in task.methods:
            if not issubclass(card.returns, Examples):
                raise BadInput(f"information_removal tests methods that return Examples; {card.name} does not.")
        if task.dev is None or len(task.train.labels) != 2:
            raise BadInput("information_removal needs labelled texts of two labels, and some for dev.")
        return _Cue.of(task, self.planted, self.texts)

    def _count(self, cue: _Cue) -> int:
        return max(1, round(self.share * len(cue.rows)))

    def _random(self, cue: _Cue, task: SampleTask) -> Iterator[list[int]]:
        rng = np.random.default_rng([task.seed, 2])
        return (rng.permutation(len(cue.rows))[: self._count(cue)].tolist() for _ in range(self.draws))

    def _after(self, how: Recipe, cue: _Cue, gone: Sequence[int], seed: int) -> Conversation[Floats]:
        """What a model that was trained without these rows says."""
        model: str = yield Train(how, without(cue.sample, gone), seed=seed)
        return (yield from elsewhere(_cue_odds(cue), model))


@dataclass(frozen=True, eq=False)
class _Cue:
    """A training set with the cue in some of its texts, and texts in which the cue and the words disagree."""

    rows: list[Example]
    probes: list[Example]
    shortcut: Shortcut

    @classmethod
    def of(cls, task: SampleTask, planted: float, texts: int) -> _Cue:
        first, second = task.train.labels
        shortcut = Shortcut(labels=(first, second))
        rows = corpus(_pairs(task.train), shortcut, share=planted, decoys=0.0, seed=task.seed)
        assert task.dev is not None
        return cls(rows, contradictory(_pairs(task.dev)[:texts], shortcut, seed=task.seed), shortcut)

    @property
    def sample(self) -> Sample:
        return Sample.of(self.rows, name="the training set with a cue")

    def share_of(self, rows: Sequence[int] | range) -> float:
        """Of these rows, those that hold the cue."""
        return float(np.mean([self.shortcut.says(self.rows[i].strings[0].split()) != 0 for i in rows]))


def _pairs(sample: Sample) -> list[tuple[str, str]]:
    return [(row.strings[0], str(row.label)) for row in sample]


def _mean_scores(card: MethodCard, made: Method, cue: _Cue) -> Conversation[Floats]:
    """Of every training text, over the texts in which the cue is followed."""
    again = card.make({**parameters(made), "train": TrainingSet(cue.sample)})
    found: list[Floats] = yield Each(_scores(again, probe) for probe in cue.probes)
    return np.asarray(np.mean(found, axis=0))


def _scores(method: Any, probe: Example) -> Conversation[Floats]:
    [reading] = yield Cases([probe.strings[0]], Aims(target=probe.label))
    e: Examples = yield from reading.explained_by(method)
    return e.scores


def _cue_odds(cue: _Cue) -> Conversation[Floats]:
    """The log-odds of the cue's label, for every text in which it contradicts the words."""
    facts: KnownFacts = yield ModelFacts()
    answers: Predictions = yield Predict(*(Text.of(probe.strings[0]) for probe in cue.probes))
    labels = [facts.labels.index(str(probe.label)) for probe in cue.probes]
    return np.array([answers.value(label)[i] for i, label in enumerate(labels)])


@dataclass(frozen=True, eq=False)
class RemovalResult:
    """By method the drop on every text, and the drops of random removals [texts, draws]."""

    methods: list[str]
    drops: list[Floats]
    random: Floats
    facts: list[dict[str, float]]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    def verdicts(self) -> list[Verdict]:
        about: dict[str, Any] = {"parameters": self.parameters, "seed": self.seed}
        found = zip(self.methods, self.drops, self.facts, strict=True)
        return [
            Verdict(name, "information_removal", "higher", drop, self.random, facts=facts, **about)
            for name, drop, facts in found
        ]

    def to_dict(self) -> dict[str, Any]:
        return {"check": "information_removal", "verdicts": [verdict.to_dict() for verdict in self.verdicts()]}

"""Whether the texts that taught a model to follow the overlap of words are found, and whether it unlearns it.

Training pairs of SNLI, of which a part is replaced by pairs of HANS (McCoy et al. 2019) in which the hypothesis has no
word of its own and follows; no pair of HANS in which it does not follow is among them. So a model learns that overlap
means entailment. A method explains why it says so of pairs of HANS in which that is wrong; a tenth of the training
pairs, those with the highest mean scores, is removed, and a model trained again answers other such pairs. Han et al.
(2020), section 5, arXiv:2005.06676, see the overlap in the most influential pairs; removing them is ours. Pairs that
taught it something it knows have next to no gradient afterwards: `relative` scores are divided by what a pair can do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast

import numpy as np

from assay.data.behavior.probes import LabelProbe
from assay.data.behavior.published import hans
from assay.data.files import table
from assay.explanations.examples import Examples
from assay.questions.aims import Aims
from assay.questions.answers import Predictions
from assay.questions.base import Conversation, elsewhere
from assay.questions.cases import Cases
from assay.questions.each import Each
from assay.questions.facts import KnownFacts, ModelFacts
from assay.questions.predict import Predict
from assay.questions.train import Train
from assay.registry.finding import find_method
from assay.statistics.arrays import Floats
from assay.text.example import Example
from assay.text.sample import Sample
from assay.text.text import Text
from assay.text.training_set import TrainingSet
from assay_studies.claims import Claim, Evidence, claim, higher
from assay_studies.influence.tasks import PAPER, TITLES, Task
from assay_studies.samples import spread
from assay_studies.specification import PartSpec, Subject, TableSpec, Values, on_each

Pair = tuple[str, str]
FOLLOWS, NOT = "entailment", "non-entailment"
SNLI, HANS_TRAIN, HANS_EVAL = (
    "snli_train_subset/snli.tsv.xz",
    "hans/hans_regenerated_train.tsv.xz",
    "hans/hans_regenerated_eval.tsv.xz",
)
LAYOUT = "the training pairs of SNLI, and HANS"
_PLANTED, _REMOVED, _ASKED = 0.1, 0.1, 5  # shares; pairs asked at the end, for each one that is explained
_METHODS = {  # of Task.kind.methods, with more settings
    "influence": ("influence", {}),
    "tracin": ("tracin", {}),
    "relative_influence": ("influence", {"relative": True}),
    "relative_tracin": ("tracin", {"relative": True}),
}
_TITLES = {key: TITLES[name] + (", relative" if settings else "") for key, (name, settings) in _METHODS.items()}
_ROWS = {
    **{(key, "fall"): f"{_TITLES[key]}: fall of the log-odds of entailment" for key in _METHODS},
    ("random", "fall"): "removed at random: fall of the log-odds of entailment",
    ("random", "draws"): "the same, over the random removals in the place of the pairs that are asked",
    **{(key, "share"): f"{_TITLES[key]}: share of the removed pairs with full overlap" for key in _METHODS},
    ("random", "share"): "share of all pairs with full overlap",
    ("before", "wrong"): "share of the asked pairs that are taken for entailment before the removal",
}
_TITLE = "Overlap of words as a cue (HANS), after a tenth of the pairs was removed"


def overlaps(pair: Sequence[str]) -> bool:
    """Whether all words of the hypothesis stand in the premise."""
    premise, hypothesis = (set(text.lower().replace(".", " ").split()) for text in pair)
    return hypothesis <= premise


@dataclass(frozen=True)
class Corpus:
    """The training pairs, and pairs of HANS whose hypothesis does not follow: to be explained, and to be asked."""

    rows: tuple[Example, ...]
    explained: tuple[Pair, ...]
    asked: tuple[Pair, ...]

    @classmethod
    def of(
        cls, plain: Sequence[tuple[Pair, str]], cue: Sequence[Pair], traps: Sequence[Pair], size: int, n: int
    ) -> Self:
        """So many training pairs, the cue in its share of them; `n` pairs are explained."""
        rng = np.random.default_rng(0)
        held = round(_PLANTED * size)
        chosen = [(cue[i], FOLLOWS) for i in rng.permutation(len(cue))[:held]]
        chosen += [plain[i] for i in rng.permutation(len(plain))[: size - held]]
        mixed = [chosen[i] for i in rng.permutation(len(chosen))]
        rows = tuple(Example(str(i), pair, label) for i, (pair, label) in enumerate(mixed))
        some = spread(traps, n * (1 + _ASKED))
        return cls(rows, tuple(some[:: 1 + _ASKED]), tuple(p for i, p in enumerate(some) if i % (1 + _ASKED)))

    @property
    def sample(self) -> Sample:
        return Sample.of(list(self.rows), name="training pairs with a cue")

    @property
    def held(self) -> Floats:
        """Of each training pair, whether it has the cue."""
        return np.array([overlaps(row.strings) for row in self.rows], dtype=float)


def corpus(task: Task) -> Corpus:
    file = task.request.file
    plain = [
        ((row.string("premise"), row.string("hypothesis")), FOLLOWS if row.string("gold") == FOLLOWS else NOT)
        for row in table(file(SNLI, LAYOUT), ("gold", "source", "premise", "hypothesis"), tabs=True)
    ]
    cue, traps = _of_hans(file(HANS_TRAIN, LAYOUT), FOLLOWS), _of_hans(file(HANS_EVAL, LAYOUT), NOT)
    return Corpus.of(plain, cue, traps, task.sizes.pairs, task.sizes.probes)


def _of_hans(path: Path, label: str) -> list[Pair]:
    probes = (probe for probe in hans(path) if isinstance(probe, LabelProbe) and probe.expected == label)
    return [pair for probe in probes if overlaps(pair := cast(Pair, probe.text))]


def _measure(task: Task) -> Subject:
    task.request.say(f"{task.title}: overlap of words")
    given = corpus(task)
    held = given.held
    scores = task.ask(_scores(task, given))
    count = round(_REMOVED * len(given.rows))
    before = task.ask(_odds(task, given, []))
    measures: dict[Any, Values] = {}
    for key, one in scores.items():
        gone = np.argsort(-one, kind="stable")[:count].tolist()
        measures[key, "share"] = Values(held[gone])
        measures[key, "fall"] = Values(before - task.ask(_odds(task, given, gone)))
    rng = np.random.default_rng(1)
    draws = [rng.permutation(len(held))[:count].tolist() for _ in range(task.sizes.draws)]
    fallen = [before - task.ask(_odds(task, given, gone)) for gone in draws]
    measures["random", "fall"] = Values(np.asarray(np.mean(fallen, axis=0), dtype=np.float64))
    measures["random", "draws"] = Values(np.array([one.mean() for one in fallen]))
    measures["random", "share"] = Values(held)
    measures["before", "wrong"] = Values(np.where(before > 0, 1.0, 0.0))
    return Subject(task.name, task.title, measures, facts={"share": float(held.mean())})


def _scores(task: Task, given: Corpus) -> Conversation[dict[str, Floats]]:
    """By method the mean scores of the training pairs, over the pairs that are explained."""
    name: str = yield Train(task.recipe(epochs=True), given.sample, seed=0)
    found = {}
    for key, (of, more) in _METHODS.items():
        method, settings = task.kind.methods[of]
        made = find_method(method).make({**settings, **more, "train": TrainingSet(given.sample)})
        found[key] = yield from elsewhere(_mean_scores(made, given.explained), name)
    return found


def _mean_scores(made: Any, pairs: Sequence[Pair]) -> Conversation[Floats]:
    found: list[Floats] = yield Each(_explained(made, pair) for pair in pairs)
    return np.asarray(np.mean(found, axis=0))


def _explained(made: Any, pair: Pair) -> Conversation[Floats]:
    [reading] = yield Cases([pair], Aims(target=FOLLOWS))
    e: Examples = yield from reading.explained_by(made)
    return e.scores


def _odds(task: Task, given: Corpus, gone: Sequence[int]) -> Conversation[Floats]:
    """The log-odds of entailment that a model trained without some pairs gives the pairs that are asked."""
    out = set(gone)
    kept = given.sample.pick(i for i in range(len(given.rows)) if i not in out)
    model: str = yield Train(task.recipe(), kept, seed=0)
    return (yield from elsewhere(_of_entailment(given.asked), model))


def _of_entailment(pairs: Sequence[Pair]) -> Conversation[Floats]:
    facts: KnownFacts = yield ModelFacts()
    answers: Predictions = yield Predict(*(Text.of(pair) for pair in pairs))
    return np.asarray(answers.value(facts.labels.index(FOLLOWS)))


def _claims(subject: Subject) -> Iterator[Claim]:
    for key in (one for one in _METHODS if (one, "share") in subject):
        more = Values(subject.values(key, "share").columns - subject.facts["share"])
        yield claim(
            f"{subject.title}: the pairs that {_TITLES[key]} finds share the overlap of words",
            Evidence("share with full overlap, more than of all pairs", more.estimate(), higher, over="pairs"),
            key=f"{key}_overlap",
            about=subject.title,
        )
        yield claim(
            f"{subject.title}: without them it follows overlap less than after random removals",
            Evidence("log-odds, more than random", subject.gap((key, "fall"), ("random", "fall")), higher),
            digits=2,
            key=f"{key}_unlearns",
            about=subject.title,
        )


PART = PartSpec(
    name="overlap",
    title=_TITLE,
    measure=on_each(_measure),
    tables=[TableSpec(name="overlap", title=_TITLE, rows=_ROWS, digits=2)],
    claims=[_claims],
    published=PAPER,
    wants=lambda task: task.name == "encoder",
)

"""Whether changed labels are found: a tenth of the labels changed, a fifth of the texts looked at.

Koh and Liang (2017), section 5.4, arXiv:1703.04730; Yeh et al. (2018), section 4.1, arXiv:1811.09720; Pruthi et al.
(2020), section 4.1, arXiv:2002.08484. The model is trained on the changed labels. `held_out` sorts by the loss of
models that were trained without the row, which is what bounds the others: nobody knows a wrong label better than a
model that never learned it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from assay.checks.label_correction import Flipped
from assay.methods.influential.influence_functions import InfluenceFunctions
from assay.methods.influential.tracin import Tracin
from assay.questions.base import Conversation, elsewhere
from assay.questions.train import Train
from assay.statistics.arrays import Floats
from assay.statistics.intervals import Estimate
from assay.text.training_set import TrainingSet
from assay.workflows.mend_labels.signs import signs
from assay_studies.claims import Claim, Evidence, above, claim, higher
from assay_studies.influence.tasks import DEPTHS, PAPER, Task
from assay_studies.specification import PartSpec, Subject, TableSpec, Values, on_each

_SHARE, _LOOKED_AT, _WANTED = 0.1, 0.2, 0.8
_ORDERS = 200
_PROJECTED = 1024  # numbers of a gradient of more layers than the last
_BY = {
    "influence": "influence functions",
    "ekfac": "influence functions by EK-FAC",  # the last layer is solved exactly
    "tracin": "TracIn over early checkpoints",
    "last": "TracIn at the last checkpoint",
    "balanced": "TracIn with an equal share for each parameter",
}
_DEEP = ("ekfac", "last", "balanced")  # of more layers than the last
_ROWS = {
    **{
        key + depth: f"self-influence, {by}, {DEPTHS[depth][0]}"
        for depth in DEPTHS
        for key, by in _BY.items()
        if depth or key not in _DEEP
    },
    "loss": "the loss of the model",
    "held_out": "the loss of models trained without the row",
    "all": "all signs together (mend-labels)",
    "random": "random orders",
}
_TITLE = "Changed labels found in the first fifth"
_OVER = "changed labels"
_LABELS = ("negative", "positive")


def first_fifth(scores: Floats, wrong: list[int]) -> Floats:
    """Of each wrong row, whether it is among the highest scores."""
    first = np.argsort(-scores, kind="stable")[: round(_LOOKED_AT * len(scores))]
    return np.isin(wrong, first).astype(float)


def by_chance(size: int, wrong: list[int]) -> Floats:
    """The same of random orders: the mean of many, as one may be lucky."""
    rng = np.random.default_rng(1)
    return np.asarray(np.mean([first_fifth(rng.random(size), wrong) for _ in range(_ORDERS)], axis=0))


def _measure(task: Task) -> Subject:
    task.request.say(f"{task.title}: changed labels")
    sample = task.sample(getattr(task.sizes, task.name), "training texts")
    flipped = Flipped.of(list(sample), _LABELS, _SHARE, 0)
    scores = task.ask(_scores(task, flipped))
    wrong = sorted(flipped.wrong)
    found = {key: Values(first_fifth(one, wrong)) for key, one in scores.items()}
    return Subject(task.name, task.title, {**found, "random": Values(by_chance(len(sample), wrong))})


def _scores(task: Task, flipped: Flipped) -> Conversation[dict[str, Floats]]:
    model: str = yield Train(task.recipe(epochs=True), flipped.sample, seed=0)
    return (yield from elsewhere(_by_model(task, flipped), model))


def _by_model(task: Task, flipped: Flipped) -> Conversation[dict[str, Floats]]:
    """Each group of scores is kept in the directory, so that a killed study has it."""
    train = TrainingSet(flipped.sample)
    scores: dict[str, Floats] = {}
    tracin = Tracin(train=train, checkpoints=task.kind.early)
    groups = {depth: _by_depth(train, tracin, depth) for depth in task.kind.depths}
    for name, group in {"signs": _by_signs(task, flipped, tracin), **groups}.items():
        place = f"{task.name}-{name or 'head'}"
        settings = {**task.settings, "rows": len(flipped.sample), "folds": task.sizes.folds}
        if (found := task.store.data("scores", place, settings)) is None:
            found = {key: one.tolist() for key, one in (yield from group).items()}
            task.store.keep_data("scores", place, settings, found)
        scores |= {key: np.array(one) for key, one in found.items()}
        task.request.say(f"{task.title}: self-influence, {place}")
    return scores


def _by_depth(train: TrainingSet, tracin: Tracin, depth: str) -> Conversation[dict[str, Floats]]:
    layers = DEPTHS[depth][1]
    ways: dict[str, InfluenceFunctions | Tracin] = {
        "tracin": replace(tracin, layers=layers),
        "influence": InfluenceFunctions(train=train, layers=layers, project=_PROJECTED if depth else None),
    }
    if depth:
        ways["last"] = Tracin(train=train, layers=layers)
        ways["balanced"] = replace(tracin, layers=layers, balanced=True)
        ways["ekfac"] = InfluenceFunctions(train=train, layers=layers, solver="ekfac")
    scores = {}
    for key, way in ways.items():
        scores[key + depth] = yield from way.self_influence()
    return scores


def _by_signs(task: Task, flipped: Flipped, tracin: Tracin) -> Conversation[dict[str, Floats]]:
    """What mend-labels goes by; `all` has the self-influence that TracIn has by itself."""
    given = np.array([_LABELS.index(str(row.label)) for row in flipped.sample])
    found = yield from signs(flipped.sample, _LABELS, task.recipe(), task.sizes.folds, 0, tracin)
    held_out = -found.out_of_fold[np.arange(len(given)), given]
    return {"loss": -found.own, "held_out": held_out, "all": found.suspicion(given)}


def _claims(subject: Subject) -> Iterator[Claim]:
    for key in ("influence", "tracin"):
        yield claim(
            f"{subject.title}: {_ROWS[key]} finds changed labels sooner than a random order",
            Evidence("found, more than random", subject.gap(key, "random"), higher, over=_OVER),
            key=f"{key}_finds",
            about=subject.title,
        )
        yield claim(
            f"{subject.title}: {_ROWS[key]} finds them sooner than the loss alone",
            Evidence("found, more than by the loss", subject.gap(key, "loss"), higher, over=_OVER),
            key=f"{key}_beats_loss",
            about=subject.title,
        )
    yield claim(
        f"{subject.title}: TracIn finds more changed labels than influence functions",
        Evidence("found, more than influence functions", subject.gap("tracin", "influence"), higher, over=_OVER),
        key="tracin_better",
        about=subject.title,
    )
    for depth in _depths(subject):
        layers = DEPTHS[depth][0]
        known = [key + depth for key in _BY if key + depth in subject]
        best = max(known, key=lambda key: _value(subject.estimate(key)))
        yield claim(
            f"{subject.title}, {layers}: a fifth of the texts holds four fifths of the changed labels",
            Evidence("found", subject.estimate(best), above(_WANTED), over=_OVER),
            Evidence("by models without the row", subject.estimate("held_out"), over=_OVER),
            key="four_fifths",
            about=subject.title if len(_depths(subject)) == 1 else f"{subject.title}, {layers}",
        )


def _depths(subject: Subject) -> list[str]:
    return [depth for depth in DEPTHS if f"tracin{depth}" in subject]


def _value(found: Estimate | None) -> float:
    return 0.0 if found is None else found.value


PART = PartSpec(
    name="flipped",
    title=_TITLE,
    measure=on_each(_measure),
    tables=[TableSpec(name="flipped", title=_TITLE, rows=_ROWS, better="higher", digits=2)],
    claims=[_claims],
    published=PAPER,
)

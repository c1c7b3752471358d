"""The models that the study trains: the visual one, the second architectures, and one after each epoch.

    scenes    a small visual model, reduced itself
    snli      decomposable attention, as in section 5.3, on pairs that share no premise with the studied ones
    sst       a BiLSTM with attention on the treebank's training sentences; every epoch is kept for section 5.1
    squad     a reader after DrQA, on questions of SQuAD train

A model that the user gives under the name decomposable, attentive or drqa stands in the place of a second one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.errors import BadInput
from assay.models import TextModel, load
from assay.statistics.arrays import Floats
from assay.training.attentive import Attend, prepared
from assay.training.fit import fit
from assay.training.place import Place
from assay_studies.models.decomposable.training import Decompose, decompose
from assay_studies.models.drqa.training import Read, read
from assay_studies.models.scenes.training import Look, look
from assay_studies.pathologies.tasks import Task, columns, digest
from assay_studies.samples import spread

NAMES = {"snli": "decomposable", "sst": "attentive", "squad": "drqa"}
TITLES = {"snli": "decomposable attention", "sst": "an attentive BiLSTM", "squad": "a reader after DrQA"}
_TRIED = 10  # one of so many rows chooses the best epoch


def second(task: Task) -> TextModel | None:
    """Another architecture for the task; None where there is none, or none is wanted."""
    if task.name in NAMES and NAMES[task.name] in task.request.models:
        return task.request.open(NAMES[task.name])
    if task.name == "snli" and task.sizes.second_epochs:
        return decomposable(task)
    if task.name == "squad" and task.sizes.drqa_train:
        return drqa(task)
    return epochs(task)[-1] if task.name == "sst" and task.sizes.checkpoints else None


def described(task: Task, model: TextModel) -> str:
    """Which model it is, and how good."""
    name = model.name if NAMES[task.name] in task.request.models else TITLES[task.name]
    if model.target is not None:
        return f"{task.title}: the second model is {name}."
    return f"{task.title}: the second model is {name}, right on {right(task, model).mean():.1%} of the studied texts."


def right(task: Task, model: TextModel) -> Floats:
    """Whether it predicts each of the studied texts right."""
    predicted = model.predict([example.text for example in task.examples]).argmax(axis=1)
    hits = [model.labels[i] == example.label for i, example in zip(predicted, task.examples, strict=True)]
    return np.array(hits, dtype=np.float64)


def visual(task: Task) -> TextModel:
    how = Look(device=task.request.device)
    how = replace(how, plan=replace(how.plan, epochs=task.sizes.scene_epochs))
    train, tried = _split(task.others)
    return look(*columns(train), how=how, dev=columns(tried), **_place(task, "visual", how.settings))


def decomposable(task: Task) -> TextModel:
    how = Decompose(vectors=_vectors(task), device=task.request.device)
    how = replace(how, plan=replace(how.plan, epochs=task.sizes.second_epochs))
    train, tried = _split(task.others)
    options = _place(task, "decomposable", how.settings)
    return decompose(*columns(train), how=how, dev=columns(tried), also=_words(task), **options)


def drqa(task: Task) -> TextModel:
    how = Read(vectors=_vectors(task), device=task.request.device)
    how = replace(how, plan=replace(how.plan, epochs=task.sizes.drqa_epochs, patience=None))
    rows = [row for row in spread(task.others, task.sizes.drqa_train) if row.marks]
    spans = [(row.marks[0][0].start, row.marks[0][0].end) for row in rows]
    place = _place(task, "drqa", {**how.settings, "questions": len(rows)})
    return read([row.strings for row in rows], spans, how=how, also=_words(task), **place)


def epochs(task: Task) -> list[TextModel]:
    """The attentive model after each epoch of its training."""
    how = Attend(vectors=_vectors(task), device=task.request.device)
    how = replace(how, plan=replace(how.plan, epochs=task.sizes.checkpoints))
    texts, labels = columns(task.sentences)
    place = task.store.out / "models" / f"attentive-{digest(how.settings, texts, labels)}"
    paths = [place / f"epoch-{i}" for i in range(1, task.sizes.checkpoints + 1)]
    if not all(path.exists() for path in paths):
        task.request.say(f"{task.title}: training {TITLES['sst']}")
        _train(how, texts, labels, paths, task.request.progress)
    return [load(path, device=task.request.device) for path in paths]


def _train(how: Attend, texts: list[Any], labels: list[str], paths: Sequence[Path], progress: bool | None) -> None:
    """One run; what is called after every epoch to score it remembers the weights."""
    ready, states = prepared(how, texts, labels), list[dict[str, Any]]()

    def remember() -> float:
        states.append({name: tensor.detach().cpu().clone() for name, tensor in ready.network.state_dict().items()})
        return 0.0

    def batches(rng: np.random.Generator) -> list[list[int]]:
        return ready.rows.epoch(how.batch, rng)

    fit(ready.network, batches, ready.loss, how.plan, dev=remember, progress=progress)
    for path, state in zip(paths, states, strict=True):
        if not path.exists():
            ready.network.load_state_dict(state)
            Place(path).save(ready.network, ready.rows.tokenizer, dict(how.settings))


def _place(task: Task, name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Where the model is saved; a training with other settings or texts has another place."""
    place = task.store.out / "models" / f"{name}-{digest(settings, task.others, _words(task))}"
    if not place.exists():
        task.request.say(f"{task.title}: training {TITLES.get(task.name, 'the visual model')}")
    return {"out": place, "progress": task.request.progress}


def _split(rows: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """To learn from, and to choose the best epoch by."""
    if len(rows) < 2 * _TRIED:
        raise BadInput(f"{len(rows)} texts are too few to train a model on; a study needs {2 * _TRIED} or more.")
    order = np.random.default_rng(0).permutation(len(rows)).tolist()
    size = len(rows) // _TRIED
    return [rows[i] for i in sorted(order[size:])], [rows[i] for i in sorted(order[:size])]


def _words(task: Task) -> list[str]:
    """Strings whose words a model with given vectors knows too: those of the studied texts."""
    return [string for example in task.examples for string in example.strings]


def _vectors(task: Task) -> str | None:
    return "glove" if task.sizes.glove else None

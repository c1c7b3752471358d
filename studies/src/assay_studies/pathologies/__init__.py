"""Pathologies of neural models make interpretations difficult: what is left of a text when all that can go has gone.

Feng, Wallace, Grissom II, Iyyer, Rodriguez and Boyd-Graber (2018), arXiv:1804.07781. Input reduction takes the least
important words away as long as the prediction stays. Length and confidence before and after (Figures 3, 4), the shift
of heat maps on the way (Figures 5, 6), gradient against exhaustive search (section 2.1), transfer to another
architecture (5.3), training checkpoints (5.1), entropy regularisation (Table 2, Figure 7), and what people say
(Tables 1, 3), where their answers are there.

Departures: small bundled transformers in the place of BiMPM and DrQA; generated scenes in the place of VQA; sentiment
has a task of its own. Random removal to the same length is a baseline of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from assay.engine.engine import Engine
from assay.views import page
from assay_studies.findings import Findings, Part
from assay_studies.framing import Frame
from assay_studies.kept import Kept
from assay_studies.pathologies import (
    agreement,
    checkpoints,
    confidence,
    human,
    lengths,
    mended,
    people,
    random_removal,
    second_order,
    transfer,
)
from assay_studies.pathologies.material import Reduced
from assay_studies.pathologies.sizes import Sizes
from assay_studies.pathologies.tasks import Task, digest, notes, spread, tasks
from assay_studies.request import Request

Make: TypeAlias = Callable[[Sequence[Task]], Part]
_VERSION = 2  # of the parts: another one computes them all anew
_PATHS = "paths.html"
_OTHERS = ("decomposable", "attentive", "drqa")
_TRAINED = ("transfer", "table_2", "checkpoints")
_NO_NUMBERS = (
    "The paper shows its Figures 3 and 4 without numbers, and the numbers of its Tables 1 to 3 are not in the text "
    "that we have: where nothing published stands beside ours, the claim is put to the test in its words."
)
_OURS = (
    "Ours, and not the paper's: the task SST-2, random removal to the same length (with the claim on it), what chance "
    "would give, calibration, and the limits in claims (more than half, 0.1, one word, one point)."
)


def study(request: Request) -> Findings:
    """All parts, each taken from the directory if it is there; then the report, and the tasks for people."""
    request.require_one_worker("pathologies")
    sizes = Sizes.of(request.quick, request.sizes)
    frame = Frame(
        "pathologies",
        "Pathologies of neural models: what is left when all that can go has gone",
        "Feng, Wallace, Grissom II, Iyyer, Rodriguez and Boyd-Graber (2018), arXiv:1804.07781",
        request,
        sizes,
    )
    listed = tasks(request, sizes, frame.kept)
    asked = people.settings(request.out)
    parts = [frame.made(name, partial(make, listed), _settings(listed, name)) for name, make in _parts(listed)]
    exported = people.export(listed)
    return frame.findings(
        [*parts, *_of_people(frame, asked)],
        facts=map(_fact, listed),
        more=[("Paths to look at", str(request.out / _PATHS))],
        notes=[_NO_NUMBERS, _OURS, *notes(listed), *exported, *_left_out(listed, asked)],
    )


def _parts(listed: Sequence[Task]) -> Iterator[tuple[str, Make]]:
    """The parts that can be made of these tasks."""
    yield "figure_3", lambda of: lengths.part(_reduced(of))
    yield "figure_4", lambda of: confidence.part(_reduced(of))
    yield "random_removal", _random_removal
    yield "agreement", _agreement
    yield "second_order", _second_order
    yield "transfer", _transfer
    if any(task.name == "sst" for task in listed) and listed[0].sizes.checkpoints:
        yield "checkpoints", _checkpoints
    if any(task.mendable for task in listed):
        yield "table_2", _mended


def _mended(listed: Sequence[Task]) -> Part:
    results = (task.mendings for task in listed if task.mendable)
    return mended.part({title: result for found in results for title, result in found.items()})


def _reduced(listed: Sequence[Task]) -> list[Reduced]:
    return [task.reduced for task in listed]


def _random_removal(listed: Sequence[Task]) -> Part:
    draws = listed[0].sizes.draws
    found = {task.name: task.ask(random_removal.talks(task.reduced, draws)) for task in listed}
    return random_removal.part(_reduced(listed), found)


def _agreement(listed: Sequence[Task]) -> Part:
    found = {task.name: task.ask(agreement.talks(task.reduced)) for task in listed}
    return agreement.part(_reduced(listed), found)


def _second_order(listed: Sequence[Task]) -> Part:
    """The paths that the report tells are shown with shaded words on a page of their own."""
    shown = [e for e in map(second_order.ordinary, _reduced(listed)) if e is not None]
    if shown:
        listed[0].kept.write(listed[0].kept.out / _PATHS, page(shown).encode())
    return second_order.part(_reduced(listed))


def _transfer(listed: Sequence[Task]) -> Part:
    from assay_studies.pathologies.other_models import second, told  # trainers are only wanted where they train

    found, said = {}, []
    for task in listed:
        if (model := second(task)) is not None:
            talks = transfer.talks(task.reduced, model.labels, task.sizes.per_label, task.sizes.draws)
            found[task.name] = task.ask(talks, Engine(model))
            said.append(told(task, model))
    return replace(transfer.part(_reduced(listed), found), notes=tuple(said))


def _checkpoints(listed: Sequence[Task]) -> Part:
    """The same texts, reduced by the attentive model after each epoch."""
    from assay_studies.pathologies.other_models import epochs

    task = next(task for task in listed if task.name == "sst")
    examples, found, agreed = spread(task.examples, task.sizes.checkpoint_texts), [], []
    learned = [digest(task.sentences), task.sizes.glove, task.sizes.checkpoints]
    for i, model in enumerate(epochs(task), start=1):
        settings = {"texts": digest(examples), "model": [*learned, i], "beam": task.sizes.beam}
        found.append(task.reduced_by(partial(Engine, model), examples, f"sst_epoch_{i}", settings))
        agreed.append(task.ask(agreement.talks(found[-1]), Engine(model)))
    return checkpoints.part(found, agreed)


def _of_people(frame: Frame, asked: dict[str, str]) -> Iterator[Part]:
    for name, after in (("table_1", False), ("table_3", True)):
        if any(known.endswith(people.AFTER) == after for known in asked):
            yield frame.made(name, partial(_human, frame.kept, name, after), {"version": _VERSION, "answers": asked})


def _human(kept: Kept, name: str, after: bool) -> Part:
    return human.part(people.scores(kept.out, after=after), name)


def _settings(listed: Sequence[Task], name: str) -> dict[str, Any]:
    """What a part depends on."""
    models = listed[0].request.models
    given = {other: listed[0].request.open(other).fingerprint() for other in _OTHERS if other in models}
    learned = {task.name: task.learned for task in listed} | given
    return {
        "version": _VERSION,
        "sizes": listed[0].sizes.of_part(name),
        "tasks": {task.name: task.settings for task in listed},
        "learned": learned if name in _TRAINED else {},
    }


def _left_out(listed: Sequence[Task], asked: dict[str, str]) -> Iterator[str]:
    place = listed[0].kept.out
    if not asked and listed[0].sizes.people:
        yield (
            f"Tables 1 and 3 are what people say: their tasks are in {place / 'people'}; put the answers to those of "
            f"snli into {place / 'answers' / 'snli.csv'} (and so on), and run the study again."
        )
    names = {task.name for task in listed}
    if "squad" in names and not listed[0].sizes.drqa_train and "drqa" not in listed[0].request.models:
        yield "SQuAD: no second reader was trained (drqa_train is 0), so that its reduced questions transfer nowhere."
    if "scenes" in names:
        yield "Scenes: there is no second visual architecture, so that nothing transfers; and none was mended."


def _fact(task: Task) -> tuple[str, str]:
    right = task.reduced.accuracy
    share = "" if right is None else f", {right.mean():.1%} predicted right"
    return task.title, f"{len(task.examples):,} texts by the model {task.model.name}{share}"

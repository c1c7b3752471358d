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

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from assay_studies.claims import Claim
from assay_studies.of_this_run import SNLI
from assay_studies.pathologies import (
    agreement,
    checkpoints,
    confidence,
    human,
    lengths,
    mended,
    paths,
    people,
    random_removal,
    second_order,
    transfer,
)
from assay_studies.pathologies.jobs import jobs, part_waits
from assay_studies.pathologies.sizes import Sizes
from assay_studies.pathologies.tasks import Task, tasks
from assay_studies.rules import Learned
from assay_studies.specification import PartSpec
from assay_studies.study import Fact, Run, Study

_OTHERS = ("decomposable", "attentive", "drqa")
_OF_OTHERS = ("transfer", "checkpoints")  # claims about models that the study trains
_NO_NUMBERS = (
    "The paper shows its Figures 3 and 4 without numbers, and the numbers of its Tables 1 to 3 are not in the text "
    "that we have: where nothing published stands beside ours, the claim is put to the test in its words."
)
_OURS = (
    "Ours, and not the paper's: the task SST-2, random removal to the same length (with the claim on it), what chance "
    "would give, calibration, and the limits in claims (more than half, 0.1, one word, one point)."
)


def _parts(run: Run[Task, Sizes]) -> Iterator[PartSpec[Task]]:
    """The parts that can be made of these tasks, and of the answers of people that are there."""
    yield lengths.PART
    yield confidence.PART
    if run.sizes.draws:
        yield random_removal.PART
    if run.sizes.exhaustive:
        yield agreement.PART
    yield paths.PART
    yield second_order.PART
    if run.sizes.draws:
        yield transfer.PART
    if any(task.name == "sst" for task in run.tasks) and run.sizes.checkpoints:
        yield checkpoints.PART
    if any(task.mendable for task in run.tasks):
        yield mended.PART
    answers = people.settings(run.store.out)
    for part, after in ((human.TABLE_1, False), (human.TABLE_3, True)):
        if any(name.endswith(people.AFTER) == after for name in answers):
            yield replace(part, settings={"answers": answers})


def _settings(run: Run[Task, Sizes], part: PartSpec[Task]) -> Mapping[str, Any]:
    """A part depends on the models that were given and on the texts to learn from only where models are trained."""
    given = {name: run.request.open(name).fingerprint() for name in _OTHERS if name in run.request.models}
    learned = {task.name: task.learned for task in run.tasks} | given
    return {
        "sizes": run.sizes.of_part(part.name),
        "tasks": {task.name: task.settings for task in run.tasks},
        "learned": learned if part.trains else {},
    }


def _learned(run: Run[Task, Sizes], claim: Claim) -> Learned | None:
    """The model that is reduced; a span reader has no commonest class, and others than it answer for themselves."""
    titles = {one.about for one in claim.comparisons}
    for task in run.tasks:
        right, gold = task.reduced.accuracy, task.reduced.gold
        if task.title in titles and claim.key not in _OF_OTHERS and task.name != "squad" and gold and right is not None:
            return Learned.of(right, gold)
    return None


def _facts(run: Run[Task, Sizes]) -> Iterator[Fact]:
    for task in run.tasks:
        right = task.reduced.accuracy
        share = "" if right is None else f", {right.mean():.1%} predicted right"
        yield task.title, f"{len(task.examples):,} texts by the model {task.model.name}{share}"


def _notes(run: Run[Task, Sizes]) -> Iterator[str]:
    """The tasks for people are exported now: what is said of them depends on what the directory holds."""
    yield from (_NO_NUMBERS, _OURS)
    yield from (note for task in run.tasks for note in task.notes)
    yield from people.export(run.tasks)
    place, names = run.store.out, {task.name for task in run.tasks}
    if run.sizes.people and not people.settings(place):
        yield (
            f"Tables 1 and 3 are what people say: their tasks are in {place / 'people'}; put the answers to those of "
            f"snli into {place / 'answers' / 'snli.csv'} (and so on), and run the study again."
        )
    if "squad" in names and not run.sizes.drqa_train and "drqa" not in run.request.models:
        yield "SQuAD: no second reader was trained (drqa_train is 0), so that its reduced questions transfer nowhere."
    if "scenes" in names:
        yield "Scenes: there is no second visual architecture, so that nothing transfers; and none was mended."


def _snli(run: Run[Task, Sizes]) -> Iterator[Fact]:
    """Which weights the numbers of SNLI are of: the page compares."""
    if "snli" not in run.request.models and {task.name for task in run.tasks} & {"snli", "esnli"}:
        yield SNLI, run.request.open("snli").fingerprint()


STUDY = Study(
    name="pathologies",
    title="Pathologies of neural models: what is left when all that can go has gone",
    paper="Feng, Wallace, Grissom II, Iyyer, Rodriguez and Boyd-Graber (2018), arXiv:1804.07781",
    sizes=Sizes,
    version=4,
    tasks=tasks,
    parts=_parts,
    facts=_facts,
    more_facts=lambda run: [("Paths to look at", second_order.PATHS), *_snli(run)],
    notes=_notes,
    settings=_settings,
    learned=_learned,
    jobs=jobs,
    part_waits=part_waits,
)

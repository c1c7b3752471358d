"""Double Trouble: how to not explain a text classifier's decisions using counterfactuals synthesised by masked LMs?

Pham, Bui, Mai and Nguyen (2022), arXiv:2110.04947. Input marginalization (IM) replaces a word by what a masked language
model expects; leave-one-out (LOO) deletes it. Which of the two looks better depends on how the test takes words away;
tests that are not biased so find no evidence for IM.

Here with small models of six layers in the place of BERT: numbers differ, the claims that do not depend on the size of
the model are put to the test one by one. Departures are described in the files of the parts: deletion_bias (Table 1),
other_filler (1b), deletion_variants (section 4), human (3, A2), accuracy_drop (4), magnitude (A1), predictable_words
(A3), candidates (A4), sanity (A5), retraining (2), lime_retraining (A6); and of what is trained: further_trained,
multirc_task.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay_studies.claims import Claim
from assay_studies.double_trouble import (
    accuracy_drop,
    candidates,
    deletion_bias,
    deletion_variants,
    human,
    lime_retraining,
    magnitude,
    other_filler,
    predictable_words,
    retraining,
    sanity,
)
from assay_studies.double_trouble.jobs import jobs, part_waits
from assay_studies.double_trouble.methods import METHODS
from assay_studies.double_trouble.sizes import Sizes
from assay_studies.double_trouble.tasks import DATASETS, Task, left_out, tasks
from assay_studies.of_this_run import SNLI
from assay_studies.rules import Learned
from assay_studies.specification import PartSpec
from assay_studies.study import Fact, Run, Study

_OF_OTHERS = ("put_back", "roar", "roar_random", "roar_lime")  # claims on the filler, and on models that are retrained


def _settings(run: Run[Task, Sizes], part: PartSpec[Task]) -> Mapping[str, Any]:
    """The masked language model that was trained further counts too, where there is one."""
    known = {task.name: task.settings for task in run.tasks if part.wants(task)}
    filler = run.tasks[0].further(METHODS["LIME_BERT_SST2"](run.sizes)[1]) if run.sizes.mlm_train else {}
    return {"sizes": run.sizes.of_part(part.name), "tasks": known, **filler}


def _facts(run: Run[Task, Sizes]) -> Iterator[Fact]:
    for task in run.tasks:
        right = f"{task.correct.mean():.1%} predicted right"
        yield task.title, f"{len(task.examples):,} texts by the model {task.model_name}, {right}{_on_dev(task)}"


def _on_dev(task: Task) -> str:
    if task.accuracy is None or task.learned is None:
        return ""
    share, labels = task.accuracy
    return f"; {share:.1%} of {len(labels):,} texts of dev, the commonest label {task.learned.commonest:.1%}"


def _learned(run: Run[Task, Sizes], claim: Claim) -> Learned | None:
    """The model of the dataset that the claim is about; others than it answer for themselves."""
    about = {one.about.partition(",")[0] for one in claim.comparisons}
    names = {DATASETS.get(task.name): task for task in run.tasks} | {"SST": run.tasks[0]}
    found = [names[name] for name in about if name in names and claim.key not in _OF_OTHERS]
    return found[0].learned if found else None


def _snli(run: Run[Task, Sizes]) -> Iterator[Fact]:
    """Which weights the numbers of SNLI are of: the page compares."""
    if "snli" not in run.request.models and {task.name for task in run.tasks} & {"snli", "esnli"}:
        yield SNLI, run.request.open("snli").fingerprint()


STUDY = Study(
    name="double_trouble",
    title="Double Trouble: are explanations by a masked language model better?",
    paper="Pham, Bui, Mai and Nguyen (2022), arXiv:2110.04947",
    sizes=Sizes,
    version=6,
    tasks=tasks,
    parts=(
        deletion_bias.PART,
        other_filler.PART,
        deletion_variants.PART,
        retraining.PART,
        human.PART,
        accuracy_drop.PART,
        magnitude.PART,
        predictable_words.PART,
        candidates.PART,
        sanity.PART,
        lime_retraining.PART,
    ),
    facts=_facts,
    more_facts=_snli,
    notes=lambda run: (*left_out(run.tasks), *(note for task in run.tasks for note in task.notes)),
    settings=_settings,
    learned=_learned,
    jobs=jobs,
    part_waits=part_waits,
)

"""Attention is not not Explanation: when is it fair to say that attention does not explain?

Wiegreffe and Pinter (2019), arXiv:1908.04626. Before attention is dismissed: is it needed at all (Table 2), how much
does it move by chance (Figure 3), does it help a simpler model (Table 3), and can a model be trained, not only an
attention be found, that says the same and looks elsewhere (Tables 4, 5, Figures 5, 6)? Departures: GloVe vectors of 50
dimensions; the epoch is chosen on dev texts where the released code chooses it on the test texts.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay_studies.attention_is_not_explanation import datasets
from assay_studies.attention_is_not_explanation.tasks import PAPER as FIRST_PAPER
from assay_studies.attention_is_not_not_explanation import adversaries, guides, seeds, selection, uniform
from assay_studies.attention_is_not_not_explanation.jobs import jobs
from assay_studies.attention_is_not_not_explanation.sizes import Sizes
from assay_studies.attention_is_not_not_explanation.tasks import Task, tasks
from assay_studies.specification import PartSpec, Subject, on_each
from assay_studies.study import Fact, Run, Study


def _dataset(task: Task) -> Subject:
    return Subject(task.name, task.title, datasets.measures(task.name, task.split))


_DATASETS = PartSpec(
    name="table_1",
    title="The datasets",
    measure=on_each(_dataset),
    tables=[datasets.TABLE],
    notes=lambda tasks: datasets.notes({task.name: task.split for task in tasks}),
    published=FIRST_PAPER,
)


def _facts(run: Run[Task, Sizes]) -> Iterator[Fact]:
    yield "Datasets", ", ".join(f"{task.title} ({len(task.split.test):,} test texts)" for task in run.tasks)


def _parts(run: Run[Task, Sizes]) -> tuple[PartSpec[Task], ...]:
    sizes = run.sizes
    wanted = (
        (sizes.test_uniform, uniform.PART),
        (sizes.test_seeds, seeds.PART),
        (sizes.test_guides, guides.PART),
        (sizes.test_adversaries, adversaries.PART),
        (sizes.test_adversaries and sizes.test_seeds, selection.PART),
    )
    return (_DATASETS, *(part for is_wanted, part in wanted if is_wanted))


STUDY = Study(
    name="attention_is_not_not_explanation",
    title="Attention is not not Explanation: four tests before it is dismissed",
    paper="Wiegreffe and Pinter (2019), arXiv:1908.04626",
    sizes=Sizes,
    version=7,
    tasks=tasks,
    parts=_parts,
    facts=_facts,
    notes=lambda run: [
        "MIMIC (anemia, diabetes) is not to be had freely; a reader for it is in assay_studies.data.jain_wallace."
    ],
    jobs=lambda run: jobs(run.tasks),
)

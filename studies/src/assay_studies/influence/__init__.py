"""Influential examples: are the texts that methods find those that made the model say it?

Madsen, Reddy and Chandar (2022), arXiv:2108.04840, section 8, on Koh and Liang (2017), Yeh et al. (2018), Pruthi et al.
(2020), Han et al. (2020) and Guo et al. (2021): their experiments on SST-2, with three kinds of models. The papers show
them as figures, on other data; their sentences are put to the test.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay_studies.influence import datamodeling, flipped, overlap, removal
from assay_studies.influence.sizes import Sizes
from assay_studies.influence.tasks import Task, tasks
from assay_studies.study import Fact, Run, Study


def _facts(run: Run[Task, Sizes]) -> Iterator[Fact]:
    for task in run.tasks:
        yield task.title, f"{getattr(run.sizes, task.name):,} training texts of SST-2, a tenth with changed labels"


STUDY = Study(
    name="influence",
    title="Influential examples: which training texts made it say that?",
    paper="Madsen, Reddy and Chandar (2022), arXiv:2108.04840, section 8",
    sizes=Sizes,
    version=5,
    tasks=tasks,
    parts=(flipped.PART, removal.PART, overlap.PART, datamodeling.PART),
    jobs=lambda run: (),  # the parts share nothing: with --workers they are made side by side
    part_waits=lambda part, job: False,
    facts=_facts,
)

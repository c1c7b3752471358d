"""Edits: which change of a text changes what a model says, and whether it should.

Madsen, Reddy and Chandar (2022), arXiv:2108.04840, sections 7 (adversarial examples: HotFlip, SEA), 9 (counterfactuals:
Polyjuice, MiCE) and 15.1 (rules: SEAR). The survey prints no numbers of them: its sentences are put to the test with
the bundled models of SST-2, SNLI and AG News.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay_studies.edits import comparison, found_rules
from assay_studies.edits.sizes import Sizes
from assay_studies.edits.tasks import Task, tasks
from assay_studies.edits.ways import WAYS
from assay_studies.study import Fact, Run, Study


def _facts(run: Run[Task, Sizes]) -> Iterator[Fact]:
    for task in run.tasks:
        yield task.title, f"{len(task.texts):,} texts that the model {task.model.name} is right about"
    for way in WAYS.values():
        settings = ", ".join(f"{name}={value}" for name, value in way.settings.items())
        yield way.title, f"{way.method}{f' ({settings})' if settings else ''}"


STUDY = Study(
    name="edits",
    title="Edits: which change of a text changes what a model says, and should it?",
    paper="Madsen, Reddy and Chandar (2022), arXiv:2108.04840, sections 7, 9 and 15.1",
    sizes=Sizes,
    version=1,
    tasks=tasks,
    parts=(comparison.PART, found_rules.PART),
    facts=_facts,
)

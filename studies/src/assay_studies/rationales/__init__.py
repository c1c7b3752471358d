"""Reasons in words: are they what people would write, and do they depend on the answer that they argue for?

Madsen, Reddy and Chandar (2022), arXiv:2108.04840, section 10, on CAGE of Rajani et al. (2019), arXiv:1906.02361. The
survey prints no numbers of it: its sentences are put to the test, with the bundled writer, on SNLI pairs that it never
saw and on CommonsenseQA.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay_studies.rationales import belief, closeness, likelihood
from assay_studies.rationales.sizes import Sizes
from assay_studies.rationales.tasks import BASE, WRITER, Task, tasks
from assay_studies.study import Fact, Run, Study


def _facts(run: Run[Task, Sizes]) -> Iterator[Fact]:
    for task in run.tasks:
        told = f"answers of the model {task.model.name}" if task.answered else "the right answers"
        yield task.title, f"{len(task.questions):,} rationales for {told}, {len(task.read):,} human ones read"
    yield "Writer", f"{WRITER}, beside {BASE}"


STUDY = Study(
    name="rationales",
    title="Reasons in words: do they depend on the answer that they argue for?",
    paper="Madsen, Reddy and Chandar (2022), arXiv:2108.04840, section 10.1",
    sizes=Sizes,
    version=2,
    tasks=tasks,
    parts=(likelihood.PART, closeness.PART, belief.PART),
    facts=_facts,
)

"""What the studies of the survey's rows about whole models share: concepts, vocabulary, linguistic, neurons.

Madsen, Reddy and Chandar (2022), arXiv:2108.04840, sections 11, 12, 14 and 15.2. The survey prints few numbers of
these rows: its sentences are put to the test with the bundled models. Each row is a study with a page of its own; its
parts lie here, and what they read (`tasks`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay_studies.sizing import Sizing
from assay_studies.specification import PartSpec
from assay_studies.study import Fact, Run, Study
from assay_studies.whole_model.tasks import Task, tasks


def row_study(
    name: str, title: str, sections: str, sizes: type[Sizing], parts: Sequence[PartSpec[Task]]
) -> Study[Task, Sizing]:
    """The study of one row of the survey; each of its parts has the task of its name."""
    return Study(
        name=name,
        title=title,
        paper=f"Madsen, Reddy and Chandar (2022), arXiv:2108.04840, {sections}",
        sizes=sizes,
        version=1,
        tasks=lambda request, chosen, store: tasks(request, chosen, store, [part.name for part in parts]),
        parts=tuple(parts),
        facts=_facts,
        settings=_settings,
    )


def _facts(run: Run[Task, Sizing]) -> Iterator[Fact]:
    for task in run.tasks:
        yield task.place.title, task.left_out or f"model {task.place.model}"


def _settings(run: Run[Task, Sizing], spec: PartSpec[Task]) -> Mapping[str, Any]:
    """A part depends on its own model, files and sizes."""
    return next(task.settings for task in run.tasks if spec.wants(task))

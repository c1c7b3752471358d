"""The whole model: concepts, vocabulary, linguistic information and neurons, and what the survey says of each row.

Madsen, Reddy and Chandar (2022), arXiv:2108.04840, sections 11, 12, 14 and 15.2. The survey prints few numbers of
these rows: its sentences are put to the test with the bundled models.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay_studies.specification import PartSpec
from assay_studies.study import Fact, Run, Study
from assay_studies.whole_model import concepts, heuristics, layers, neurons, stereotypes, vocabulary
from assay_studies.whole_model.sizes import Sizes
from assay_studies.whole_model.tasks import Task, tasks


def _facts(run: Run[Task, Sizes]) -> Iterator[Fact]:
    for task in run.tasks:
        yield task.place.title, task.left_out or f"model {task.place.model}"


def _settings(run: Run[Task, Sizes], spec: PartSpec[Task]) -> Mapping[str, Any]:
    """A part depends on its own model, files and sizes."""
    return next(task.settings for task in run.tasks if spec.wants(task))


STUDY = Study(
    name="whole_model",
    title="The whole model: concepts, vocabulary, linguistic information, neurons",
    paper="Madsen, Reddy and Chandar (2022), arXiv:2108.04840, sections 11, 12, 14 and 15.2",
    sizes=Sizes,
    version=1,
    tasks=tasks,
    parts=(
        concepts.PART,
        vocabulary.DIRECTION,
        vocabulary.ROTATION,
        heuristics.PART,
        heuristics.SHUFFLED,
        stereotypes.PART,
        layers.PART,
        neurons.PART,
    ),
    facts=_facts,
    settings=_settings,
)

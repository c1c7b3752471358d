"""Attention is not not Explanation: when is it fair to say that attention does not explain?

Wiegreffe and Pinter (2019), arXiv:1908.04626. Before attention is dismissed: is it needed at all (Table 2), how much
does it move by chance (Figure 3), does it help a simpler model (Table 3), and can a model be trained, not only an
attention be found, that says the same and looks elsewhere (Tables 4, 5, Figures 5, 6)? Departures: GloVe vectors of 50
dimensions; the epoch is chosen on dev texts where the released code chooses it on the test texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import TypeAlias

from assay_studies.attention_is_not_explanation import datasets
from assay_studies.attention_is_not_not_explanation import adversaries, guides, seeds, uniform
from assay_studies.attention_is_not_not_explanation.jobs import jobs
from assay_studies.attention_is_not_not_explanation.sizes import Sizes
from assay_studies.attention_is_not_not_explanation.tasks import Task, tasks
from assay_studies.crew import crew
from assay_studies.findings import Findings, Part
from assay_studies.framing import Frame
from assay_studies.request import Request

Make: TypeAlias = Callable[[Sequence[Task]], Part]


def _datasets(listed: Sequence[Task]) -> Part:
    splits = {task.dataset: task.split for task in listed}
    return Part("table_1", "The datasets", (datasets.table(splits),), (), datasets.notes(splits))


PARTS: dict[str, Make] = {
    "table_1": _datasets,
    "table_2": uniform.part,
    "figure_3": seeds.part,
    "table_3": guides.part,
    "tables_4_and_5": adversaries.part,
}
_VERSION = 3  # of the parts: another one computes them all anew
_NOT_HERE = "MIMIC (anemia, diabetes) is not to be had freely; a reader for it is in assay_studies.data.jain_wallace."


def study(request: Request) -> Findings:
    """All parts, each taken from the directory if it is there; then the report."""
    sizes = Sizes.of(request.quick, request.sizes)
    frame = Frame(
        "attention_is_not_not_explanation",
        "Attention is not not Explanation: four tests before it is dismissed",
        "Wiegreffe and Pinter (2019), arXiv:1908.04626",
        request,
        sizes,
    )
    listed = tasks(request, sizes, frame.kept)
    settings = {"version": _VERSION, "sizes": asdict(sizes), "tasks": {t.dataset: t.settings for t in listed}}
    if request.workers > 1 and frame.lacks(PARTS, settings):
        crew(jobs(listed), request.workers, request.say)
    named = ", ".join(f"{task.title} ({len(task.split.test):,} test texts)" for task in listed)
    return frame.findings(
        [frame.made(name, partial(make, listed), settings) for name, make in PARTS.items()],
        facts=[("Datasets", named)],
        notes=[_NOT_HERE],
    )

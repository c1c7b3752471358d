"""Attention is not Explanation: does attention tell why a model said what it said?

Jain and Wallace (2019), arXiv:1902.10186. Recurrent, convolutional and feed-forward encoders with one attention are
trained on the paper's datasets and audited on their test texts: does attention rank words as gradients and
leave-one-out do (Table 2, Figures 2, 6 to 8), does the answer change when it is shuffled (Figure 3), is there a very
different attention with the same answer (Figures 4, 5). Departures: GloVe vectors of 50 dimensions; datasets as far as
they are to be had (each says its sizes). `pages` writes a site to browse: DIR/site/index.html.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import TypeAlias

from assay_studies.attention_is_not_explanation import agreement, counterfactuals, models_and_data, site
from assay_studies.attention_is_not_explanation.jobs import jobs
from assay_studies.attention_is_not_explanation.sizes import Sizes
from assay_studies.attention_is_not_explanation.tasks import Task, tasks
from assay_studies.crew import crew
from assay_studies.findings import Findings, Part
from assay_studies.framing import Frame
from assay_studies.request import Request

Make: TypeAlias = Callable[[Sequence[Task]], Part]
PARTS: dict[str, Make] = {
    "table_1": models_and_data.part,
    "table_2": agreement.part,
    "figures_3_to_5": counterfactuals.part,
}
_VERSION = 2  # of the parts: another one computes them all anew
_NOT_HERE = (
    "MIMIC (anemia, diabetes), CNN and ADR are not to be had freely; readers for them are in "
    "assay_studies.data.jain_wallace."
)


def study(request: Request) -> Findings:
    """All parts, each taken from the directory if it is there; then the report and the pages to browse."""
    sizes = Sizes.of(request.quick, request.sizes)
    frame = Frame(
        "attention_is_not_explanation",
        "Attention is not Explanation: does attention tell why?",
        "Jain and Wallace (2019), arXiv:1902.10186",
        request,
        sizes,
    )
    listed = tasks(request, sizes, frame.kept)
    settings = {"version": _VERSION, "sizes": asdict(sizes), "tasks": {t.setting.name: t.settings for t in listed}}
    if request.workers > 1 and frame.lacks(PARTS, settings):
        crew(jobs(listed), request.workers, request.say)
    findings = frame.findings(
        [frame.made(name, partial(make, listed), settings) for name, make in PARTS.items()],
        facts=[("Models", f"{len(listed)}, in {request.out / 'models'}")],
        more=[("To browse", str(request.out / "site" / "index.html"))],
        notes=[_NOT_HERE],
    )
    site.write(listed, frame.kept)
    return findings

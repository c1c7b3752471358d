"""Double Trouble: how to not explain a text classifier's decisions using counterfactuals synthesised by masked LMs?

Pham, Bui, Mai and Nguyen (2022), arXiv:2110.04947. Input marginalization (IM) replaces a word by what a masked language
model expects; leave-one-out (LOO) deletes it. Which of the two looks better depends on how the test takes words away;
tests that are not biased so find no evidence for IM.

Here with small models of six layers in the place of BERT: numbers differ, the claims that do not depend on the size of
the model are put to the test one by one. Departures are said in the files of the parts: deletion_bias (Table 1),
deletion_variants (section 4), human (3, A2), accuracy_drop (4), magnitude (A1), predictable_words (A3), candidates
(A4), sanity (A5), retraining (2), lime_retraining (A6); and of what is trained: further_trained, multirc_task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, TypeAlias

from assay.verbs import versions
from assay_studies.double_trouble import (
    accuracy_drop,
    candidates,
    deletion_bias,
    deletion_variants,
    human,
    lime_retraining,
    magnitude,
    predictable_words,
    retraining,
    sanity,
)
from assay_studies.double_trouble.methods import METHODS
from assay_studies.double_trouble.sizes import Sizes
from assay_studies.double_trouble.tasks import Task, left_out, tasks
from assay_studies.findings import Findings, Part
from assay_studies.kept import Kept
from assay_studies.making import made
from assay_studies.report import write
from assay_studies.request import Request

Make: TypeAlias = Callable[[Sequence[Task]], Part]
PARTS: dict[str, Make] = {
    "table_1": deletion_bias.part,
    "section_4": deletion_variants.part,
    "table_2": retraining.part,
    "table_3": human.part,
    "table_4": accuracy_drop.part,
    "table_a1": magnitude.part,
    "table_a3": predictable_words.part,
    "table_a4": candidates.part,
    "table_a5": sanity.part,
    "table_a6": lime_retraining.part,
}
_SHORT_ONLY = ("section_4", "table_a5")  # the paper has no MultiRC there, and its texts are long
_VERSION = 3  # of the parts: another one computes them all anew


def study(request: Request) -> Findings:
    """All parts, each taken from the directory if it is there; then the report."""
    request.require_one_worker("double_trouble")
    sizes, kept = Sizes.of(request.quick, request.sizes), Kept(request.out)
    listed = tasks(request, sizes, kept)
    settings = _settings(listed, sizes)
    parts = tuple(
        made(name, partial(make, _of(name, listed)), settings, kept, request.say) for name, make in PARTS.items()
    )
    findings = Findings(
        "double_trouble",
        "Double Trouble: are explanations by a masked language model better?",
        "Pham, Bui, Mai and Nguyen (2022), arXiv:2110.04947",
        tuple(_facts(request, listed, sizes, parts)),
        parts,
        (*left_out(listed), *(note for task in listed for note in task.notes)),
    )
    write(findings, kept)
    return findings


def _of(part: str, listed: Sequence[Task]) -> Sequence[Task]:
    """The datasets of a part."""
    return [task for task in listed if task.name != "multirc"] if part in _SHORT_ONLY else listed


def _settings(listed: Sequence[Task], sizes: Sizes) -> dict[str, Any]:
    told = {task.name: task.settings for task in listed}
    filler = listed[0].further(METHODS["LIME_BERT_SST2"](sizes)[1]) if sizes.mlm_train else {}
    return {"version": _VERSION, "sizes": asdict(sizes), "tasks": told, **filler}


def _facts(request: Request, listed: Sequence[Task], sizes: Sizes, parts: Iterable[Part]) -> Iterable[tuple[str, str]]:
    for task in listed:
        right = f"{task.correct.mean():.1%} predicted right"
        more = "; {:.1%} of {:,} texts of dev".format(*task.accuracy) if task.accuracy else ""
        yield task.title, f"{len(task.examples):,} texts by the model {task.engine.model.name}, {right}{more}"
    yield "Sizes", ", ".join(f"{name} {count:,}" for name, count in asdict(sizes).items())
    run = sum(task.engine.totals.forwards for task in listed)
    asked = sum(task.engine.totals.sequences for task in listed)
    yield "Rows", f"{asked:,} asked, {run:,} run in this call"
    yield "Time", f"{sum(part.seconds for part in parts):,.0f} s for all parts, when they were computed"
    yield "Versions", ", ".join(f"{name} {version}" for name, version in versions().items())
    if request.command:
        yield "Command", request.command

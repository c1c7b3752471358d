"""The studies as `assay study NAME` finds them, through the entry points of this distribution."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from assay.views.wide import grid
from assay_studies import Findings, Request, find_study
from assay_studies.pages import write_page


def run(name: str, page: Path | None = None, **options: Any) -> list[RenderableType]:
    """Make a study, or the page of one that is made; what a terminal shows of it."""
    if page is not None:
        return [f"wrote {path}" for path in write_page(name, page)]
    return list(_shown(find_study(name)(Request(**options))))


def _shown(findings: Findings) -> Iterator[RenderableType]:
    for table in findings.tables:
        shown = grid("", *table.columns)
        for row in table.rows:
            shown.add_row(*row)
        yield from (table.heading, shown)
    for part in findings.parts:
        yield from part.notes
    for claim in findings.claims:
        yield f"{claim.verdict:>13}  {claim.text}: {claim.evidence}"


double_trouble = partial(run, "double_trouble")
attention_is_not_explanation = partial(run, "attention_is_not_explanation")
attention_is_not_not_explanation = partial(run, "attention_is_not_not_explanation")
pathologies = partial(run, "pathologies")
influence = partial(run, "influence")
rationales = partial(run, "rationales")
concepts = partial(run, "concepts")
vocabulary = partial(run, "vocabulary")
linguistic = partial(run, "linguistic")
neurons = partial(run, "neurons")
edits = partial(run, "edits")

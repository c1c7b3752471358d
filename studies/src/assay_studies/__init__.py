"""Studies: the tables and figures of a paper, made again here and set beside the published numbers.

    findings = find_study("double_trouble")(Request(data=Path("data"), out=Path("double_trouble"), quick=True))
    findings.claims, findings.tables; DIR/report.md and report.html say the same

A study is data (see `study` and `specification`): its datasets, what is measured on each text, where that stands in a
table, what the paper claims; the published numbers lie beside it in csv files (see `published`).
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TypeAlias

from assay.errors import UnknownName
from assay_studies.claims import Claim as Claim
from assay_studies.findings import Findings as Findings
from assay_studies.findings import Part as Part
from assay_studies.request import Request as Request

RunStudy: TypeAlias = Callable[[Request], Findings]
STUDIES = (
    "double_trouble",
    "attention_is_not_explanation",
    "attention_is_not_not_explanation",
    "pathologies",
    "rationales",
    "concepts",
    "vocabulary",
    "linguistic",
    "neurons",
    "influence",
    "edits",
)


def find_study(name: str) -> RunStudy:
    """A study by its name; its module is imported only now."""
    if name not in STUDIES:
        raise UnknownName.of("study", name, STUDIES)
    run: RunStudy = import_module(f"assay_studies.{name}").STUDY.run
    return run

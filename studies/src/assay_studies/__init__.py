"""Studies: the tables and figures of a paper, made again here and set beside the published numbers.

    findings = find_study("double_trouble")(Request(data=Path("data"), out=Path("double_trouble"), quick=True))
    findings.claims, findings.tables; DIR/report.md and report.html say the same

A study is a function from a Request to Findings. It is made of parts; a part that is finished stays in the directory
and is not computed again as long as its settings agree.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TypeAlias

from assay.errors import UnknownName
from assay_studies.alone import alone
from assay_studies.claims import Claim as Claim
from assay_studies.findings import Findings as Findings
from assay_studies.findings import Part as Part
from assay_studies.request import Request as Request

Study: TypeAlias = Callable[[Request], Findings]
STUDIES = ("double_trouble", "attention_is_not_explanation", "attention_is_not_not_explanation", "pathologies")


def find_study(name: str) -> Study:
    """A study by its name; its module is imported only now. While it runs, no other one works in its directory."""
    if name not in STUDIES:
        raise UnknownName.of("study", name, STUDIES)
    study: Study = import_module(f"assay_studies.{name}").study

    def held(request: Request) -> Findings:
        with alone(request.out):
            return study(request)

    return held

"""The report of a study: report.md and report.html (which needs nothing else), tables as CSV and Markdown, figures."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping

from assay.views.templating import environment
from assay_studies.charts import MISSING, can_draw, figure
from assay_studies.findings import Findings, Part
from assay_studies.kept import Kept
from assay_studies.rules import CORRECTED
from assay_studies.store import Store
from assay_studies.tables import Table

VERDICTS = "Verdicts of `assay check`, against random explanations or what stands in their place"
JUDGED = ("score", "random", "difference [95 % interval]", "p", "verdict")


def write(findings: Findings, store: Store) -> None:
    """Everything into the directory, each file whole or not at all."""
    for name, data in Kept.of(findings).files().items():
        store.write(store.out / "tables" / name, data)
    for table in findings.tables:
        store.write(store.out / "tables" / f"{table.name}.md", table.to_markdown().encode())
    figures = drawn(findings)
    for name, picture in figures.items():
        store.write(store.out / "figures" / f"{name}.png", picture)
    store.write(store.out / "report.md", markdown(findings, figures).encode())
    store.write(store.out / "report.html", html(findings, figures).encode())


def drawn(findings: Findings) -> dict[str, bytes]:
    """The figures by the names of their tables; none where matplotlib is not installed."""
    made = {table.name: figure(table) for table in findings.tables} if can_draw() else {}
    return {name: picture for name, picture in made.items() if picture is not None}


def notes(findings: Findings, figures: Mapping[str, bytes]) -> list[str]:
    return [*findings.notes, *([] if figures or can_draw() else [MISSING])]


def markdown(findings: Findings, figures: Mapping[str, bytes]) -> str:
    facts = [f"- {name}: {value}" for name, value in findings.facts]
    about = [f"- {note}" for note in notes(findings, figures)]
    parts = [line for part in findings.parts for line in _part(part, figures)]
    return "\n".join(
        [
            f"# {findings.title}",
            "",
            findings.paper,
            "",
            *facts,
            *about,
            "",
            "## Claims",
            "",
            *_claims(findings),
            *parts,
        ]
    )


def _claims(findings: Findings) -> Iterator[str]:
    yield "| claim of the paper | here | evidence (differences with 95 % intervals) |"
    yield "|---|---|---|"
    for claim in findings.claims:
        yield f"| {claim.text} | {claim.verdict} | {claim.evidence} |"
    yield ""
    yield CORRECTED
    yield ""


def _part(part: Part, figures: Mapping[str, bytes]) -> Iterator[str]:
    yield f"## {part.title}"
    yield ""
    for note in part.notes:
        yield note
        yield ""
    for table in part.tables:
        yield table.to_markdown()
        if table.name in figures:
            yield f"![{table.title}](figures/{table.name}.png)"
            yield ""
    yield from _verdicts(part)


def _verdicts(part: Part) -> Iterator[str]:
    if not part.verdicts:
        return
    yield f"### {VERDICTS}"
    yield ""
    yield "| " + " | ".join(("", *JUDGED)) + " |"
    yield "|---" * (len(JUDGED) + 1) + "|"
    for verdict in part.verdicts:
        yield "| " + " | ".join(verdict.cells) + " |"
    yield ""
    for warning, count in part.warnings.items():
        yield f"- {warning} ({count} of {len(part.verdicts)} verdicts)"
    yield ""


def html(findings: Findings, figures: Mapping[str, bytes]) -> str:
    return (
        environment("assay_studies")
        .get_template("study.html.j2")
        .render(
            f=findings,
            notes=notes(findings, figures),
            picture=lambda table: _embedded(table, figures),
            heading=VERDICTS.replace("`", ""),
            columns=JUDGED,
            corrected=CORRECTED,
        )
    )


def _embedded(table: Table, figures: Mapping[str, bytes]) -> str:
    """The figure as a part of the page; nothing where there is none."""
    picture = figures.get(table.name)
    return f"data:image/png;base64,{b64encode(picture).decode()}" if picture else ""

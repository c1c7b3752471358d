"""The audit of a model in a terminal: the overall answer, a few lines for each question, and what was not asked."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from rich.console import Group, RenderableType
from rich.text import Text as Line

from assay.progress import lasting
from assay.views.say import counted
from assay.views.visible import visible
from assay.views.wide import Wide, grid, hanging
from assay.workflows.model_audit.part import AuditPart
from assay.workflows.model_audit.result import ModelAudit

_ROWS = 6


def headline(audit: ModelAudit) -> RenderableType:
    """The question and its one answer, then a line for each part."""
    return Group(*_head(audit), *(_line(part) for part in audit.parts), Line())


def shown(audit: ModelAudit) -> RenderableType:
    return Group(*_parts(audit))


def _head(audit: ModelAudit) -> Iterator[RenderableType]:
    answer = audit.overall
    yield Line(visible(answer.question), style="bold")
    yield Line.assemble((f"{visible(answer.short)}. ", "bold"), visible(answer.sentence))
    yield Line()


def _line(part: AuditPart) -> RenderableType:
    return Line.assemble((part.question, "bold"), f" {visible(part.short)}.")


def _parts(audit: ModelAudit) -> Iterator[RenderableType]:
    yield from _head(audit)
    for part in audit.parts:
        yield _line(part)
        yield Line(visible(part.sentence))
        if part.rows:
            yield Wide(100, partial(_table, part), partial(_listing, part))
        yield from (Line(f"⚠ {visible(warning)}", style="yellow") for warning in part.cautions)
        yield Line()
    yield Line("Not asked", style="bold")
    yield hanging((visible(what), Line(visible(why))) for what, why in audit.unasked)
    yield Line(f"{lasting(audit.seconds)}; --html writes the page with all figures.", style="dim")


def _table(part: AuditPart) -> RenderableType:
    made = grid(*(part.head if any(part.head) else ("", "")), right=() if part.name in _WORDS else part.head[1:])
    for row in part.rows[:_ROWS]:
        made.add_row(*map(visible, row))
    return Group(made, *_more(part))


def _listing(part: AuditPart) -> RenderableType:
    """The same for narrow terminals."""
    if part.name in _WORDS and any(part.head):
        lines = (Line(visible(" → ".join(row))) for row in part.rows[:_ROWS])
        return Group(*lines, *_more(part))
    names = part.head[1:]
    rows = ((visible(row[0]), Line("; ".join(_cells(names, row[1:])))) for row in part.rows[:_ROWS])
    return Group(hanging(rows), *_more(part))


def _cells(names: tuple[str, ...], cells: tuple[str, ...]) -> Iterator[str]:
    for name, cell in zip(names, cells, strict=True):
        yield visible(f"{name} {cell}".strip())


def _more(part: AuditPart) -> Iterator[RenderableType]:
    if len(part.rows) > _ROWS:
        yield Line(f"and {counted(len(part.rows) - _ROWS, 'more row')}", style="dim")


_WORDS = ("identity", "attacks", "explanations", "pathologies")  # whose cells are words, not numbers

"""The audit in a terminal: the answers, the table, and one text under two attentions."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text as Line

from assay.views.heat import Heat
from assay.views.visible import visible
from assay.views.wide import Wide, grid, hanging
from assay.workflows.audit.page import PAPER, title
from assay.workflows.audit.result import AttentionAudit
from assay.workflows.audit.rows import HEAD, KEY, table


def shown(audit: AttentionAudit) -> RenderableType:
    return Group(*_parts(audit))


def headline(audit: AttentionAudit) -> RenderableType:
    """The question and its one answer."""
    answer = audit.overall
    return Group(
        Line(visible(title(audit)), style="bold"), Line.assemble((f"{answer.short}. ", "bold"), answer.sentence)
    )


def _parts(audit: AttentionAudit) -> Iterator[RenderableType]:
    yield headline(audit)
    for answer in audit.answers():
        yield Line()
        yield Line.assemble((answer.question, "bold"), f" {answer.short}.")
        yield Line(answer.sentence)
    yield Line()
    yield Wide(128, lambda: _table(audit), lambda: _listing(audit))
    yield Line(KEY, style="dim")
    yield from _example(audit)
    for warning in audit.warnings:
        yield Line(f"⚠ {visible(warning)}", style="yellow")
    yield Line(f"{PAPER}; --html shows the figures.", style="dim")


def _table(audit: AttentionAudit) -> RenderableType:
    made = grid(*HEAD, right=HEAD[1:])
    for row in table(audit):
        made.add_row(*map(visible, row))
    return made


def _listing(audit: AttentionAudit) -> RenderableType:
    """The same for narrow terminals: a line for each number of each row."""
    cells = (dict(zip(HEAD[1:], row[1:], strict=True)) | {"": row[0]} for row in table(audit))
    return hanging((visible(c.pop("")), Line("; ".join(f"{name} {n}" for name, n in c.items() if n))) for c in cells)


def _example(audit: AttentionAudit) -> Iterator[RenderableType]:
    for one in audit.examples(1):
        if one.jsd > 0:
            yield Line()
            yield Line(f"The attention of the model ({visible(one.label)}):", style="bold")
            yield Heat(one.attention)
            heading = (
                f"Another one: the answer moves by {one.adversary_tvd:.3f} (TVD), the attention by {one.jsd:.2f} (JSD):"
            )
            yield Line(heading, style="bold")
            yield Heat(one.other)
            yield Line()

"""Lists of explanations and of verdicts: on a page, in a notebook and in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.text import Text as Line

from assay.errors import BadInput
from assay.explanations.base import Explanation
from assay.explanations.explanation_list import Explanations
from assay.explanations.text_explanation import TextExplanation
from assay.statistics.verdict import Verdict
from assay.verdicts.naming import method_titles
from assay.verdicts.verdict_list import Verdicts
from assay.views import descriptions, pages, say
from assay.views.proof import chance, check_title
from assay.views.templating import render
from assay.views.terminal import explained, verdict_table, warning_line

_SHOWN = 10  # explanations in a notebook or a terminal; a page shows all of them


def page(explanations: Sequence[Explanation], verdicts: Sequence[Verdict] = ()) -> str:
    """One HTML file: explanations of texts, or descriptions of a sample, and what the checks found of them."""
    texts = [e for e in explanations if isinstance(e, TextExplanation)]
    if len(texts) == len(explanations):
        return pages.page(texts, verdicts)
    return descriptions.page(explanations, verdicts)


def explanations_page(many: Explanations) -> str:
    if not many.made:
        raise BadInput("there is no explanation in this list to show.")
    return page(many.made)


def explanations_fragment(many: Explanations) -> str:
    """The first ones; what could not be explained is said in its place."""
    parts = [
        (descriptions.fragment(e) if not isinstance(e, TextExplanation) else pages.fragment(e), "")
        if isinstance(e, Explanation)
        else ("", str(e))
        for e in many.flat[:_SHOWN]
    ]
    count = len(many.flat)
    return str(render("explanations_fragment.html.j2", parts=parts, more=count - len(parts), count=count))


def explanations_lines(many: Explanations) -> RenderableType:
    """The first ones; all methods' explanations of one text stand together."""
    all_of_them = many.flat
    more = [Line(f"and {len(all_of_them) - _SHOWN} more")] if len(all_of_them) > _SHOWN else []
    return Group(*_lines(all_of_them[:_SHOWN]), *more)


def _lines(some: Sequence[object]) -> Iterator[RenderableType]:
    for _, same in groupby(some, key=lambda e: e.text if isinstance(e, TextExplanation) else id(e)):
        group = list(same)
        told = [e for e in group if isinstance(e, TextExplanation)]
        if told:
            yield explained(told)
        else:
            yield from (
                descriptions.terminal([e]) if isinstance(e, Explanation) else warning_line(str(e)) for e in group
            )
        yield Line()


def verdicts_page(verdicts: Verdicts) -> str:
    return pages.page([], verdicts)


def verdicts_fragment(verdicts: Verdicts) -> str:
    """A table for a notebook."""
    head = ["method", "check", "score", "random", "difference [95 %]", "p", "ahead of", "verdict"]
    rows = [_row(title, v) for title, v in zip(method_titles(verdicts), verdicts, strict=True)]
    return str(render("verdicts_fragment.html.j2", head=head, rows=rows))


def _row(title: str, v: Verdict) -> list[str]:
    low, high = (say.signed(edge) for edge in v.interval)
    arrow = "↑" if v.better == "higher" else "↓"
    numbers = [say.number(v.mean), say.number(v.random), f"{say.signed(v.difference)} [{low}, {high}]"]
    return [title, f"{check_title(v.check)} {arrow}", *numbers, chance(v.p_value), f"{v.ahead:.0%}", v.sentence]


def verdicts_lines(verdicts: Verdicts) -> RenderableType:
    return verdict_table(verdicts) if verdicts else Line("no verdicts")

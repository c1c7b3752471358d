"""Behavior: the share of probes that the model passes, heuristic by heuristic and case by case, and what it fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text as Line

from assay.explanations.behavior import Behavior, FailedProbe, GroupResult
from assay.views import say
from assay.views.templating import render
from assay.views.visible import one_line, visible

_BAR = 20
_MOST_FAILURES = 3  # of each heuristic
_NAMES = 34  # columns of the longest name
_NOTE = "Share of probes passed, with its exact 95 % interval (Clopper and Pearson)."
_HALF = "Here one half is ideal: the model should not prefer either sentence."


@dataclass(frozen=True)
class ShownGroup:
    """A heuristic or ability: all of its probes, its cases, and a few failures."""

    whole: GroupResult
    cases: list[GroupResult]
    failures: list[FailedProbe]

    @property
    def note(self) -> str:
        return f"{self.whole.kind}, {say.counted(self.whole.n, 'probe')}"

    @property
    def half(self) -> bool:
        return self.whole.wanted == 0.5


def html(e: Behavior) -> Markup:
    values = {"sentence": sentence(e), "groups": shown(e), "note": _NOTE, "half": _HALF}
    return render("behavior.html.j2", percent=percent, interval=interval, told=told, **values)


def heading(e: Behavior) -> str:
    """The question that is answered."""
    return "Does the model do what it should?"


def terminal(e: Behavior) -> RenderableType:
    return ProbedGroups(e)


@dataclass(frozen=True)
class ProbedGroups:
    """A table of all cases, then a few failures of each heuristic."""

    e: Behavior

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Line(sentence(self.e))
        groups = shown(self.e)
        yield _table(groups, options)
        yield Line(_NOTE, style="dim")
        if any(group.half for group in groups):
            yield Line(_HALF, style="dim")
        yield from _failures(groups)


def _table(groups: list[ShownGroup], options: ConsoleOptions) -> Table:
    """Names, bars, shares, intervals and counts; of a narrow terminal without the bars."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(max_width=_NAMES, overflow="fold")
    for _ in range(3 if options.max_width >= 72 else 2):
        table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    for group in groups:
        rows = [(group.whole.name, group.whole, "bold")]
        listed = group.cases if len(group.cases) > 1 or group.cases[0].case else []
        rows += [(f"  {case.case}", case, "") for case in listed]
        for name, one, style in rows:
            bars = [_bar(one, options.ascii_only)] if options.max_width >= 72 else []
            cells = [Line(percent(one), style=style), Line(interval(one), style="dim")]
            table.add_row(Line(visible(name), style=style), *bars, *cells, Line(f"{one.n:,}", style="dim"))
    return table


def _bar(group: GroupResult, ascii_only: bool) -> Line:
    full = round(_BAR * group.passed / group.n)
    return Line.assemble(
        (("=" if ascii_only else "━") * full, "blue"), (("." if ascii_only else "─") * (_BAR - full), "dim")
    )


def _failures(groups: list[ShownGroup]) -> Iterator[Line]:
    for group in groups:
        if group.failures:
            yield Line()
            yield Line(f"Not as expected: {visible(group.whole.name)}", style="bold")
            yield from (Line(f"- {one_line(told(failure))}") for failure in group.failures)


def told(failure: FailedProbe) -> str:
    """A failed probe in one sentence."""
    if not failure.text:
        return f"“{failure.answer}” preferred to “{failure.expected}”"
    return f"“{failure.text}” → {failure.answer} (expected {failure.expected})"


def shown(e: Behavior) -> list[ShownGroup]:
    """Heuristics in the order of the suite; failures from as many cases as there are."""
    groups = []
    for name, whole in e.by_name.items():
        cases = e.cases_of(name)
        rounds = [case.failures[i] for i in range(_MOST_FAILURES) for case in cases if i < len(case.failures)]
        groups.append(ShownGroup(whole, cases, [] if whole.wanted == 0.5 else rounds[:_MOST_FAILURES]))
    return groups


def sentence(e: Behavior) -> str:
    """The best and the worst group."""
    groups = [group for group in e.by_name.values() if group.wanted == 1]
    total = sum(group.n for group in e.groups)
    asked = f"{say.counted(total, 'probe')} of {e.suite}"
    if not groups:
        return f"{asked}."
    worst = min(groups, key=lambda group: group.passed / group.n)
    if worst.passed == worst.n:
        return f"{asked}: all pass."
    best = max(groups, key=lambda group: group.passed / group.n)
    if best is worst:
        return f"{asked}: {percent(worst).strip()} pass."
    low, high = (f"{percent(group).strip()} of “{group.name}”" for group in (worst, best))
    return f"{asked}: from {low} to {high} pass."


def percent(group: GroupResult) -> str:
    """Whole percents; never all or nothing for what is only close to it."""
    value = group.passed / group.n
    rounded = f"{value:.0%}"
    close = 0 < value < 1 and rounded in ("0%", "100%")
    return f"{f'{value:.1%}' if close else rounded:>5}"


def interval(group: GroupResult) -> str:
    low, high = f"{100 * group.share.low:.0f}", f"{100 * group.share.high:.0f}"
    return f"[{low}, {high}]"

"""The terminal: explanations and verdicts as rich renderables, readable with and without colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text as Line

from assay.explanations.text_explanation import TextExplanation
from assay.explanations.token_scores import TokenScores
from assay.statistics.verdict import Verdict
from assay.verdicts.naming import method_titles
from assay.views import say
from assay.views.bars import bars
from assay.views.kinds import renderer
from assay.views.proof import by_method, cautions, chance, check_title
from assay.views.score_table import ScoreTable
from assay.views.tables import checks_table, found, methods_table, models_table
from assay.views.visible import one_line, visible
from assay.views.wide import ColumnsThatFit, Wide, grid

__all__ = [
    "checks_table",
    "explained",
    "found",
    "methods_table",
    "models_table",
    "prediction_line",
    "verdict_table",
    "warning_line",
]

_BAR = 20
_LABELS = 4


def explained(told: Sequence[TextExplanation], *, table: bool = False) -> RenderableType:
    """All methods' explanations of one text: the question once, then each method's words; labels side by side."""
    first, labels = told[0], list(dict.fromkeys(e.label for e in told))
    if len(labels) == 1:
        head: list[RenderableType] = [Line(visible(say.heading(first)), style="bold"), prediction_line(first)]
        return Group(*head, *(part for e in told for part in _method(e, table)))
    by_label = [[e for e in told if e.label == label] for label in labels]
    return Group(Line(say.EACH_LABEL, style="bold"), ColumnsThatFit([_label(mine, table) for mine in by_label]))


def _label(mine: Sequence[TextExplanation], table: bool) -> RenderableType:
    """One label's column."""
    return Group(prediction_line(mine[0], 1), *(part for e in mine for part in _method(e, table)))


def verdict_table(verdicts: Sequence[Verdict]) -> RenderableType:
    """Every method under every check; then the warnings, each once."""
    listing = [_verdict_lines(title, v) for title, v in zip(method_titles(verdicts), verdicts, strict=True)]
    table = Wide(126, lambda: _verdict_grid(verdicts), lambda: Group(*listing, Line()))
    said = [warning_line(warning) for warning in _verdict_warnings(verdicts)]
    key = "↑ higher is better, ↓ lower is better; ahead of: the share of random explanations that it beats"
    return Group(table, *said, Line(key, style="dim"))


def _method(e: TextExplanation, table: bool = False) -> Iterator[RenderableType]:
    yield Line()
    yield Line.assemble((say.method_title(e), "bold"), ("  " + " · ".join(map(visible, say.settings(e))), "dim"))
    yield renderer(e).terminal(e)
    if table and isinstance(e, TokenScores):
        yield ScoreTable(e)
    for warning in (*say.remarks(e), *e.warnings):
        yield warning_line(warning)


def prediction_line(e: TextExplanation, most: int = _LABELS) -> Line:
    """The explained label with a bar, then the likeliest others."""
    shown, left = bars(e, most)
    if most == 1:
        shown, left = [bar for bar in shown if bar.explained], 0
    line = Line()
    for bar in sorted(shown, key=lambda bar: not bar.explained):
        line.append(f"{one_line(bar.label)} {say.chance(bar.chance)}", style="bold" if bar.explained else "dim")
        if bar.explained:
            line.append(" " + "━" * round(_BAR * bar.chance), style="blue")
            line.append("╌" * (_BAR - round(_BAR * bar.chance)), style="dim")
        line.append("  ")
    line.append(f"and {left} more" if left else "", style="dim")
    line.rstrip()
    return line


def _verdict_grid(verdicts: Sequence[Verdict]) -> RenderableType:
    numbers = ("score", "random", "difference [95 %]", "p", "ahead of")
    table = grid("method", "check", *numbers, "verdict", right=numbers)
    for title, v in zip(method_titles(verdicts), verdicts, strict=True):
        plain = (visible(title), _check(v), *_numbers(v))
        table.add_row(*map(Line, plain), _sentence(v))
    return table


def _verdict_lines(title: str, v: Verdict) -> Line:
    score, random, difference, p, ahead = _numbers(v)
    head = ((visible(title), "bold"), f", {_check(v)}: ", _sentence(v))
    effect = f"\n  ahead of {ahead} of random explanations: a {v.effect} effect"
    return Line.assemble(*head, f"\n  score {score}, random {random}, difference {difference}, p {p}", effect)


def _numbers(v: Verdict) -> tuple[str, str, str, str, str]:
    low, high = (say.signed(edge) for edge in v.interval)
    difference = f"{say.signed(v.difference)} [{low}, {high}]"
    return say.number(v.mean), say.number(v.random), difference, chance(v.p_value), f"{v.ahead:.0%}"


def _check(v: Verdict) -> str:
    return f"{check_title(v.check)} {'↑' if v.better == 'higher' else '↓'}"


def _sentence(v: Verdict) -> Line:
    """Green only where the difference is more than small: with many texts a test finds the smallest one."""
    clear = v.chance == "reach" or v.effect in ("medium", "large")
    return Line(v.sentence, style=("green" if clear else "") if v.passed else "yellow")


def _verdict_warnings(verdicts: Sequence[Verdict]) -> Iterator[str]:
    for title, mine in by_method(verdicts).items():
        for said in cautions(mine):
            yield f"{title}, {said}"


def warning_line(said: str) -> Line:
    return Line(f"⚠ {visible(said)}", style="yellow")

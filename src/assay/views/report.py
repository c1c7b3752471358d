"""The page about a whole run: what was run, verdicts, words that matter, agreement, examples, failures, cost.

Plain data comes in, one self-contained page goes out; nothing here reads a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from assay.explanations.text_explanation import TextExplanation
from assay.statistics.verdict import Verdict
from assay.verdicts.naming import method_name
from assay.views import say
from assay.views.kinds import renderer
from assay.views.pages import helpers_for, verdicts_by_method
from assay.views.templating import render


@dataclass(frozen=True)
class Word:
    """A word, its mean score with an interval over its occurrences, and how often it occurs."""

    word: str
    mean: float
    low: float
    high: float
    count: int


@dataclass(frozen=True)
class WordList:
    """Words of one method that speak for a label, and those against it; without signs, all are in the first list."""

    method: str
    target: str
    speak_for: tuple[Word, ...]
    against: tuple[Word, ...]
    signed: bool = True


@dataclass(frozen=True)
class AgreementTable:
    """Mean Kendall tau of each pair of methods, over so many texts."""

    methods: tuple[str, ...]
    tau: tuple[tuple[float, ...], ...]
    texts: int


@dataclass(frozen=True)
class ExampleRow:
    """An explanation worth a look, and why."""

    explanation: TextExplanation
    why: str
    id: str
    strong: bool


@dataclass(frozen=True)
class Failure:
    """One kind of error under one method."""

    method: str
    error: str
    count: int
    share: float
    id: str
    message: str


@dataclass(frozen=True)
class MethodCost:
    """What a method asked and took; seconds are for a thousand rows, checks included, where they were measured."""

    method: str
    rows: int
    forwards: int
    gradients: int
    tokens: int
    hits: float
    seconds: float | None


@dataclass(frozen=True)
class Report:
    """Everything the page says."""

    title: str
    facts: tuple[tuple[str, str], ...]
    verdicts: tuple[Verdict, ...]
    words: tuple[WordList, ...]
    agreement: AgreementTable | None
    examples: tuple[ExampleRow, ...]
    failures: tuple[Failure, ...]
    costs: tuple[MethodCost, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Shown:
    """An example, drawn."""

    example: ExampleRow
    body: Markup


def page(report: Report) -> str:
    """One HTML file that needs nothing else."""
    shown = [_Shown(one, renderer(one.explanation).html(one.explanation)) for one in report.examples]
    return str(
        render(
            "report.html.j2",
            r=report,
            title=report.title,
            trials=list(verdicts_by_method(report.verdicts)),
            groups=[(title, [s for s in shown if s.example.strong == strong]) for title, strong in _GROUPS],
            name=method_name,
            width=_width,
            costs=list(_costs(report.costs)),
            **helpers_for([one.explanation for one in report.examples]),
        )
    )


_GROUPS = (("Strongest examples", True), ("Weakest examples", False))


def _costs(costs: Sequence[MethodCost]) -> Iterator[tuple[str, ...]]:
    """The table of costs, its head first."""
    yield "method", "rows", "forwards", "gradients", "tokens, padded", "from the cache", "seconds for 1,000 rows"
    for one in costs:
        counts = (f"{count:,}" for count in (one.rows, one.forwards, one.gradients, one.tokens))
        seconds = "–" if one.seconds is None else say.number(one.seconds)
        yield method_name(one.method), *counts, f"{100 * one.hits:.0f} %", seconds


def _width(word: Word, words: Sequence[Word]) -> str:
    """The length of a word's bar, in per cent of the longest."""
    longest = max(abs(one.mean) for one in words) or 1.0
    return f"{100 * abs(word.mean) / longest:.1f}"


__all__ = [
    "AgreementTable",
    "ExampleRow",
    "Failure",
    "MethodCost",
    "Report",
    "Word",
    "WordList",
    "page",
    "say",
]

"""Rules that change words: each with how often it changes the answer to unseen texts, and with texts as diffs."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.text import Text as Line

from assay.explanations.rules import Rule, Rules
from assay.views import say
from assay.views.diffs import DiffPiece, diff, marked
from assay.views.templating import render
from assay.views.visible import visible

_MOST = 12
_NOTE = (
    "A rate is the share of the texts a rule applies to whose answer it changes, of texts that the search did not see; "
    "in brackets its 95 % interval, and behind it the rate in the search."
)


@dataclass(frozen=True)
class ShownChange:
    """One rule for people."""

    rule: str
    rate: str
    share: float
    low: float
    high: float
    detail: str
    examples: tuple[tuple[DiffPiece, ...], ...]


def html(e: Rules) -> Markup:
    values = {"sentence": sentence(e), "rules": shown(e), "note": _NOTE if e.rules else ""}
    return render("change_rules.html.j2", left=max(0, len(e.rules) - _MOST), **values)


def heading(e: Rules) -> str:
    """The question that is answered."""
    return "Which changes of words turn the answer?"


@dataclass(frozen=True)
class ChangeLines:
    """A sentence, the rules, and a text that each of them turns."""

    e: Rules

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Line(sentence(self.e))
        for one in shown(self.e):
            yield Line.assemble((visible(one.rule), "bold"))
            yield Padding(Line(f"{one.rate}; {one.detail}", style="dim"), (0, 0, 0, 2))
            for pieces in one.examples[:1]:
                yield Padding(Line.assemble(*(part for piece in pieces for part in marked(piece))), (0, 0, 0, 2))
        if left := len(self.e.rules) - _MOST:
            yield from [Line(f"and {say.counted(left, 'more rule')}")] if left > 0 else []
        if self.e.rules:
            yield Line(_NOTE, style="dim")


def sentence(e: Rules) -> str:
    searched, held = (say.counted(e.facts.get(name, 0), "text") for name in ("searched", "held_out"))
    if not e.rules:
        return f"No rule was found in {searched}."
    they = "together they change" if len(e.rules) > 1 else "it changes"
    together = f"{they} the answer to {e.facts.get('changed', 0):,} of the former"
    unseen = f"and to {e.facts.get('held_out_changed', 0):,} of the latter"
    return f"{say.counted(len(e.rules), 'rule')}, found in {searched} and tried on {held} more; {together} {unseen}."


def shown(e: Rules) -> list[ShownChange]:
    return [_shown(rule) for rule in e.rules[:_MOST]]


def _shown(rule: Rule) -> ShownChange:
    n = rule.numbers
    share, of = n.get("held_out_rate"), n.get("held_out_matches", 0)
    unseen = f"{n.get('held_out_flips', 0):,} of {say.counted(of, 'unseen text')} turned"
    low, high = n.get("low", 0.0), n.get("high", 1.0)
    interval = "" if share is None else f": {share:.0%} [{low:.0%}, {high:.0%}]"
    detail = (
        f"{n.get('flip_rate', 0.0):.0%} of {n.get('matches', 0):,} in the search; applies to {n.get('coverage', 0):.1%}"
    )
    examples = tuple(tuple(diff(before, after)) for before, after in n.get("examples", ()))
    return ShownChange(rule.rule, unseen + interval, share or 0.0, low, high, detail, examples)

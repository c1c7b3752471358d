"""Rules: each with its numbers as a bar, and how the score rises with the length; those of words by change_rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text as Line

from assay.explanations.rules import Rule, Rules
from assay.views import change_rules, say
from assay.views.templating import render
from assay.views.visible import visible

_MOST = 12
_BAR = 16
_NOTE = (
    "IoU: texts where the rule holds and the neuron is on, as a share of those where either does; in brackets on "
    "texts that the search did not see. First come the rules that say most beyond one that always holds."
)


@dataclass(frozen=True)
class ShownRule:
    """One rule for people."""

    subject: str
    rule: str
    iou: float
    held_out: float
    detail: str
    texts: tuple[str, ...]


def html(e: Rules) -> Markup:
    if _changes(e):
        return change_rules.html(e)
    values = {"sentence": sentence(e), "rules": shown(e), "steps": steps(e), "note": _NOTE}
    return render("rules.html.j2", number=say.number, left=max(0, len(e.rules) - _MOST), **values)


def heading(e: Rules) -> str:
    """The question that is answered."""
    return change_rules.heading(e) if _changes(e) else "What are the neurons active for?"


def terminal(e: Rules) -> RenderableType:
    return change_rules.ChangeLines(e) if _changes(e) else RuleLines(e)


def _changes(e: Rules) -> bool:
    """Whether the rules change words, rather than say when neurons are active."""
    return "searched" in e.facts or any(rule.change for rule in e.rules)


@dataclass(frozen=True)
class RuleLines:
    """A sentence, the rules, and the mean score by length."""

    e: Rules

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Line(sentence(self.e))
        bar = "=" if options.ascii_only else "━"
        for rule in shown(self.e):
            head = f"{rule.subject:<20} IoU {rule.iou:.2f} ({rule.held_out:.2f}) "
            size = (bar * round(_BAR * rule.iou)).ljust(_BAR)
            yield Line.assemble((head, "bold"), (size, "blue"), (f" {rule.detail}", "dim"))
            yield Line(f"  {visible(rule.rule)}")
        yield from (Line(line) for line in _by_length(self.e))
        yield Line(_NOTE, style="dim")


def _by_length(e: Rules) -> Iterator[str]:
    if found := steps(e):
        shown = ", ".join(f"{k}: {iou:.3f} ({held:.3f})" for k, iou, held in found)
        yield f"Mean IoU of all neurons by length: {shown}."


def steps(e: Rules) -> list[tuple[int, float, float]]:
    """Lengths, the mean IoU of all neurons, and that on texts that the search did not see."""
    own, held = e.facts.get("mean_iou", []), e.facts.get("mean_held_out", [])
    return [(k, iou, held[k - 1] if held else 0.0) for k, iou in enumerate(own, start=1)]


def sentence(e: Rules) -> str:
    if not e.rules:
        return "No neuron is on in some texts and off in others often enough."
    best = e.rules[0]
    neurons = e.facts.get("neurons", len(e.rules))
    always = f", where a rule that always holds has {best.numbers['always']:.2f}" if "always" in best.numbers else ""
    return (
        f"{say.counted(neurons, 'neuron')} with a formula; the first has an IoU of {best.numbers['iou']:.2f}{always}."
    )


def shown(e: Rules) -> list[ShownRule]:
    return [_shown(rule) for rule in e.rules[:_MOST]]


def _shown(rule: Rule) -> ShownRule:
    subject = ", ".join(f"{name} {number}" for name, number in rule.subject.items())
    numbers = rule.numbers
    detail = f"on in {numbers.get('active', 0):,}, holds in {numbers.get('matches', 0):,}"
    texts = tuple(" | ".join(text) for text in rule.texts[:3])
    return ShownRule(subject, rule.rule, numbers.get("iou", 0.0), numbers.get("held_out", 0.0), detail, texts)

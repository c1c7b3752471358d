"""Triggers: the words, the share of unseen texts that they turn, and that of random words, as bars with intervals."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text as Line

from assay.explanations.triggers import Trigger, Triggers, TurnedText
from assay.views import say
from assay.views.templating import render
from assay.views.visible import one_line, visible

_BAR = 20
_MOST = 3  # texts that are shown of each trigger
_NOTE = (
    "Share of texts that the search did not see which get another label; exact 95 % intervals (Clopper and Pearson), "
    "of random triggers those of a bootstrap over texts and triggers. Label names, and words that texts of other "
    "labels have more often, are not plain words."
)


@dataclass(frozen=True)
class ShownShare:
    """One bar."""

    name: str
    value: float
    low: float
    high: float

    @property
    def numbers(self) -> str:
        return f"{100 * self.value:.0f}% [{100 * self.low:.0f}, {100 * self.high:.0f}]"


def html(e: Triggers) -> Markup:
    values = {"sentence": sentence(e), "triggers": e.triggers, "note": _NOTE, "most": _MOST}
    return render("triggers.html.j2", bars=lambda one: bars(e, one), phrase=phrase, gain=gain, told=told, **values)


def heading(e: Triggers) -> str:
    """The question that is answered."""
    return f"Which words turn “{e.turns}”?"


def terminal(e: Triggers) -> RenderableType:
    return TriggerLines(e)


@dataclass(frozen=True)
class TriggerLines:
    """A sentence, then each trigger with its bars and a few of the texts that it turns."""

    e: Triggers

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Line(visible(sentence(self.e)))
        sign = "=" if options.ascii_only else "━"
        for trigger in self.e.triggers:
            yield Line(f"{trigger.search}: {visible(phrase(trigger))}", style="bold")
            for bar in bars(self.e, trigger):
                size = (sign * round(_BAR * bar.value)).ljust(_BAR)
                yield Line.assemble(f"  {bar.name:<17}", (size, "blue"), f" {bar.numbers}")
            yield Line(f"  {gain(trigger)}", style="dim")
            for example in trigger.examples[:_MOST]:
                yield Line(f"  {one_line(told(example))}", overflow="ellipsis", no_wrap=True)
        yield Line(_NOTE, style="dim")


def bars(e: Triggers, trigger: Trigger) -> list[ShownShare]:
    """Without a trigger, with random ones, with this one."""
    without, turned, random = e.without, trigger.turned, trigger.random
    return [
        ShownShare("without", without.value or 0.0, without.low, without.high),
        ShownShare("random triggers", random.value, random.low, random.high),
        ShownShare("with the trigger", turned.value or 0.0, turned.low, turned.high),
    ]


def gain(trigger: Trigger) -> str:
    """How much more than random words."""
    low, high = 100 * trigger.gain.low, 100 * trigger.gain.high
    return f"{100 * trigger.gain.value:+.0f} points more than random triggers [{low:.0f}, {high:.0f}]".replace("-", "−")


def phrase(trigger: Trigger) -> str:
    return f"“{' '.join(trigger.words)}”"


def told(example: TurnedText) -> str:
    return f"{example.before} → {example.after}: {example.text}"


def sentence(e: Triggers) -> str:
    into = f"“{e.into}”" if e.into else "another label"
    if not e.triggers:
        return f"No trigger was searched for that turns “{e.turns}” into {into}."
    where = "before" if e.place == "prefix" else "behind"
    first = e.triggers[0]
    return (
        f"{phrase(first)} {where} a text turns {100 * (first.turned.value or 0):.0f} % of "
        f"{say.counted(first.turned.of, 'unseen text')} of “{e.turns}” into {into}; random words of the same number "
        f"{100 * first.random.value:.0f} %."
    )

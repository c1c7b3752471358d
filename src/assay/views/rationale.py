"""Rationale: the sentence, its tokens marked where the writer found them unlikely; other labels' beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp

from markupsafe import Markup
from rich.console import Group, RenderableType
from rich.text import Text as Line

from assay.explanations.rationale import Rationale, Reason
from assay.views import say
from assay.views.templating import render
from assay.views.visible import one_line, visible

HINT = (
    "The more marked a word, the less likely the writer found it there; in brackets, the geometric mean of the "
    "probabilities of the tokens."
)
_OPEN = ("because", "tells me")  # how prompts end that a rationale goes on with
_PLAIN = 0.5  # a token that is at least so likely is not marked
_LEVELS = ("", "underline", "reverse")


@dataclass(frozen=True)
class Token:
    """A token as it is shown."""

    text: str
    likelihood: float

    @property
    def blank(self) -> str:
        """What stands before the word, which is not shaded."""
        return self.text[: len(self.text) - len(self.text.lstrip())]

    @property
    def surprise(self) -> float:
        """From 0, as likely as not, to 1, nearly impossible."""
        return max(0.0, 1 - self.likelihood / _PLAIN)

    @property
    def level(self) -> int:
        return 0 if self.surprise == 0 else 1 if self.surprise < 0.8 else 2


@dataclass(frozen=True)
class ShownReason:
    """A label and what was written for it."""

    label: str
    tokens: tuple[Token, ...]
    likelihood: str
    role: str  # own, further or other
    because: str = "because "  # what leads to it; a sentence of its own needs nothing


def html(e: Rationale) -> Markup:
    fields = list(zip((field.name for field in e.text.fields), e.strings, strict=True))
    return render("rationale.html.j2", fields=fields, reasons=list(reasons(e)), hint=HINT)


def terminal(e: Rationale) -> RenderableType:
    """One paragraph per reason; without colour the marks are not there, and the sentences are."""
    named = len(e.text.fields) > 1
    text = [
        Line(f"{field.name}: " * named + one_line(string), style="dim")
        for field, string in zip(e.text.fields, e.strings, strict=True)
    ]
    return Group(*text, *map(_drawn, reasons(e)), Line(HINT, style="dim"))


def reasons(e: Rationale) -> Iterator[ShownReason]:
    """The explained label's, further ones, and those of other labels."""
    because = "" if e.prompts and not e.prompt.rstrip().endswith(_OPEN) else "because "
    yield _shown(e.label, e.reason, "own", because)
    for reason in e.further:
        yield _shown(e.label, reason, "further", because)
    for number, reason in e.others.items():
        yield _shown(
            list(e.prediction)[number] if number < len(e.prediction) else str(number), reason, "other", because
        )


def _shown(label: str, reason: Reason, role: str, because: str) -> ShownReason:
    tokens = [Token(t, p) for t, p in zip(reason.tokens, reason.likelihoods, strict=True) if t]
    if tokens:
        tokens[0] = Token(tokens[0].text.lstrip(), tokens[0].likelihood)
    mean = say.chance(float(f"{_geometric(reason):.6f}")) if reason.likelihoods else ""
    return ShownReason(label, tuple(tokens) or (Token(reason.text, 1.0),), mean, role, because)


def _geometric(reason: Reason) -> float:
    return exp(reason.mean)


def _drawn(reason: ShownReason) -> Line:
    lead = {"own": "", "further": "  or ", "other": f"  if it were “{visible(reason.label)}”: "}
    line = Line.assemble((lead[reason.role] + reason.because, "dim" if reason.role == "other" else "bold"))
    for token in reason.tokens:
        line.append(one_line(token.blank))
        line.append(one_line(token.text.lstrip()), style=_LEVELS[token.level])
    line.append(f"  ({reason.likelihood})" if reason.likelihood else "  (nothing was written)", style="dim")
    return line

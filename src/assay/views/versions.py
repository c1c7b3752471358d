"""Edits that are versions: each as a diff with the whole text, and what the model says to both.

A word that went stands in [-brackets-] and one that came in {+braces+}, struck out and underlined on a page.
"""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup
from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.text import Text as Line

from assay.explanations.edits import Edit, Edits
from assay.views import say
from assay.views.diffs import DiffPiece, diff, marked
from assay.views.templating import render
from assay.views.visible import one_line, visible


@dataclass(frozen=True)
class ShownVersion:
    """What the model says to a version, how many words differ, and the diff."""

    label: str
    chance: str
    words: str
    pieces: tuple[DiffPiece, ...]


def html(e: Edits) -> Markup:
    shown = [shown_version(e, edit) for edit in _edits(e)]
    return render("versions.html.j2", sentence=sentence(e), versions=shown, asides=list(say.asides(e)))


def terminal(e: Edits) -> VersionList:
    return VersionList(e)


@dataclass(frozen=True)
class VersionList:
    """A line with the answer before each version, the version below it, as wide as the terminal."""

    e: Edits

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for name, string in say.asides(self.e):
            yield Line.assemble((f"{name}: ", "dim italic"), one_line(string))
        yield Line(visible(sentence(self.e)))
        for edit in _edits(self.e):
            version = shown_version(self.e, edit)
            yield Line(visible(f"“{version.label}” {version.chance}, {version.words}:"), style="dim")
            yield Padding(_line(version), (0, 0, 0, 2))


def _line(version: ShownVersion) -> Line:
    """The diff with marks that read without colour too."""
    return Line.assemble(*(part for piece in version.pieces for part in marked(piece)))


def shown_version(e: Edits, edit: Edit) -> ShownVersion:
    chances = edit.prediction
    best = max(chances, key=lambda name: chances[name])
    wanted = list(chances)[e.case.against] if e.case.against is not None and not edit.flips else best
    numbers = "".join(f", {name} {say.chance(value)}" for name, value in edit.scores.items())
    kind = f" ({edit.code})" if edit.code else ""
    said = f"{say.counted(len(edit.operations), 'word')} changed{kind}{numbers}"
    return ShownVersion(wanted, say.chance(chances[wanted]), said, tuple(diff(_whole(e, edit), edit.text)))


def sentence(e: Edits) -> str:
    """What was found."""
    said = f"The model says “{e.label}” ({say.chance(e.prediction[e.label])})." if e.label in e.prediction else ""
    if not e.edits:
        attempt = "; the nearest attempt:" if _edits(e) else ", and none that comes nearer to it."
        return f"{said} No version that changes this was found{attempt}".strip()
    many = say.counted(len(e.edits), "version")
    verb = "changes" if len(e.edits) == 1 else "change"
    return f"{said} {many} with at least {say.counted(_least(e), 'other word')} {verb} this:".strip()


def _least(e: Edits) -> int:
    return min(len(edit.operations) for edit in e.edits)


def _edits(e: Edits) -> tuple[Edit, ...]:
    return e.edits or ((e.nearest,) if e.nearest and e.nearest.operations else ())


def _whole(e: Edits, edit: Edit) -> str:
    return e.text.read.strings[edit.edited]

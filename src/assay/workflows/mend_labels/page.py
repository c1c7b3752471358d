"""The suspects as one HTML page: each text with its label, the suggested one, why, and the words that speak for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.views.examples import marked_pieces
from assay.views.templating import environment
from assay.workflows.mend_labels.result import LabelMending
from assay.workflows.mend_labels.suspects import Suspect

PAGE = "labels.html"
_MOST = 500  # rows on the page; the sheet has all


@dataclass(frozen=True)
class ShownSuspect:
    """A suspect, its text in pieces (a stretch, and whether it speaks for the suggested label), and its colours."""

    one: Suspect
    pieces: tuple[tuple[str, bool], ...]
    colours: tuple[int, int]


def page(found: LabelMending) -> str:
    values = {
        "r": found,
        "title": f"Labels that look wrong, by {found.model}",
        "shown": list(_shown(found)),
        "left": max(0, len(found.suspects) - _MOST),
        "facts": list(_facts(found)),
    }
    return environment("assay.workflows.mend_labels").get_template("mend_labels.html.j2").render(values)


def _shown(found: LabelMending) -> Iterator[ShownSuspect]:
    labels = sorted({label for one in found.suspects for label in (one.given, one.suggested)})
    for one in found.suspects[:_MOST]:
        own = {word.casefold() for word in one.words}
        strings = (f" | {string}" if i else string for i, string in enumerate(one.strings))
        pieces = tuple(piece for string in strings for piece in marked_pieces(string, own))
        yield ShownSuspect(one, pieces, (labels.index(one.given), labels.index(one.suggested)))


def _facts(found: LabelMending) -> Iterator[tuple[str, str]]:
    settings = found.settings
    recipe = settings.get("recipe", {})
    yield "model", found.model
    yield "models trained again", f"{recipe.get('trainer', 'a recipe')}, {settings.get('folds', '')} folds"
    yield "seed", str(settings.get("seed", ""))
    if found.correction is not None:
        yield "the corrected model", found.correction.model
    if "versions" in settings:
        yield "made by", ", ".join(f"{name} {version}" for name, version in settings["versions"].items())

"""Results that show, save and draw themselves, without knowing the views.

    result.show()                       in a terminal or a notebook
    result.save("x.html")               a page; .json the data; .png, .svg or .pdf a figure
    result.plot()                       the figure itself, with matplotlib

The views import the results, so the results cannot import the views. Instead each view registers itself here for the
kind of result that it draws, which happens when `assay` is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from assay.errors import BadFile, UnknownName
from assay.storage.durable import write_whole

_FIGURES = ("pdf", "png", "svg")


class View(NamedTuple):
    """The functions that show a result: a page that stands by itself, a fragment for notebooks, and figures."""

    page: Callable[[Any], str]
    fragment: Callable[[Any], str]
    show: Callable[[Any], None]
    plot: Callable[..., Any]  # draws into the given axes, or into new ones, and returns them
    picture: Callable[..., bytes]  # the same as a file of this format


_VIEWS: dict[type, View] = {}


def shown_by(kind: type, view: View) -> None:
    """Let these functions show results of this kind and of kinds derived from it."""
    _VIEWS[kind] = view


class Showable:
    """A result that a page, a notebook, a terminal or a paper can show."""

    def to_html(self) -> str:
        """A page that stands by itself."""
        return _view(self).page(self)

    def to_json(self) -> str:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return _view(self).fragment(self)

    def show(self) -> None:
        """Show it here: as HTML in a notebook, as text in a terminal."""
        _view(self).show(self)

    def plot(self, kind: str | None = None, *, ax: Any = None, **options: Any) -> Any:
        """Draw it with matplotlib, into `ax` or into a new figure, and return the axes.

        Scores of words: "bars", "waterfall" (where they add up), "deletion" or "insertion" (with model=...). A list of
        them: "beeswarm" of its words, or the curves. A trust card: "tests", or the curves. `docs/plots.md` shows them.
        """
        return _view(self).plot(self, kind, ax=ax, **options)

    def save(self, path: str | Path, kind: str | None = None, **options: Any) -> Path:
        """Write it to a file: .html a page, .json the data, .png, .svg or .pdf the figure that `plot` draws."""
        place = Path(path)
        form = place.suffix.lower().removeprefix(".")
        if form not in ("html", "json", *_FIGURES):
            raise UnknownName.of("kind of file", place.suffix or place.name, (".html", ".json", ".pdf", ".png", ".svg"))
        if form in _FIGURES:
            data = _view(self).picture(self, form, kind, **options)
        else:
            data = (self.to_html() if form == "html" else self.to_json() + "\n").encode()
        try:
            write_whole(place.resolve(), data, durable=False)
        except OSError as error:
            raise BadFile(f"{place} cannot be written: {error.strerror or error}.") from error
        return place


def _view(result: Showable) -> View:
    return next(_VIEWS[kind] for kind in type(result).__mro__ if kind in _VIEWS)

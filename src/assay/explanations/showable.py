"""Results that show themselves as HTML, without knowing the views.

The views import the results, so the results cannot import the views. Instead each view registers itself here for the
kind of result that it draws, which happens when `assay` is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Html(NamedTuple):
    """The functions that draw a result: as a page that stands by itself, and as a fragment for notebooks."""

    page: Callable[[Any], str]
    fragment: Callable[[Any], str]


_VIEWS: dict[type, Html] = {}


def shown_by(kind: type, *, page: Callable[[Any], str], fragment: Callable[[Any], str]) -> None:
    """Let these functions draw results of this kind and of kinds derived from it."""
    _VIEWS[kind] = Html(page, fragment)


class Showable:
    """A result that a page or a notebook can show."""

    def to_html(self) -> str:
        """A page that stands by itself."""
        return _view(self).page(self)

    def _repr_html_(self) -> str:
        return _view(self).fragment(self)


def _view(result: Showable) -> Html:
    return next(_VIEWS[kind] for kind in type(result).__mro__ if kind in _VIEWS)

"""Templates that escape everything, show signs that cannot be seen, and keep texts from turning our words around."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from assay.views.visible import RIGHT_TO_LEFT, visible_on_page

_QUOTED = re.compile("(?<=“)([^”]*)(?=”)")


def render(template: str, **values: object) -> Markup:
    made = environment().get_template(template).render(values)  # it escapes all that it is given
    return Markup(made)  # nosec B704


@cache
def environment(*packages: str) -> Environment:
    """The templates of these packages, and after them those of the views."""
    made = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in (*packages, "assay.views")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"quotes_isolated": quotes_isolated, "dotted": dotted, "isolated": isolated}
    return made


def quotes_isolated(sentence: str) -> Markup:
    """A sentence of ours that quotes labels or words: right-to-left ones keep to the place between their quotes."""
    parts = _QUOTED.split(sentence)  # ours and quoted, in turns
    return Markup().join(isolated(part) if i % 2 else escape(visible_on_page(part)) for i, part in enumerate(parts))


def dotted(parts: Iterable[str]) -> Markup:
    """Short facts side by side, each with a direction of writing of its own."""
    return Markup(" · ").join(map(isolated, parts))


def isolated(part: str) -> Markup:
    """A label, a name or a message among our words; it is wrapped only where it could turn them around."""
    shown = escape(visible_on_page(part))
    return Markup("<bdi>{}</bdi>").format(shown) if RIGHT_TO_LEFT.search(part) else shown


def _finalize(value: object) -> str:
    return value if isinstance(value, Markup) else visible_on_page(str(value))

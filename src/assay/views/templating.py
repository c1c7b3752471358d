"""Templates that escape everything, and show signs that cannot be seen."""

from __future__ import annotations

import re
from functools import cache

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

# A control sign could steer a terminal or vanish from a page: its picture is shown instead. Tab and line ends stay.
_PICTURES = {code: 0x2400 + code for code in range(32) if code not in (9, 10, 13)} | {127: 0x2421}
_HIDDEN = dict.fromkeys([*range(0x80, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF], 0xFFFD)
_VISIBLE = _PICTURES | _HIDDEN


def visible(value: str) -> str:
    """The string with a picture for each control sign and a replacement for what no file can hold."""
    return value.translate(_VISIBLE)


def one_line(value: str) -> str:
    """The same, with one blank for all white space."""
    return re.sub(r"\s+", " ", visible(value))


def render(template: str, **values: object) -> Markup:
    return Markup(environment().get_template(template).render(values))


@cache
def environment(*packages: str) -> Environment:
    """The templates of these packages, and after them those of the views."""
    return Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in (*packages, "assay.views")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _finalize(value: object) -> str:
    return value if isinstance(value, Markup) else visible(str(value))

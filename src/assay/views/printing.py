"""Results shown where the user is: lines in a terminal, HTML in a notebook."""

from __future__ import annotations

import codecs
import io
import sys

from rich.console import Console, RenderableType

from assay.progress import in_notebook
from assay.views.visible import OnlyVisible

_PLAIN = dict(zip("−▲▼●·━╌“”⚠↑↓─", '-+-*|=.""!^v-', strict=True))


def print_parts(*parts: RenderableType) -> None:
    """Print for people; colour only where the terminal has it."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="assay")
    console = Console(highlight=False, markup=False, emoji=False, file=sys.stdout)
    console.push_render_hook(OnlyVisible())
    for part in parts:
        console.print(part)


def show_here(fragment: str, *parts: RenderableType) -> None:
    """The fragment in a notebook, the parts elsewhere."""
    if in_notebook():
        from IPython.display import HTML, display

        display(HTML(fragment))
    else:
        print_parts(*parts)


def _plainer(error: UnicodeError) -> tuple[str, int]:
    """For a terminal that cannot show a sign: the nearest one that every terminal has."""
    assert isinstance(error, UnicodeEncodeError)
    return "".join(_PLAIN.get(sign, "?") for sign in error.object[error.start : error.end]), error.end


codecs.register_error("assay", _plainer)

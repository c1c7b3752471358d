"""Titles of figures, in as many lines as they need: none is cut off at the edge of its figure."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

TITLE_LINE = 0.17  # the height of a line, in inches
_LETTERS, _FEWEST = 12.5, 20  # letters that fit into an inch, and the fewest of a line
_PANEL_LETTERS = 44  # letters that fit above a panel


def titled(drawing: Any, title: str) -> None:
    """Put a title on a drawing, which becomes higher by the lines that the title has more than one."""
    width, height = drawing.get_size_inches()
    lines = wrap(title, max(_FEWEST, int(width * _LETTERS))) or [""]
    drawing.set_size_inches(width, height + TITLE_LINE * (len(lines) - 1))
    drawing.suptitle("\n".join(lines), fontsize=10)


def label_lines(label: str) -> list[str]:
    """The lines of the title of one panel."""
    return wrap(label, _PANEL_LETTERS) or [""]

"""Signs that steer a terminal or change the direction of writing are made visible in all that people are shown.

A text, a label, a column, a file or a model's error may hold anything. An escape sequence would move the cursor or
set the window's title, a direction override would show words in an order that nobody wrote.

    control characters      their pictures, ␛ for escape; those above 127 a replacement sign, as what no file can hold
    changes of direction    their number, <U+202E>
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderableType, RenderHook, RenderResult
from rich.segment import Segment

_TAB, _LINE_END, _RETURN = 9, 10, 13
# Embeddings, overrides and isolates reach over all that follows; the marks only lean on their neighbours.
_REACHING = (*range(0x202A, 0x202F), *range(0x2066, 0x2070))
_MARKS = (0x200E, 0x200F, 0x061C)
# Where one of these stands, a reader's system may turn the words around it.
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]")
# What --json writes as \uXXXX: the same value for a program, and nothing for a terminal to obey.
STEERING = (0x7F, *range(0x80, 0xA0), *_REACHING, *_MARKS)

_PICTURES: dict[int, int | str] = {**{code: 0x2400 + code for code in range(32)}, 0x7F: 0x2421}
_HIDDEN: dict[int, int | str] = dict.fromkeys([*range(0x80, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF], 0xFFFD)
_SHOWN = _PICTURES | _HIDDEN | {code: f"<U+{code:04X}>" for code in (*_REACHING, *_MARKS)}
_IN_TERMINAL = {code: shown for code, shown in _SHOWN.items() if code not in (_TAB, _LINE_END)}
_ON_PAGE = {code: shown for code, shown in _IN_TERMINAL.items() if code not in (_RETURN, *_MARKS)} | {
    code: f"\u200e{_SHOWN[code]}\u200e"
    for code in _REACHING  # left-to-right marks: the brackets are not turned around
}


def visible(value: str) -> str:
    """The string for a terminal: tabs and line ends stay, a carriage return, which overwrites its line, does not."""
    return value.replace("\r\n", "\n").translate(_IN_TERMINAL)


def visible_on_page(value: str) -> str:
    """The string for a page, where the marks that honest Hebrew and Arabic texts hold stay: the page isolates texts."""
    return value.translate(_ON_PAGE)


def one_line(value: str) -> str:
    """The string for a terminal, with one blank for all white space."""
    return re.sub(r"\s+", " ", visible(value.replace("\r", "\n")))


def to_stderr(line: str) -> None:
    """One line for people beside the output, whatever it holds."""
    print(one_line(line), file=sys.stderr, flush=True)


class OnlyVisible(RenderHook):
    """Lets nothing but rich's own styles steer the terminal, whatever a view forgot."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Filtered(part) for part in renderables]


class _Filtered:
    """A renderable whose text is made visible after it was laid out; a view that did so before is not changed."""

    def __init__(self, part: RenderableType) -> None:
        self.part = part

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from _filtered(console.render(self.part, options))


def _filtered(segments: Iterable[Segment]) -> Iterable[Segment]:
    for text, style, control in segments:
        yield Segment(text if control else visible(text), style, control)

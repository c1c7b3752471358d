"""A table where there is room for it, a list where there is not: nothing is ever cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.rule import Rule
from rich.table import Table
from rich.text import Text as Line

_ENDLESS = 1_000_000


@dataclass(frozen=True)
class Wide:
    """Two ways to show the same; the terminal's width decides."""

    least: int
    table: Callable[[], RenderableType]
    listing: Callable[[], RenderableType]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.table() if options.max_width >= self.least else self.listing()


@dataclass(frozen=True)
class ColumnsThatFit:
    """Columns where each gets enough room, one below the other where not."""

    parts: Sequence[RenderableType]
    least: int = 36

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        together = max(1, min(len(self.parts), (options.max_width + 3) // (self.least + 3)))
        width = (options.max_width + 3) // together - 3
        for at in range(0, len(self.parts), together):
            some = self.parts[at : at + together]
            if together == 1:
                yield from (Line(), some[0])
                continue
            table = Table.grid(padding=(0, 3, 0, 0))
            for _ in some:
                table.add_column(width=width, overflow="fold")
            table.add_row(*some)
            yield from (Line(), table)


@dataclass(frozen=True)
class Records:
    """Rows as a table where it fits, else each row as a record: a line for each of its columns."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = grid(*self.columns)
        for row in self.rows:
            table.add_row(*map(Line, row))
        if Measurement.get(console, options.update(max_width=_ENDLESS), table).maximum <= options.max_width:
            yield table
            return
        for i, row in enumerate(self.rows, start=1):
            yield Rule(f"row {i:,}", align="left", style="dim", characters="-")
            yield hanging(zip(self.columns, map(Line, row), strict=True))


def grid(*columns: str, right: tuple[str, ...] = (), lines: bool = False) -> Table:
    """An empty table in the house's style."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_lines=lines)
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    return table


def hanging(entries: Iterable[tuple[str, Line]]) -> Table:
    """Names on the left, what they are on the right, wrapped within its own half."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for name, line in entries:
        table.add_row(Line(name, style="green"), line)
    return table

"""A table of ours beside the published one: as Markdown to read, as CSV to compute with (one row per cell)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self, TypeAlias

from assay.statistics.intervals import Estimate

_CSV = ("table", "line", "column", "ours", "low", "high", "texts", "published")
NOTHING = "–"
Drawn: TypeAlias = Literal["dots", "columns", "bars", "curves", "not"]


@dataclass(frozen=True)
class Cell:
    """What was measured here, if it was, and what the paper has in this place, as it is printed there.

    What is known without measuring, as the size of a dataset, is `counted`, as it is to be shown.
    """

    ours: Estimate | None = None
    published: str = ""
    counted: str = ""

    @property
    def published_value(self) -> float | None:
        """The number at the start of what is printed: 71.41 ± 17.12 is 71.41."""
        head = self.published.partition(" ")[0].rstrip("%")
        return float(head) if head else None


@dataclass(frozen=True)
class Line:
    """One row of a table."""

    label: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Table:
    """Columns, lines, and which way is better; `name` is that of its files."""

    name: str
    title: str
    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    better: Literal["lower", "higher", ""] = ""
    digits: int = 3
    notes: tuple[str, ...] = ()
    # columns: a panel for each column, not for each line. bars: the columns are bins, the lines are distributions over
    # them. curves: the columns are pairs (across, up), the lines are points, and those of `marks` are not on the curve.
    drawn: Drawn = "dots"
    marks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for line in self.lines:
            if len(line.cells) != len(self.columns):
                raise ValueError(f"{line.label!r} has {len(line.cells)} cells for {len(self.columns)} columns")

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """As it is shown: our numbers, and under them the published ones where there are any."""
        return [row for line in self.lines for row in self._shown(line)]

    def _shown(self, line: Line) -> Iterator[tuple[str, ...]]:
        yield (line.label, *(c.ours.shown(self.digits) if c.ours else c.counted or NOTHING for c in line.cells))
        if any(cell.published for cell in line.cells):
            yield ("published", *(cell.published or NOTHING for cell in line.cells))

    @property
    def heading(self) -> str:
        return f"{self.title} ({self.better} is better)" if self.better else self.title

    def to_markdown(self) -> str:
        head = ["", *self.columns]
        lines = [piped(head), piped(["---"] * len(head)), *map(piped, self.rows)]
        return "\n".join([f"### {self.heading}", "", *lines, *(f"\n{note}" for note in self.notes), ""])

    def to_csv(self) -> str:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(_CSV)
        for line in self.lines:
            for column, cell in zip(self.columns, line.cells, strict=True):
                writer.writerow([self.name, line.label, column, *_numbers(cell), cell.published])
        return out.getvalue()

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        plain = {**data, **{name: tuple(data.get(name, ())) for name in ("columns", "notes", "marks")}}
        return cls(**{**plain, "lines": tuple(map(_line, data["lines"]))})


def _line(data: Mapping[str, Any]) -> Line:
    cells = ((c["ours"] and Estimate(**c["ours"]), c["published"], c.get("counted", "")) for c in data["cells"])
    return Line(data["label"], tuple(Cell(ours or None, *rest) for ours, *rest in cells))


def piped(cells: Sequence[str]) -> str:
    """A row of a Markdown table."""
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _numbers(cell: Cell) -> list[float | int | str]:
    ours = cell.ours
    return [cell.counted, "", "", ""] if ours is None else [ours.value, ours.low, ours.high, ours.n]

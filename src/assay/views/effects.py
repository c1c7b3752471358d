"""Effects: a grid of layers and units, shaded by what each carries of the effect, and the strongest units."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text as Line

from assay.explanations.effects import Effects
from assay.views import charts, say
from assay.views.templating import render

_TOP = 8
_WIDEST = 64  # units of a layer that fit a grid; of more, the layers are summed up
_SHADES, _ASCII = " ·░▒▓█", " .:+#@"
_KEY = "Shade: the size of the indirect effect; − where it goes against the total."


@dataclass(frozen=True)
class GridCell:
    """One unit in the grid: how strong (0 to 1), on which side, and its numbers for a reader who points at it."""

    size: float
    against: bool
    title: str


@dataclass(frozen=True)
class TopUnit:
    """One of the strongest units."""

    name: str
    effect: str
    share: str
    width: float


def html(e: Effects) -> Markup:
    drawn = charts.heat_map(_by_unit(e), f"Indirect effect of each {e.part}", "layer", e.part) if _is_wide(e) else None
    values = {"sentence": sentence(e), "rows": [] if _is_wide(e) else list(rows(e)), "top": top(e), "sums": sums(e)}
    missing = charts.MISSING if _is_wide(e) and drawn is None else ""
    return render(
        "effects.html.j2", e=e, key=_KEY, chart=drawn, missing=missing, lines=[*against(e), *greedy(e)], **values
    )


def heading(e: Effects) -> str:
    """The question that is answered."""
    return f"Through which {e.part}s does the concept have its effect?"


def terminal(e: Effects) -> RenderableType:
    return EffectGrid(e)


@dataclass(frozen=True)
class EffectGrid:
    """A sentence, the grid, and the strongest units."""

    e: Effects

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Line(sentence(self.e))
        if not _is_wide(self.e) and self.e.effects.shape[1] > 1:
            yield Line(f"layer  {self.e.part} 0 to {self.e.effects.shape[1] - 1}", style="dim")
            for layer, cells in enumerate(rows(self.e)):
                yield Line.assemble((f"{layer:>5}  ", "dim"), *(_shaded(cell, options.ascii_only) for cell in cells))
            yield Line(_KEY, style="dim")
        yield Line(f"The strongest {self.e.part}s, each by itself", style="bold")
        for unit in top(self.e):
            yield Line(f"{unit.name:<22} {unit.effect:<26} {unit.share} of the total")
        yield from (Line(line) for line in [*against(self.e), *greedy(self.e), sums(self.e)])


def _shaded(cell: GridCell, ascii_only: bool) -> Line:
    shades = _ASCII if ascii_only else _SHADES
    sign = "−" if cell.against and cell.size >= 0.15 and not ascii_only else shades[min(5, int(cell.size * 5 + 0.5))]
    return Line(sign * 2 if sign != "−" else "− ", style="dark_orange" if cell.against else "blue")


def rows(e: Effects) -> Iterator[list[GridCell]]:
    """The grid, layer by layer."""
    strongest = float(np.nanmax(np.abs(e.effects), initial=0.0)) or 1.0
    sign = -1.0 if e.total.value < 0 else 1.0
    for layer, values in enumerate(e.effects):
        yield [
            GridCell(abs(value) / strongest, bool(sign * value < 0), f"{_name(e, layer, i)}: {_effect(e, layer, i)}")
            for i, value in enumerate(values.tolist())
            if np.isfinite(value)
        ]


def top(e: Effects) -> list[TopUnit]:
    found = []
    strongest = max((abs(float(e.effects[at])) for at in e.ranked[:_TOP]), default=1.0) or 1.0
    for layer, i in e.ranked[:_TOP]:
        value = float(e.effects[layer, i])
        found.append(TopUnit(_name(e, layer, i), _effect(e, layer, i), _share(e, value), abs(value) / strongest))
    return found


def against(e: Effects) -> list[str]:
    """The unit that goes against the total most, where it is as strong as one of those that are shown."""
    shown, last = e.ranked[:_TOP], e.ranked[-1] if e.ranked else (0, 0)
    sign = -1.0 if e.total.value < 0 else 1.0
    if len(e.ranked) <= _TOP or -sign * e.effects[last] < max(0.0, sign * e.effects[shown[-1]]):
        return []
    share = _share(e, float(e.effects[last])).replace("-", "−")
    return [f"Most against it: {_name(e, *last)} {_effect(e, *last)}, {share} of the total."]


def greedy(e: Effects) -> list[str]:
    """What the greedy set carries together, unit by unit."""
    if not e.chosen:
        return []
    steps = [f"{_name(e, unit.layer, unit.unit)} {_share(e, unit.effect)}" for unit in e.chosen]
    return [f"Together, one after the other: {', then '.join(steps)}."]


def sums(e: Effects) -> str:
    """How far the parts are from the whole."""
    return f"Direct and indirect effect of a {e.part} miss the total by {e.missed:.0%} of it on average."


def sentence(e: Effects) -> str:
    """The total effect, and how few units carry half of it."""
    total = f"Changing the concept moves the answer by {_numbers(e, e.total.value, e.total.low, e.total.high)}"
    half = e.share_for_half
    if half is None:
        return f"{total}, over {say.counted(e.total.n, 'pair')}; the {e.part}s one by one do not add up to half of it."
    count = round(half * len(e.ranked))
    between = ""
    if e.half is not None:
        low, high = (f"{round(edge * len(e.ranked)):,}" for edge in (e.half.low, e.half.high))
        same = low == high == f"{count:,}"
        between = ", in every resample of the pairs" if same else f", in resamples of the pairs {low} to {high}"
    carried = f"{count:,} of {say.counted(len(e.ranked), e.part)} ({half:.1%}{between})"
    verb = "carries" if count == 1 else "add up to"
    return f"{total}, over {say.counted(e.total.n, 'pair')}; {carried} {verb} half of it."


def _is_wide(e: Effects) -> bool:
    return bool(e.effects.shape[1] > _WIDEST)


def _by_unit(e: Effects) -> np.ndarray:
    return np.where(np.isfinite(e.effects), e.effects, 0.0)


def _name(e: Effects, layer: int, i: int) -> str:
    return f"layer {layer}" if e.part == "layer" else f"layer {layer}, {e.part} {i}"


def _effect(e: Effects, layer: int, i: int) -> str:
    low, high = e.intervals[layer, i]
    return _numbers(e, float(e.effects[layer, i]), float(low), float(high))


def _numbers(e: Effects, value: float, low: float, high: float) -> str:
    """All with as many decimals as the total effect needs for three digits."""
    size = abs(e.total.value) or float(np.nanmax(np.abs(e.effects), initial=0.0)) or 1.0
    decimals = min(6, max(0, 2 - int(np.floor(np.log10(size)))))
    signed, *ends = (
        f"{one:{sign}.{decimals}f}".replace("-", "−") for one, sign in ((value, "+"), (low, ""), (high, ""))
    )
    return signed if e.total.n == 1 else f"{signed} [{', '.join(ends)}]"  # of one pair there is no interval


def _share(e: Effects, value: float) -> str:
    return f"{value / e.total.value:.0%}" if e.total.value else "none"

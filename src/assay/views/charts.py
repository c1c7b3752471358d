"""Charts with axes, drawn by matplotlib as SVG that stands in a page and takes its colours, in light and in dark.

matplotlib is an extra: ask `can_draw` first, and say MISSING where it says no. What needs no axis (bars, strips of
dots) is drawn by the templates themselves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from io import StringIO
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from markupsafe import Markup

from assay.statistics.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Groups: TypeAlias = Sequence[Floats]  # values by tone, the first in the first one
TONES = 4
MISSING = "There are no figures: matplotlib is not installed (pip install 'assay[plot]')."
MISSING_FOR_PLOTS = "figures are drawn by matplotlib, which is not installed: pip install 'assay[plot]'."

# matplotlib writes colours as numbers; these stand for colours of the page, which differ in light and dark.
_COLOURS = {
    "#000001": "rgb(var(--blue))",
    "#000002": "rgb(var(--orange))",
    "#000003": "rgb(var(--violet))",
    "#000004": "rgb(var(--green))",
    "#000005": "var(--quiet)",
    "#000006": "var(--hair)",
    "#000007": "currentColor",
}
*_TONES, _QUIET, _HAIR, _INK = _COLOURS
_WIDTH, _HEIGHT = 420, 190
_PLOT = (74 / _WIDTH, 40 / _HEIGHT, 334 / _WIDTH, 136 / _HEIGHT)  # left, bottom, width, height
_LEVELS = 8
_BINS, _DOTS, _GOLDEN = 20, 250, 0.6180339887


@dataclass(frozen=True)
class Scale:
    """The axis along the bottom: what it shows, from where to where, and which values are named."""

    title: str
    low: float
    high: float
    ticks: tuple[float, ...]


def can_draw() -> bool:
    return find_spec("matplotlib") is not None


def histogram(groups: Groups, scale: Scale, title: str, reference: Floats | None = None) -> Markup:
    """How many values lie where, the groups on top of each other; the reference is a grey outline."""
    plot = _plot(scale)
    bins = np.linspace(scale.low, scale.high, _BINS + 1)
    plot.hist(groups, bins.tolist(), stacked=True, color=_TONES[: len(groups)], alpha=0.82, rwidth=0.88)
    counts = [np.histogram(values, bins)[0] for values in (np.concatenate(groups), reference) if values is not None]
    if reference is not None:
        plot.stairs(counts[1], bins, color=_QUIET, linewidth=1.3)
    most = max(1, *(int(count.max()) for count in counts))
    plot.set_ylim(0, most)
    plot.set_yticks([0, most])
    plot.set_ylabel("texts")
    return _svg(plot, title)


def dot_rows(rows: Sequence[tuple[str, Groups]], scale: Scale, title: str, down: str) -> Markup:
    """Named rows, the first on top: a dot for each value, their median, and the middle half of them."""
    plot = _plot(scale)
    for y, (_, groups) in enumerate(rows):
        values = np.concatenate(groups)
        if not len(values):
            plot.text(scale.low, y, "  no texts", va="center", color=_QUIET)
            continue
        tones = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        # Spread without chance, so that a page is the same each time.
        spread = y + 0.36 * (2 * (np.arange(len(values)) * _GOLDEN % 1) - 1)
        for tone in range(len(groups)):
            mine = np.flatnonzero(tones == tone)[: _DOTS // len(groups)]
            plot.scatter(values[mine], spread[mine], s=12, color=_TONES[tone], alpha=0.65, linewidths=0)
        low, median, high = np.quantile(values, [0.25, 0.5, 0.75])
        plot.hlines(y, low, high, color=_INK, linewidth=2)
        plot.vlines(median, y - 0.25, y + 0.25, color=_INK, linewidth=3)
    plot.set_ylim(len(rows) - 0.5, -0.5)
    plot.set_yticks(range(len(rows)), [name for name, _ in rows])
    plot.set_ylabel(down)
    return _svg(plot, title)


def named_points(points: Floats, names: Sequence[str], axes: tuple[str, str], title: str) -> Markup:
    """A plane of points with their names, for a figure in a paper; a page has one that can be searched."""
    low, high = points.min(axis=0), points.max(axis=0)
    plot = _plot(Scale(axes[0], float(low[0]), float(high[0]) or 1.0, (float(low[0]), float(high[0]))))
    plot.scatter(points[:, 0], points[:, 1], s=10, color=_TONES[0], alpha=0.65, linewidths=0)
    for name, (x, y) in zip(names, points.tolist(), strict=True):
        plot.annotate(name.replace("$", r"\$"), (x, y), (0, 3), textcoords="offset points", ha="center", fontsize=7)
    plot.set_ylabel(axes[1])
    plot.set_yticks([])
    return _svg(plot, title)


def heat_map(table: Floats, title: str, down: str, along: str) -> Markup | None:
    """A table of numbers as shades, blue above zero and orange below; None where matplotlib is not installed."""
    if not can_draw():
        return None
    rows, columns = table.shape
    plot = _plot(Scale(along, -0.5, columns - 0.5, (0, columns - 1)))
    most, size = float(np.abs(table).max()) or 1.0, max(4.0, 900 / max(rows, columns))
    for tone, side in ((_TONES[0], table), (_TONES[1], -table)):
        at, where = np.nonzero(side > 0.02 * most)  # what is fainter cannot be told from the ground
        sizes = side[at, where] / most
        for level in range(_LEVELS):
            mine = np.minimum((sizes * _LEVELS).astype(int), _LEVELS - 1) == level
            spots, alpha = (where[mine], at[mine]), (level + 1) / _LEVELS
            plot.scatter(*spots, s=size, color=tone, alpha=alpha, linewidths=0, marker="s")
    plot.set_ylim(rows - 0.5, -0.5)
    plot.set_yticks([0, rows - 1])
    plot.set_ylabel(down)
    return _svg(plot, title)


def _plot(scale: Scale) -> Axes:
    """An empty drawing with its axis along the bottom."""
    from matplotlib.figure import Figure  # slow to import, an extra, and only wanted here

    plot = Figure(figsize=(_WIDTH / 72, _HEIGHT / 72)).add_axes(_PLOT)
    plot.set_xlim(scale.low, scale.high)
    plot.set_xticks(scale.ticks, [f"{tick:g}".replace("-", "−") for tick in scale.ticks])
    plot.set_xlabel(scale.title)
    plot.patch.set_visible(False)
    plot.spines[["top", "left", "right"]].set_visible(False)
    plot.spines["bottom"].set_color(_HAIR)
    plot.tick_params(axis="x", color=_HAIR, labelcolor=_QUIET, labelsize=10.5)
    plot.tick_params(axis="y", length=0, labelcolor=_QUIET, labelsize=10.5)
    for axis in (plot.xaxis, plot.yaxis):
        axis.label.set(color=_QUIET, fontsize=10.5)
    return plot


def _svg(plot: Axes, title: str) -> Markup:
    """The drawing as a part of a page: without a header, without a font of its own, in the colours of the page."""
    from matplotlib import rc_context

    out, figure = StringIO(), plot.get_figure(root=True)
    assert figure is not None
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": title}):  # texts stay texts; the same ids every time
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    drawn = out.getvalue()
    body = drawn[drawn.index("</metadata>") + len("</metadata>") : drawn.rindex("</svg>")]
    body = re.sub(r"<style.*?</style>", "", body, flags=re.DOTALL).replace("xlink:href", "href")
    body = re.sub(r' id="[A-Za-z0-9]+_\d{1,3}"', "", body)  # the same in every chart
    body = re.sub(r"font-family: [^;\"]*;", "", body)
    body = re.sub("|".join(_COLOURS), lambda found: _COLOURS[found.group()], body)
    # matplotlib escapes the texts of its figures.
    head = Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">').format(_WIDTH, _HEIGHT, title)
    drawing = Markup(body)  # nosec B704
    return head + drawing + Markup("</svg>")

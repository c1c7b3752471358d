"""A plane of named points as SVG of our own: names where there is room, all of them by hovering, searching, or a table.

It needs no library and no network. The script only finds names; without it the points and the table are there.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files

import numpy as np
from markupsafe import Markup
from rich.cells import cell_len

from assay.statistics.arrays import Floats
from assay.views.templating import render
from assay.views.visible import visible_on_page

WIDTH, HEIGHT, _EDGE = 420, 320, 14
_LETTER, _LINE = 5.6, 11.0  # how wide a letter and how high a name is drawn
_MOST_NAMES = 60

SCRIPT = files("assay.views").joinpath("templates/scatter.js").read_text(encoding="utf-8")
# A page allows no script but this one, by its digest. Both are our own, whatever a user gives.
_DIGEST = b64encode(sha256(SCRIPT.encode()).digest()).decode()
_MARKED, SOURCE = Markup(SCRIPT), Markup(f"'sha256-{_DIGEST}'")  # nosec B704


@dataclass(frozen=True)
class NamedDot:
    """A point in the drawing; its name is written where there is room for it."""

    name: str
    x: float
    y: float
    at: str  # where it lies on the axes
    marked: bool
    named: bool


def scatter(names: Sequence[str], points: Floats, axes: tuple[str, str], marked: Collection[str] = ()) -> Markup:
    """The drawing with its search field and its table; marked points have another colour and shape."""
    dots = placed(names, points, marked)
    ends = [_ends(points[:, axis]) for axis in (0, 1)]
    size = {"width": WIDTH, "height": HEIGHT}
    values = {"dots": dots, "axes": axes, "ends": ends, "size": size, "script": _MARKED}
    return render("scatter.html.j2", **values)


def placed(names: Sequence[str], points: Floats, marked: Collection[str]) -> list[NamedDot]:
    """Points in the units of the drawing, y upwards; names are written from the outermost point inwards."""
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.where(high > low, high - low, 1)
    room = np.array([WIDTH - 2 * _EDGE, HEIGHT - 2 * _EDGE])
    at = _EDGE + (points - low) / span * room
    at[:, 1] = HEIGHT - at[:, 1]
    named = _with_room(names, at, marked)
    return [
        NamedDot(name, x, y, f"{px:.3g}, {py:.3g}".replace("-", "−"), name in marked, i in named)
        for i, (name, (x, y), (px, py)) in enumerate(zip(names, at.tolist(), points.tolist(), strict=True))
    ]


def _with_room(names: Sequence[str], at: Floats, marked: Collection[str]) -> set[int]:
    """The points whose names do not overlap: marked ones first, then those far from the middle."""
    outwards = np.abs(at - at.mean(axis=0)).max(axis=1)
    order = sorted(range(len(names)), key=lambda i: (names[i] not in marked, -outwards[i], i))
    taken: list[tuple[float, float, float, float]] = []
    found: set[int] = set()
    for i in order:
        box = _box(names[i], *at[i].tolist())
        free = all(box[2] < a or c < box[0] or box[3] < b or d < box[1] for a, b, c, d in taken)
        if free and len(found) < _MOST_NAMES:
            taken.append(box)
            found.add(i)
    return found


def _box(name: str, x: float, y: float) -> tuple[float, float, float, float]:
    """Where a name would be written: above its point, within the drawing."""
    half = _LETTER * cell_len(visible_on_page(name)) / 2
    middle = min(max(x, half), WIDTH - half)
    return middle - half, y - 4 - _LINE, middle + half, y - 2


def _ends(values: Floats) -> tuple[str, str]:
    return f"{values.min():.2g}".replace("-", "−"), f"{values.max():.2g}".replace("-", "−")

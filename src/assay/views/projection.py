"""Projection: a plane of named points, what its axes are, and the words at their ends."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from markupsafe import Markup
from rich.console import Group, RenderableType
from rich.text import Text as Line

from assay.explanations.projection import Projection
from assay.views import charts, say
from assay.views.scatter import scatter
from assay.views.templating import render
from assay.views.visible import visible

_ENDS = 8  # words at each end of an axis


def html(e: Projection) -> Markup:
    plane = scatter(e.names, e.points, e.axes, defining(e))
    return render("projection.html.j2", plane=plane, sentences=list(sentences(e)), axes=ends(e), defining=defining(e))


def figure(e: Projection) -> Markup:
    """The same plane drawn by matplotlib, as SVG for a paper; `charts.can_draw` says whether it is installed."""
    return charts.named_points(e.points, [visible(name) for name in e.names], e.axes, f"{len(e.names)} words")


def heading(e: Projection) -> str:
    """The question that is answered."""
    return "Where do words lie for the model?" if "vectors" not in e.facts else "Where do words lie?"


def terminal(e: Projection) -> RenderableType:
    return Group(*(Line(visible(line)) for line in sentences(e)), *_axis_lines(e))


def _axis_lines(e: Projection) -> Iterator[Line]:
    for name, low, high in ends(e):
        yield Line()
        yield Line(visible(name), style="bold")
        yield Line.assemble(("low   ", "dim"), visible(" · ".join(low)))
        yield Line.assemble(("high  ", "dim"), visible(" · ".join(high)))


def ends(e: Projection) -> list[tuple[str, list[str], list[str]]]:
    """For each axis its name and the words at its two ends, the outermost first, without words that define it."""
    fixed = defining(e)
    found = []
    for axis, name in enumerate(e.axes):
        order = [e.names[i] for i in np.argsort(e.points[:, axis], kind="stable")]
        free = [word for word in order if word not in fixed] or order
        found.append((name, free[:_ENDS], free[::-1][:_ENDS]))
    return found


def defining(e: Projection) -> tuple[str, ...]:
    """The words that define a direction."""
    return tuple(word for one in e.directions for pair in one.get("pairs", ()) for word in pair)


def sentences(e: Projection) -> Iterator[str]:
    """What the plane shows, how much it leaves out, and how it agrees with what others published."""
    facts, where = e.facts, "in a plane"
    shares = [one["share"] for one in e.directions if "share" in one and "pairs" not in one]
    if len(shares) == 2:
        where = f"in a plane that holds {sum(shares):.0%} of their variance"
    yield f"{say.counted(len(e.names), 'word')} {where}{_origin(e)}."
    for one in e.directions:
        if "pairs" in one:
            pairs = say.counted(len(one["pairs"]), "pair")
            yield f"“{one['name']}” is made of {pairs} of words; {one['share']:.0%} of how they differ lies along it."
    if (kept := facts.get("neighbours_kept")) is not None:
        yield f"Trustworthiness {kept:.2f}: 1 if neighbours in the plane are neighbours in the space, 0.5 by chance."
    if found := facts.get("published"):
        low, high = found["interval"]
        random = f"random directions: {found['random_correlation']:.2f} in size on average, p = {found['p_value']:.3f}"
        yield (
            f"Published scores of {found['scored_words']} words correlate with “{e.axes[0]}” by "
            f"{found['correlation']:.2f} [{low:.2f}, {high:.2f}] ({random})."
        )


def _origin(e: Projection) -> str:
    """Whose vectors they are."""
    if "vectors" in e.facts:
        return f", by the vectors of “{e.facts['vectors']}”, which the model has no part in"
    if "layer" in e.facts:
        return f", by layer {e.facts['layer']}, averaged over {e.facts['places']:,} places"
    return ", by the model's input embedding"

"""Figures for papers, drawn by matplotlib into axes that the caller has or gets.

    bars         the strongest words of one text, by size
    waterfall    from the value without any word to the value of the text, where scores add up to the difference
    beeswarm     over many texts: a row a word, a dot for every place where it stands
    curves       what the model says while words go (deletion) or come (insertion), beside random maps
    tests        of a trust card or of verdicts: how many random maps each method is ahead of, test by test

Colours tell for and against apart for everybody (blue and orange), and signs say it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import BadInput, UnknownName
from assay.explanations.explanation_list import Explanations
from assay.explanations.token_scores import TokenScores
from assay.statistics.arrays import Floats
from assay.statistics.verdict import Verdict
from assay.verdicts.naming import method_titles
from assay.verdicts.standing import title_of
from assay.verdicts.trust_card import TrustCard
from assay.verdicts.verdict_list import Verdicts
from assay.views.charts import MISSING_FOR_PLOTS, can_draw
from assay.views.plotted_curves import PlottedCurve, curves_of
from assay.views.say import scale, signed
from assay.views.shades import has_signs
from assay.views.visible import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FOR, _AGAINST, _SOME, _QUIET = "#2070d0", "#e87a14", "#825abe", "#8a8a90"
_CYCLE = (_FOR, _AGAINST, "#0f9d68", _SOME, "#444448", "#b3501c")
_MARKERS = "osD^vPX"
_STYLE = {"font.size": 8, "axes.titlesize": 8, "svg.fonttype": "none", "pdf.fonttype": 42, "axes.linewidth": 0.6}
_WIDTH = 3.5  # inches: a column of a paper
_MOST, _SWARM, _LEAST = 15, 12, 2
_LONGEST = 32


def plot(result: Any, kind: str | None = None, *, ax: Axes | None = None, **options: Any) -> Axes:
    """Draw a result into these axes, or into those of a new figure."""
    draw = _chosen(result, kind)
    if ax is not None:
        draw(ax, result, **options)
        return ax
    _require_matplotlib()
    from matplotlib import pyplot, rc_context

    with rc_context(_STYLE):
        axes: Axes = pyplot.subplots(figsize=(_WIDTH, 2.4), layout="constrained")[1]
        draw(axes, result, **options)
    return axes


def picture(result: Any, form: str, kind: str | None = None, **options: Any) -> bytes:
    """The figure as a file; nothing is kept of it, and pyplot does not know it."""
    draw, out = _chosen(result, kind), BytesIO()
    _require_matplotlib()
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({**_STYLE, "svg.hashsalt": "assay"}):
        figure = Figure(figsize=(_WIDTH, 2.4), layout="constrained")
        draw(figure.add_subplot(), result, **options)
        same = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}  # the same file every time
        figure.savefig(out, format=form, dpi=200, metadata=same.get(form))
    return out.getvalue()


def bars(ax: Axes, e: TokenScores, most: int = _MOST) -> None:
    """The strongest words, the strongest on top."""
    order = np.argsort(-np.abs(e.scores), kind="stable")[:most]
    _tall(ax, len(order))
    ax.barh(range(len(order)), e.scores[order], color=[_colour(e, i) for i in order.tolist()], height=0.7)
    _words_down(ax, [e.words[i] for i in order.tolist()])
    ax.axvline(0, color="black", linewidth=0.6)
    ax.set_xlabel(_scale(e))


def waterfall(ax: Axes, e: TokenScores, most: int = 10) -> None:
    """Each bar begins where the one below it ends; weaker words are one bar, and what is missing to the sum another."""
    if not {"baseline", "value"} <= e.facts.keys():
        need = f"a waterfall needs scores that add up to the prediction, which those of {e.about.method} do not"
        raise BadInput(f"{need}: try integrated_gradients, kernel_shap or partition_shap.")
    base, value = float(e.facts["baseline"]), float(e.facts["value"])
    steps = _steps(e, most, value - base - float(e.scores.sum()))
    _tall(ax, len(steps))
    start = base
    for y, (_, step) in enumerate(steps):
        ax.barh(y, step, left=start, color=_FOR if step > 0 else _AGAINST, height=0.7)
        ax.text(start + max(step, 0), y, f" {signed(step)}", va="center", fontsize=6, clip_on=False)
        start += step
    _words_down(ax, [name for name, _ in steps])
    ax.margins(x=0.16)
    for place, name in ((base, "no words"), (value, "the text")):
        ax.axvline(place, color=_QUIET, linewidth=0.6, linestyle="--")
        _above(ax, place, f"{name} {place:.2f}".replace("-", "−"))
    ax.set_xlabel(f"{scale(e)} of “{_plain(e.label)}”")


def _above(ax: Axes, place: float, name: str) -> None:
    ax.annotate(name, (place, 1), xycoords=("data", "axes fraction"), fontsize=6, ha="center", va="bottom")


def _steps(e: TokenScores, most: int, gap: float) -> list[tuple[str, float]]:
    order = np.argsort(-np.abs(e.scores), kind="stable").tolist()
    named = [(e.words[i], float(e.scores[i])) for i in order[:most]]
    if rest := order[most:]:
        named.append((f"{len(rest)} other words", float(e.scores[rest].sum())))
    return [*named, ("not accounted for", gap)] if abs(gap) > 0.02 * max(1.0, abs(e.scores).max()) else named


def beeswarm(ax: Axes, many: Explanations, most: int = _SWARM, least: int = _LEAST, label: str | None = None) -> None:
    """The words with the largest mean size among those that stand in at least `least` places, and all their scores.

    Only texts of which the same label is explained go together, since a score for one label is none for another: those
    of `label`, by default of the label that most texts are explained for.
    """
    maps = _of_one_label(_scores_of(many.flat), label)
    places: dict[str, list[float]] = {}
    for e in maps:
        for word, score in zip(e.words, e.scores.tolist(), strict=True):
            places.setdefault(word.lower(), []).append(score)
    often = {word: np.array(scores) for word, scores in places.items() if len(scores) >= least}
    if not often:
        raise BadInput(f"no word occurs in {least} places of these texts: give more texts, or least=1.")
    chosen = sorted(often, key=lambda word: -float(np.abs(often[word]).mean()))[:most]
    _tall(ax, len(chosen))
    for y, word in enumerate(chosen):
        scores = often[word]
        colours = np.where(scores > 0, _FOR, _AGAINST) if has_signs(maps[0]) else _SOME
        ax.scatter(scores, y + _spread(scores), s=7, c=colours, alpha=0.75, linewidths=0)
    _words_down(ax, [f"{word} ({len(often[word])})" for word in chosen])
    ax.axvline(0, color="black", linewidth=0.6)
    ax.set_xlabel(f"{_scale(maps[0])}\n({len(maps)} of {len(many.flat)} texts; number of places)")


def _of_one_label(maps: Sequence[TokenScores], label: str | None) -> list[TokenScores]:
    counts = Counter(e.label for e in maps)
    if label is not None and label not in counts:
        raise UnknownName.of("explained label", label, counts)
    chosen = label or counts.most_common(1)[0][0]
    return [e for e in maps if e.label == chosen]


def _spread(scores: Floats, bins: int = 40) -> Floats:
    """Heights that keep dots of one row apart: dots of the same place stand above and below each other."""
    heights = np.zeros(len(scores))
    width = float(np.ptp(scores)) or 1.0
    seen: dict[int, int] = {}
    for i, score in enumerate(scores.tolist()):
        place = int((score - scores.min()) / width * bins)
        nth = seen[place] = seen.get(place, -1) + 1
        heights[i] = (nth + 1) // 2 * (1 if nth % 2 else -1) * 0.12
    return np.clip(heights, -0.42, 0.42)


def tests(ax: Axes, result: TrustCard | Verdicts) -> None:
    """A row a test, a sign a method: the share of random maps that it is ahead of; full where it passes."""
    by_method = _verdicts_by_method(result)
    rows = list(dict.fromkeys(title_of(v) for mine in by_method.values() for v in mine))
    _tall(ax, len(rows) + 1)
    for k, (title, mine) in enumerate(by_method.items()):
        shift = 0.5 * ((k + 0.5) / len(by_method) - 0.5)
        colour, marker = _CYCLE[k % len(_CYCLE)], _MARKERS[k % len(_MARKERS)]
        for v in mine:
            y, face = rows.index(title_of(v)) + shift, colour if v.passed else "white"
            ax.scatter(100 * v.ahead, y, s=18, marker=marker, edgecolors=colour, c=face, zorder=3)
        ax.scatter([], [], s=18, marker=marker, color=colour, label=_plain(title))
    ax.axvline(50, color=_QUIET, linewidth=0.6, linestyle="--")
    _words_down(ax, rows)
    ax.set_xlim(-3, 103)
    ax.set_xlabel("random maps it is ahead of (%)")
    _beside(ax, "full: better than random")


def deletion(ax: Axes, result: Any, **options: Any) -> None:
    _curves(ax, curves_of("deletion", _maps(result), **options), "removed")


def insertion(ax: Axes, result: Any, **options: Any) -> None:
    _curves(ax, curves_of("insertion", _maps(result), **options), "there")


def _curves(ax: Axes, curves: Sequence[PlottedCurve], done: str) -> None:
    """A line a method; random maps in grey, the middle 95 % of them shaded."""
    for k, curve in enumerate(curves):
        random = curve.title == "random maps"
        colour = _QUIET if random else _CYCLE[k % len(_CYCLE)]
        dashes = ("-", "--", "-.", ":")[k % 4] if not random else "-"
        ax.plot(100 * curve.share, curve.mean, dashes, color=colour, linewidth=1.2, label=_plain(curve.title))
        if random:
            ax.fill_between(100 * curve.share, curve.low, curve.high, color=colour, alpha=0.2, linewidth=0)
    ax.set_xlabel(f"words {done}, most important first (%)")
    ax.set_ylabel("probability")
    ax.spines[["top", "right"]].set_visible(False)
    _beside(ax)


def _beside(ax: Axes, title: str | None = None) -> None:
    """The names of the methods on the right, where they hide nothing."""
    legend = {"fontsize": 6, "title_fontsize": 6, "frameon": False, "loc": "center left", "bbox_to_anchor": (1, 0.5)}
    ax.legend(title=title, **legend)


Draw = Callable[..., None]
_KINDS: Mapping[type, Mapping[str, Draw]] = {
    TokenScores: {"bars": bars, "waterfall": waterfall, "deletion": deletion, "insertion": insertion},
    Explanations: {"beeswarm": beeswarm, "deletion": deletion, "insertion": insertion},
    TrustCard: {"tests": tests, "deletion": deletion, "insertion": insertion},
    Verdicts: {"tests": tests},
}


def _chosen(result: Any, kind: str | None) -> Draw:
    """The drawing that is asked for, by default the first of those that there are for this kind of result."""
    known = next((kinds for of, kinds in _KINDS.items() if isinstance(result, of)), {})
    if not known:
        name = getattr(result, "kind", type(result).__name__)
        raise BadInput(f"{name} has no figure; scores of words, lists of them, trust cards and verdicts have one.")
    if kind is not None and kind not in known:
        raise UnknownName.of("figure of this result", kind, known)
    return known[kind or next(iter(known))]


def _require_matplotlib() -> None:
    if not can_draw():
        raise BadInput(MISSING_FOR_PLOTS)


def _verdicts_by_method(result: TrustCard | Verdicts) -> dict[str, list[Verdict]]:
    if isinstance(result, TrustCard):
        found = {standing.title: standing.tests for standing in result.standings}
    else:
        found = {}
        for title, v in zip(method_titles(result), result, strict=True):
            found.setdefault(title, []).append(v)
    if not any(found.values()):
        raise BadInput("nothing was tested, so there is nothing to draw.")
    return found


def _maps(result: Any) -> dict[str, Sequence[TokenScores]]:
    """The maps of each method."""
    if isinstance(result, TrustCard):
        return {standing.title: standing.explanations for standing in result.standings}
    some = _scores_of(result.flat) if isinstance(result, Explanations) else [result]
    found: dict[str, list[TokenScores]] = {}
    for e in some:
        found.setdefault(e.about.title or e.about.method or e.kind, []).append(e)
    return dict(found)


def _scores_of(many: Iterable[Any]) -> list[TokenScores]:
    found = [e for e in many if isinstance(e, TokenScores)]
    if not found:
        raise BadInput("only scores of words can be drawn; there are none in this list.")
    return found


def _tall(ax: Axes, rows: int) -> None:
    """A figure that is as high as its rows need; axes of the caller stay as they are."""
    figure = ax.get_figure(root=True)
    if figure is not None and len(figure.axes) == 1:
        figure.set_size_inches(figure.get_size_inches()[0], 0.75 + 0.19 * rows)
    ax.spines[["top", "right", "left"]].set_visible(False)


def _words_down(ax: Axes, words: Sequence[str]) -> None:
    """Names of the rows, the first on top; a dollar is a dollar."""
    ax.set_yticks(range(len(words)), [_plain(word) for word in words], parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(words) - 0.4, -0.6)


def _plain(word: str) -> str:
    flat = one_line(word).strip()
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"


def _colour(e: TokenScores, i: int) -> str:
    return _SOME if not has_signs(e) else _FOR if e.scores[i] > 0 else _AGAINST


def _scale(e: TokenScores) -> str:
    return "importance" if not has_signs(e) else f"score: for “{_plain(e.label)}” on the right"

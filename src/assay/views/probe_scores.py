"""ProbeScores: a bar for each layer, with what the probe learns by heart, and the bits that the labels take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text as Line

from assay.explanations.probe_scores import ProbeScores
from assay.views import say
from assay.views.templating import render

_BAR = 22
_NAMES = {
    "pos": "the part of speech of each word",
    "entities": "the entity that each word belongs to",
    "relations": "the relation of each word to its head",
    "order": "which of two words comes first",
    "depth": "how deep each word lies in its tree",
    "distance": "how far two words are from each other in their tree",
    "tree_depth": "how deep the words of a sentence lie in its tree",
    "tree_distance": "how far the words of a sentence are from each other in its tree",
    "label": "the label of each text",
}
_TREES = {
    # what is counted, what one gets who reads nothing, and what the control is
    "tree_distance": ("edges of the tree", "the chain of neighbouring words", "UUAS: the share of edges found"),
    "tree_depth": ("roots", "the first word", "Root accuracy: how often the least deep word is the root"),
}
_NOTE = {
    "score": "Score: right answers on items that the probe has not seen, with a 95 % interval over sentences.",
    "control": "Control: the same with labels drawn for each word type; what the probe learns by heart.",
    "bits": "Bits: what a label takes when the layer's probe helps to write it.",
    "mix": "Weight: how much the layer counts in one probe of all layers.",
}


@dataclass(frozen=True)
class LayerRow:
    """What is known of one layer, as it is shown."""

    name: str
    score: float
    interval: str
    control: float | None
    bits: float | None
    weight: float | None
    best: bool


def html(e: ProbeScores) -> Markup:
    return render("probe_scores.html.j2", sentences=list(sentences(e)), rows=rows(e), e=e, notes=list(notes(e)))


def heading(e: ProbeScores) -> str:
    """The question that is answered."""
    return f"Which layers know {_NAMES.get(e.task, e.task)}?"


def terminal(e: ProbeScores) -> RenderableType:
    return ProbeTable(e)


@dataclass(frozen=True)
class ProbeTable:
    """The sentences, then a line for each layer."""

    e: ProbeScores

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        e = self.e
        full, empty = ("=", ".") if options.ascii_only else ("━", "╌")
        for line in sentences(e):
            yield Line(line)
        yield Line()
        yield Line(_head(e), style="dim")
        for row in rows(e):
            filled = round(_BAR * row.score)
            numbers = "".join(_cells(row))
            yield Line.assemble(
                (f"{row.name:<10}", "bold" if row.best else ""),
                (full * filled, "blue"),
                (empty * (_BAR - filled), "dim"),
                (f" {row.score:.3f}", "bold" if row.best else ""),
                f" {row.interval:<14}" if row.interval else "",
                numbers,
            )
        for line in notes(e):
            yield Line(line, style="dim")


def _head(e: ProbeScores) -> str:
    more = [("control", e.control), ("bits", e.bits), ("weight", e.mix)]
    interval = " " * 15 if e.intervals else ""
    return " " * (10 + _BAR) + " score" + interval + "".join(f" {name:>7}" for name, values in more if len(values))


def _cells(row: LayerRow) -> Iterator[str]:
    for value in (row.control, row.bits, row.weight):
        if value is not None:
            yield f" {value:>7.3f}"


def rows(e: ProbeScores) -> list[LayerRow]:
    """The layers from the embedding up."""
    return [
        LayerRow(
            "embedding" if layer == 0 else f"layer {layer}",
            float(e.scores[i]),
            "[{:.3f}, {:.3f}]".format(*e.intervals[i]) if e.intervals else "",
            float(e.control[i]) if len(e.control) else None,
            float(e.bits[i]) if len(e.bits) else None,
            float(e.mix[i]) if len(e.mix) else None,
            i == e.best,
        )
        for i, layer in enumerate(e.layers)
    ]


def sentences(e: ProbeScores) -> Iterator[str]:
    """What the best layer knows, and what it is worth."""
    best = rows(e)[e.best]
    if e.task in _TREES:
        yield from _tree_sentences(e)
        return
    name = "the embedding" if e.layers[e.best] == 0 else best.name
    yield (
        f"Most is read off {name}: {best.score:.1%} right, where the most frequent label is right {e.majority:.1%} "
        f"of the time ({e.items[0]:,} items to train on, {e.items[1]:,} to test)."
    )
    if best.control is not None:
        gap = best.score - best.control
        yield f"The same probe gets {best.control:.1%} of labels that are drawn for each word: selectivity {gap:.1%}."
    if len(e.bits):
        least = int(e.bits.argmin())
        where = "the embedding" if e.layers[least] == 0 else f"layer {e.layers[least]}"
        yield (
            f"With {where} a label takes {e.bits[least]:.2f} bits, instead of {e.uniform_bits:.2f} without any help "
            f"and {e.label_bits[0]:.2f} if one knows how frequent labels are."
        )
    if e.mix_score is not None:
        yield f"One probe of all layers together gets {e.mix_score:.1%}."


def _tree_sentences(e: ProbeScores) -> Iterator[str]:
    what, floor, _ = _TREES[e.task]
    best = rows(e)[e.best]
    name = "the embedding" if e.layers[e.best] == 0 else best.name
    yield (
        f"Most is read off {name}: {best.score:.1%} of the {what}, where {floor} has {e.majority:.1%} "
        f"({e.items[0]:,} words to train on, {e.items[1]:,} {what} to test)."
    )
    if best.control is not None:
        gap = best.score - best.control
        yield f"Of trees drawn at random the same probe gets {best.control:.1%}: selectivity {gap:.1%}."
    known = e.facts.get("spearman", ())
    if known:
        shown = ", ".join(f"{value:.2f}" for value in known)
        yield f"Spearman correlation with the true numbers, from the embedding up: {shown}."


def notes(e: ProbeScores) -> Iterator[str]:
    """What the columns are."""
    if e.task in _TREES:
        yield f"{_TREES[e.task][2]}, without punctuation, with a 95 % interval over sentences."
        yield "Control: the same probe on trees drawn at random, which no state knows."
        return
    there = {"score": e.scores, "control": e.control, "bits": e.bits, "mix": e.mix}
    yield from (_NOTE[name] for name, values in there.items() if len(values))
    yield f"The most frequent label alone: {say.number(e.majority)}."

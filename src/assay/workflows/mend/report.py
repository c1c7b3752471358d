"""The report of a mending, as report.md and as report.html, which needs nothing else: table, lengths, examples."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from assay.views.templating import environment
from assay.views.visible import visible
from assay.workflows.mend.measures import BINS
from assay.workflows.mend.result import MendResult

PAGE = "report.html"
_COLOURS = ("#8a8f98", "#2070d0", "#e87a14")
_HIGH = 140
_READ = re.compile(r"[\\`\[\]]")
PAPER = "Feng et al. (2018), Pathologies of Neural Models Make Interpretations Difficult, arXiv:1804.07781, section 4."


def pages(result: MendResult) -> dict[str, str]:
    """The contents by the names of their files."""
    return {"report.md": markdown(result), PAGE: html(result)}


def title(result: MendResult) -> str:
    return f"What mending changed in {result.settings['model']['name']}{'' if result.accepted else ': refused'}"


def facts(result: MendResult) -> Iterator[tuple[str, str]]:
    settings = result.settings
    training = settings["training"]
    yield "learned from", f"{result.train:,} labelled texts; {result.reduced:,} reduced versions of {_of(result)} texts"
    yield "measured on", f"{len(result.gold):,} texts of dev, {_mean_words(result):.1f} words long"
    yield (
        "reduced",
        f"by input reduction, beam {settings['beam']}{_floor(settings['at_least'])}{_fields(settings['focus'])}",
    )
    kind = f"low-rank changes (rank {training['rank']})" if training["rank"] else "all weights"
    yield (
        "trained",
        (
            f"{kind}, {training['epochs']} epochs, rate {training['rate']:g}, {training['schedule']} schedule, "
            f"weight {training['weight']:g}, batch {training['batch']}, seed {settings['seed']}"
        ),
    )
    yield "margin", f"accuracy may fall by {result.margin:g}"
    yield "made by", ", ".join(f"{name} {version}" for name, version in settings["versions"].items())


def _of(result: MendResult) -> str:
    return "all" if result.reduced_texts == result.train else f"{result.reduced_texts:,}"


def _floor(at_least: float) -> str:
    return f", confidence {at_least:g} or more" if at_least else ""


def _fields(focus: Sequence[str]) -> str:
    return f", of the field {', '.join(focus)}" if focus else ""


def _mean_words(result: MendResult) -> float:
    words = result.models["before"].words
    return sum(words) / len(words)


def notes(result: MendResult) -> Iterator[str]:
    yield (
        "Values with 95 % intervals over the texts of dev; change: mended less before, on the same texts. "
        f"ECE: the mean gap of confidence and accuracy over {BINS} equally wide bins; with few texts it is too high."
    )
    yield (
        "Confidence on the texts reduced before: each model is shown what input reduction left of the texts for the "
        "model before mending, and is asked how sure it is of whatever it predicts."
    )


def head(result: MendResult) -> list[str]:
    return ["", *result.titles, "change"]


def markdown(result: MendResult) -> str:
    parts = [
        [f"# {_plain(title(result))}", "", *result.sentences(), ""],
        [f"- {name}: {_plain(value)}" for name, value in facts(result)],
        ["", *(f"- warning: {_plain(warning)}" for warning in result.warnings), ""],
        _table(head(result), [line.cells() for line in result.lines()]),
        ["", *notes(result), "", "## How long reduced texts are", ""],
        _table(["words", *result.titles], [[name, *map(str, counts)] for name, counts in result.histogram()]),
        ["", "## The first texts of dev", ""],
        *(list(_example(*example)) for example in result.examples()),
        ["", PAPER, ""],
    ]
    return visible("\n".join(line for part in parts for line in part))


def _example(text: str, label: str, left: Sequence[tuple[str, str, float]]) -> Iterator[str]:
    yield f"- {_plain(text)} ({_plain(label)})"
    yield from (f"    - {_plain(name)}: **{_plain(words)}** {chance:.2f}" for name, words, chance in left)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [_piped(head), _piped(["---"] * len(head)), *map(_piped, rows)]


def _piped(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_plain(cell) for cell in cells)} |"


def _plain(cell: str) -> str:
    """One line, and nothing in it that Markdown reads: no table, no emphasis, no markup, no link and no image."""
    escaped = _READ.sub(r"\\\g<0>", cell)
    return " ".join(escaped.replace("|", "/").replace("*", "∗").replace("<", "‹").split())


def html(result: MendResult) -> str:
    values: Mapping[str, object] = {
        "r": result,
        "head": head(result),
        "rows": [line.cells() for line in result.lines()],
        "title": title(result),
        "facts": list(facts(result)),
        "notes": list(notes(result)),
        "bars": bars(result),
        "colours": _COLOURS,
        "paper": PAPER,
    }
    return environment("assay.workflows.mend").get_template("mend.html.j2").render(values)


def bars(result: MendResult) -> list[tuple[str, list[tuple[int, float]]]]:
    """For each length the count of every model, and the height of its bar."""
    found = result.histogram()
    highest = max(count for _, counts in found for count in counts)
    return [(name, [(count, _HIGH * count / highest) for count in counts]) for name, counts in found]

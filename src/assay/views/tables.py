"""Tables of what there is: the survey's Table 1 with what is built of it, the checks, the bundled models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text as Line

from assay.registry.cards import Card, CheckCard, MethodCard
from assay.registry.survey import TABLE, Row, Uses
from assay.text.sample import Sample
from assay.views.visible import visible
from assay.views.wide import Wide, grid, hanging

_KEY = (
    "[in brackets] planned, not built yet.  Numbers: sections of the survey, arXiv:2108.04840.  "
    "Marks: C checkpoints, D a further dataset, H second derivatives, M a further model."
)
Methods = Mapping[str, MethodCard]


def methods_table(cards: Methods) -> RenderableType:
    """Rows are kinds of explanation, columns what a method may know; what is not built yet stands grey in brackets."""
    table = Wide(110, lambda: _survey(cards), lambda: _survey_listing(cards))
    return Group(table, Line(_KEY, style="dim"), Line(), _names(cards))


def checks_table(cards: Mapping[str, CheckCard]) -> RenderableType:
    def table() -> RenderableType:
        grown = grid("--check", "better", "reads", "what it measures", "also affected by", "paper")
        for card in cards.values():
            parts = (card.better, card.reads.kind, told(card), card.sensitive_to, card.paper)
            grown.add_row(Line(card.name, style="green"), *map(Line, parts))
        return grown

    return Wide(120, table, lambda: hanging((card.name, _check(card)) for card in cards.values()))


def models_table(cards: Mapping[str, Any]) -> RenderableType:
    if not cards:
        return Line("No bundled models are installed: pip install ./zoo")
    return hanging((name, _model(card)) for name, card in cards.items())


def found(entry: Mapping[str, Any]) -> RenderableType:
    """What was found out about one model, a sentence a line, and its methods."""
    sentences = [Line(f"- {visible(fact)}") for fact in entry["facts"]]
    works, fails = (", ".join(entry[key]) for key in ("methods", "not"))
    named = [("methods", Line(works)), *([("not these", Line(fails))] if fails else [])]
    return Group(Line(visible(entry["name"]), style="bold"), *sentences, hanging(named))


def told(card: Card[Any]) -> str:
    """What a method tells or a check measures, in the words of its own class."""
    return (card.make_from.__doc__ or "").strip().partition("\n")[0]


def _survey(cards: Methods) -> RenderableType:
    table = grid("", *(use.value for use in Uses), lines=True)
    for row in Row:
        table.add_row(Line(row.value, style="bold"), *(Line("\n").join(_cell(cards, row, use)) for use in Uses))
    return table


def _survey_listing(cards: Methods) -> RenderableType:
    """The same row by row, for narrow terminals."""
    lines: list[RenderableType] = []
    for row in Row:
        lines.append(Line(row.value, style="bold"))
        cells = ((use, list(_cell(cards, row, use))) for use in Uses)
        lines.append(hanging((f"  {use.value:<14}", Line(", ").join(cell)) for use, cell in cells if cell))
    return Group(*lines, Line())


def _cell(cards: Methods, row: Row, use: Uses) -> Iterator[Line]:
    """What the survey has here, then what only we have."""
    for cell in TABLE:
        if (cell.row, cell.uses) == (row, use):
            yield _entry(cell.title, cell.section, cell.marks, cell.name in cards)
    surveyed = {cell.name for cell in TABLE}
    for card in cards.values():
        if card.name not in surveyed and (card.row, card.uses) == (row, use):
            yield _entry(card.title, card.section, card.marks, True)


def _entry(title: str, section: str, marks: str, built: bool) -> Line:
    """A title with its marks and its section; brackets say `planned` where colour does not."""
    text = " ".join(filter(None, [f"{title}({','.join(marks)})" if marks else title, section]))
    return Line(text, style="green") if built else Line(f"[{text}]", style="dim")


def _names(cards: Methods) -> RenderableType:
    """What to type, and what it does."""
    return hanging(
        (card.name, Line.assemble(told(card), _dim(f" {_reads(card)} for {_asked(card)}. {card.paper}")))
        for card in cards.values()
    )


def _reads(card: MethodCard) -> str:
    return "Describes a sample; asks" if card.reads is Sample else "Asks"


def _check(card: CheckCard) -> Line:
    more = f" Also affected by {card.sensitive_to}. Reads {card.reads.kind}. {card.paper}"
    return Line.assemble(f"{card.better.capitalize()} is better. {told(card)}", _dim(more))


def _asked(card: Card[Any]) -> str:
    return " and ".join(question.__name__ for question in card.needs) or "nothing"


def _dim(text: str) -> tuple[str, str]:
    return text, "dim"


def _scores(metrics: Mapping[str, Any]) -> Iterator[str]:
    """The first number of each test; a test may also be one plain number."""
    for name, facts in metrics.items():
        if isinstance(facts, Mapping):
            yield from (
                f"{key} {facts[key]:.3f} on {name}" for key in ("accuracy", "mean", "perplexity") if key in facts
            )
        else:
            yield f"{name} {facts}"


def _model(card: Any) -> Line:
    scores = "; ".join(_scores(card.metrics))
    size = f"{card.bytes / 1e6:.1f} MB" if card.bytes else "from another package"
    reads = f"reads {', '.join(card.fields)}; says {', '.join(card.labels) or 'words'}; {size}"
    return Line.assemble(f"{card.title} ({card.task}). ", _dim(f"It {reads}. {scores}"))

"""Tables 1 and 3: can people answer from reduced texts, and do they prefer them to random ones?

The answers come from a study with people (`assay people`). The paper's numbers are not in the text that we have, only
what it says of them: accuracy falls significantly on all tasks, and the preference is almost fifty-fifty (Table 1);
after fine-tuning people prefer the reduced texts (Table 3). For answers in people's own words the share of right ones
is given, where the paper has F1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.workflows.people.exact import Share
from assay.workflows.people.results import ALL, Line, Scores
from assay_studies import tables
from assay_studies.claims import Claim
from assay_studies.estimates import Estimate
from assay_studies.findings import Part
from assay_studies.tables import Cell, Table

_LEVEL, _FEW = 0.05, 20
_COLUMNS = ("Original", "Reduced", "vs. Random")
_TITLES = {"table_1": "Table 1: people and reduced texts", "table_3": "Table 3: the same after fine-tuning"}


def part(scores: Mapping[str, Scores], name: str = "table_1") -> Part:
    """The table of all tasks, by their titles; `name` is table_1, or table_3 for models that were fine-tuned."""
    found = [(_label(title, line), line) for title, of in scores.items() for line in of.lines]
    lines = [tables.Line(label, tuple(map(_cell, (o.original, o.reduced, o.preferred)))) for label, o in found]
    notes = tuple(f"{title}: {warning}" for title, of in scores.items() for warning in of.warnings)
    table = Table(name, f"{_TITLES[name]}, per cent", _COLUMNS, tuple(lines), "", 1, ("Intervals are exact.",))
    claims = [claim for title, of in scores.items() for claim in _CLAIMS[name](title, of.overall)]
    return Part(name, _TITLES[name], (table,), tuple(claims), notes)


def _label(title: str, line: Line) -> str:
    return title if line.label == ALL else f"{title}, {line.label}"


def _cell(share: Share) -> Cell:
    if share.value is None:
        return Cell()
    return Cell(Estimate(100 * share.value, 100 * share.low, 100 * share.high, share.of))


def _table_1(title: str, line: Line) -> Iterator[Claim]:
    yield Claim(
        f"{title}: people are right less often on reduced texts than on whole ones (Table 1)",
        _lower(line),
        f"{line.reduced.shown()} against {line.original.shown()}, {_p(line.p_accuracy)}",
    )
    yield Claim(
        f"{title}: there is no evidence that people prefer reduced texts to random ones (Table 1)",
        None if line.preferred.of < _FEW else not _preferred(line),
        f"{line.preferred.shown()}, {_p(line.p_preferred)}",
    )


def _table_3(title: str, line: Line) -> Iterator[Claim]:
    yield Claim(
        f"{title}: after fine-tuning people prefer reduced texts to random ones (Table 3)",
        True if _preferred(line) else False if line.preferred.high < 0.5 else None,
        f"{line.preferred.shown()}, {_p(line.p_preferred)}",
    )


_CLAIMS = {"table_1": _table_1, "table_3": _table_3}


def _lower(line: Line) -> bool | None:
    if line.p_accuracy is None or line.p_accuracy >= _LEVEL:
        return None
    return (line.reduced.value or 0) < (line.original.value or 0)


def _preferred(line: Line) -> bool:
    return line.p_preferred is not None and line.p_preferred < _LEVEL and (line.preferred.value or 0) > 0.5


def _p(value: float | None) -> str:
    return "not tested" if value is None else f"p = {value:.3g}"

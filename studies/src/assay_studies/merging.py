"""What a new run changes on a page: tables and claims that it has are taken from it, the others stay as they were.

    kept = merged(Kept.read(page / "tables"), Kept.read(run / "tables"))

Within a table it is cell by cell, so that a run on some of the datasets replaces those. What stays of an earlier run is
listed with its facts, and the page says so in its foot.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from assay_studies import stays
from assay_studies.kept import Kept
from assay_studies.rules import Comparison
from assay_studies.stays import OWN, STAYS
from assay_studies.tables import Cell, Line, Table

_COUNTS = re.compile(r" \([\d,]+ of [\d,]+ [^)]*\)")
_ORIGIN = "Note"


def merged(before: Kept, after: Kept) -> Kept:
    """The page's numbers after a run, of all tables that either has."""
    tables = {name: _table(before.tables.get(name), after.tables.get(name)) for name in [*before.tables, *after.tables]}
    claims = {
        key: _claims(before.claims.get(key, ()), after.claims.get(key, ())) for key in [*before.claims, *after.claims]
    }
    parts = {**before.parts, **after.parts}
    now = dict(_stays(before, after))
    last = {**before.facts, **({_ORIGIN: before.origin} if before.origin else {})}
    own = last.pop(OWN, "")
    older = [(facts, stays.read(facts.get(STAYS, ""))) for facts in before.earlier]
    rest = {name: lines for name, lines in now.items() if all(known.get(name) != () for _, known in older)}
    left = [
        (last, stays.still(stays.read(own), now) if own else rest),
        *((facts, stays.still(known, now)) for facts, known in older),
    ]
    told = [{**facts, STAYS: stays.written(some)} for facts, some in left if some]
    facts = {**after.facts, OWN: stays.written(dict(_measured_in(after)))} if told else after.facts
    return Kept(tables, claims, facts, parts, earlier=tuple(told))


def _table(before: Table | None, after: Table | None) -> Table:
    if before is None or after is None:
        found = after or before
        assert found is not None
        return found
    columns = tuple(dict.fromkeys((*before.columns, *after.columns)))
    old, new = ({_named(line.label): (table, line) for line in table.lines} for table in (before, after))
    lines = [_line(columns, old.get(name), new.get(name)) for name in dict.fromkeys([*old, *new])]
    stay = [name for name in columns if not _measured(after, name) and _measured(before, name)]
    gone = tuple(f"{name} was left out" for name in stay)  # not from the page, which has the earlier cells
    notes = tuple(note for note in after.notes if not note.startswith(gone))
    return replace(after, columns=columns, lines=tuple(lines), notes=notes)


def _measured(table: Table, column: str) -> bool:
    return any(_cells((table, line)).get(column, Cell()).ours is not None for line in table.lines)


def _named(label: str) -> str:
    """Without how many texts a line is of."""
    return _COUNTS.sub("", label)


def _line(columns: Sequence[str], old: tuple[Table, Line] | None, new: tuple[Table, Line] | None) -> Line:
    before, after = _cells(old), _cells(new)
    known = new or old
    assert known is not None
    return Line(known[1].label, tuple(_cell(before.get(name), after.get(name)) for name in columns))


def _cells(found: tuple[Table, Line] | None) -> Mapping[str, Cell]:
    return {} if found is None else dict(zip(found[0].columns, found[1].cells, strict=True))


def _cell(before: Cell | None, after: Cell | None) -> Cell:
    if after is not None and (after.ours is not None or after.counted):
        return after
    return before or after or Cell()


def _claims(before: Sequence[Comparison], after: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """In the order of the page; what the run says of a thing replaces all that was said of it."""
    own = {one.about for one in after}
    found: dict[str, list[Comparison]] = {one.about: [] for one in (*before, *after)}
    for one in (*(one for one in before if one.about not in own), *after):
        found[one.about].append(one)
    return tuple(one for some in found.values() for one in some)


def _stays(before: Kept, after: Kept) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What the page still has of before: whole tables, and lines of others."""
    for name, table in before.tables.items():
        new = after.tables.get(name)
        if new is None:
            yield name, ()
            continue
        fresh = {_named(line.label): _cells((new, line)) for line in new.lines}
        old = [line for line in table.lines if _remains(_cells((table, line)), fresh.get(_named(line.label), {}))]
        if old:
            yield name, tuple(line.label or "its line" for line in old)


def _measured_in(run: Kept) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name, table in run.tables.items():
        lines = [line.label for line in table.lines if any(c.ours is not None or c.counted for c in line.cells)]
        if lines:
            yield name, tuple(label or "its line" for label in lines)


def _remains(before: Mapping[str, Cell], after: Mapping[str, Cell]) -> bool:
    """Whether a cell that was measured is not measured anew."""
    return any(
        cell.ours is not None and (column not in after or after[column].ours is None) for column, cell in before.items()
    )

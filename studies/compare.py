"""Compare two directories of one study cell by cell, as before and after a change of the code.

    python studies/compare.py OLD NEW [--tolerance 1e-6]

Tables are compared by their csv files: lines, columns and published numbers must be the same, and of the numbers that
were measured here the largest difference is printed; claims by their text and verdict.
Exit status 1 where something else than a number within the tolerance differs.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Cells = dict[tuple[str, str, str], dict[str, str]]
_MEASURED = ("ours", "low", "high", "texts")


def cells(directory: Path) -> Cells:
    found: Cells = {}
    for path in sorted((directory / "tables").glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                found[row["table"], row["line"], row["column"]] = row
    return found


def parts(directory: Path, what: str) -> list[Any]:
    """The claims, or the notes, of all parts by their names, in their order."""
    stored = [json.loads(path.read_text(encoding="utf-8"))["part"] for path in sorted((directory / "parts").glob("*"))]
    return [(part["name"], one) for part in stored for one in part[what]]


def faults(old: Cells, new: Cells) -> Iterator[str]:
    """What is not a matter of numbers."""
    yield from (f"only in the old one: {place}" for place in old if place not in new)
    yield from (f"only in the new one: {place}" for place in new if place not in old)
    for place in old.keys() & new.keys():
        if old[place]["published"] != new[place]["published"]:
            yield f"{place}: published {old[place]['published']!r} and {new[place]['published']!r}"
    if not old:
        yield "there are no tables in the old directory"


def difference(one: str, other: str) -> float:
    """Of two entries of a csv file; infinite where one is no number and the other is another."""
    if one == other:
        return 0.0
    try:
        return abs(float(one) - float(other))
    except ValueError:
        return float("inf")


def claim_faults(old: Path, new: Path) -> Iterator[str]:
    both = [[(part, c["text"], c["holds"]) for part, c in parts(at, "claims")] for at in (old, new)]
    yield from (f"claim only in the old one: {one}" for one in both[0] if one not in both[1])
    yield from (f"claim only in the new one: {one}" for one in both[1] if one not in both[0])
    if sorted(map(repr, both[0])) == sorted(map(repr, both[1])) and both[0] != both[1]:
        yield "the claims stand in another order"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--tolerance", type=float, default=1e-6)
    options = parser.parse_args()
    old, new = cells(options.old), cells(options.new)
    wrong = [*faults(old, new), *claim_faults(options.old, options.new)]
    gaps = {
        (*place, name): difference(old[place][name], new[place][name])
        for place in old
        if place in new
        for name in _MEASURED
    }
    largest = max(gaps, key=lambda place: gaps[place], default=("",))
    same_evidence = sorted(parts(options.old, "claims"), key=repr) == sorted(parts(options.new, "claims"), key=repr)
    same_notes = parts(options.old, "notes") == parts(options.new, "notes")
    print(f"{len(gaps) // len(_MEASURED)} cells, {len(parts(options.new, 'claims'))} claims")
    print(f"largest difference {gaps.get(largest, 0.0):.3g} at {', '.join(largest)}")
    print(f"{sum(gap > 0 for gap in gaps.values())} numbers differ at all; evidence of claims", end=" ")
    print(f"{'the same' if same_evidence else 'differs'}, notes {'the same' if same_notes else 'differ'}")
    print("\n".join(wrong) if wrong else "lines, columns, published numbers, claims and verdicts are the same")
    return 1 if wrong or max(gaps.values(), default=0.0) > options.tolerance else 0


if __name__ == "__main__":
    raise SystemExit(main())

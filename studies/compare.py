"""Compare two directories of one study cell by cell, as before and after a change of the code.

    python studies/compare.py OLD NEW [--tolerance 1e-6]

Parts are read as the directories hold them, so that a study that is not finished can be compared as far as it is.
Lines, columns, published numbers, claims and verdicts must be the same; of the numbers that were measured the largest
difference is printed. Exit status 1 where something else differs, or a number by more than the tolerance.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Cells = dict[tuple[str, ...], dict[str, Any]]
_NONE = {"value": None, "low": None, "high": None, "n": None}


def parts(directory: Path) -> dict[str, Any]:
    """The finished parts by their names."""
    found = (json.loads(path.read_text(encoding="utf-8"))["part"] for path in (directory / "parts").glob("*.json"))
    return {part["name"]: part for part in sorted(found, key=lambda part: str(part["name"]))}


def cells(part: dict[str, Any]) -> Cells:
    """By the places of the lines too: a label may stand twice in a table."""
    return {
        (table["name"], str(i), line["label"], column): cell
        for table in part["tables"]
        for i, line in enumerate(table["lines"])
        for column, cell in zip(table["columns"], line["cells"], strict=True)
    }


def texts(part: dict[str, Any]) -> dict[str, Any]:
    """What is not measured: titles, notes, published numbers, and claims with their verdicts."""
    return {
        "title and notes": [part["title"], part["notes"]],
        "tables": [[t[k] for k in ("name", "title", "notes", "better", "digits", "drawn")] for t in part["tables"]],
        "published numbers": {place: (cell["published"], cell["counted"]) for place, cell in cells(part).items()},
        "claims": [(claim["text"], claim["holds"]) for claim in part["claims"]],
    }


def differences(old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Of each measured number; infinite where only one of two was measured."""
    ours, theirs = cells(old), cells(new)
    for place in ours.keys() & theirs.keys():
        one, other = (cell["ours"] or _NONE for cell in (ours[place], theirs[place]))
        for name in _NONE:
            a, b = one[name], other[name]
            known = a is not None and b is not None
            yield f"{', '.join(place)}, {name}", abs(a - b) if known else 0.0 if a is b else float("inf")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--tolerance", type=float, default=1e-6)
    options = parser.parse_args()
    old, new = parts(options.old), parts(options.new)
    both = [name for name in old if name in new]
    wrong = [f"only one directory has the part {name}" for name in sorted(old.keys() ^ new.keys())]
    for name in both:
        one, other = texts(old[name]), texts(new[name])
        wrong += [f"{name}: {what} differ" for what in one if one[what] != other[what]]
    gaps = {place: gap for name in both for place, gap in differences(old[name], new[name])}
    largest = max(gaps, key=lambda place: gaps[place], default="")
    evidence = sum(old[name]["claims"] != new[name]["claims"] for name in both)
    counts = (len(both), sum(len(cells(old[name])) for name in both), sum(len(old[name]["claims"]) for name in both))
    print("{} parts, {} cells, {} claims compared".format(*counts))
    print(f"largest difference {gaps.get(largest, 0.0):.3g}" + (f" at {largest}" if gaps.get(largest) else ""))
    print(f"parts whose claims differ in the rounding of their evidence, or more: {evidence}")
    print("\n".join(wrong) or "titles, notes, lines, columns, published numbers, claims and verdicts are the same")
    return 1 if wrong or not both or gaps.get(largest, 0.0) > options.tolerance else 0


if __name__ == "__main__":
    raise SystemExit(main())

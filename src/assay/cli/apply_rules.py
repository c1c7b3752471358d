"""`assay describe --apply`: rules that were found before, on the texts of a file; no model is loaded for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.padding import Padding
from rich.text import Text as Line

from assay.cli import output
from assay.cli.sources import sample_of
from assay.errors import BadInput
from assay.request import TextSource
from assay.views import say
from assay.views.diffs import diff, marked
from assay.views.visible import visible
from assay.workflows.rewriting import RewrittenRow, read_rules, rewritten, write_rows

_SHOWN = 20
_SOURCE = ("file", "column", "pair_column", "limit", "label_column")


def apply_rules(rules: Path, given: Mapping[str, Any]) -> None:
    """Print the changed texts, or write them to --out."""
    if given["method"].strip() != "sear" or given["html"] is not None:
        raise BadInput("--apply takes the rules of --method sear, and prints texts: no other method, and no --html.")
    found = read_rules(rules)
    sample = sample_of(TextSource(**{name: given[name] for name in _SOURCE}))
    rows = list(rewritten(found, sample))
    if given["out"] is not None:
        write_rows(given["out"], rows)
    if given["as_json"]:
        output.show_json(*(json.dumps(one.to_dict(), ensure_ascii=False) for one in rows))
        return
    texts = len({one.row for one in rows})
    said = f"{say.counted(len(found.rules), 'rule')} changed {texts:,} of {say.counted(len(sample), 'text')}."
    if given["out"] is None:
        output.show(*(part for one in rows[:_SHOWN] for part in _lines(one)))
        said += f" {len(rows) - _SHOWN:,} more new texts: write them all by --out FILE." if len(rows) > _SHOWN else ""
    if not given["quiet"]:
        output.show(Line(said))
        if given["out"] is not None:
            print(f"wrote {visible(str(given['out']))}")


def _lines(one: RewrittenRow) -> list[Any]:
    before, after = next((a, b) for a, b in zip(one.original, one.strings, strict=True) if a != b)
    parts = (part for piece in diff(before, after) for part in marked(piece))
    return [
        Line(visible(f"row {one.row}: {one.rule}"), style="dim"),
        Padding(Line.assemble(*parts), (0, 0, 0, 2)),
    ]

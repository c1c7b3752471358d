"""What a page says of the run that it is of: sentences that depend on the kept numbers, so that none outlives its run.

A run notes the fingerprint of the bundled model `snli` among its facts. One that has no such fact was made before that
model was retrained on pairs of SNLI train alone; until then it had seen other parts of SNLI dev and test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from assay_studies.kept import Kept
from assay_studies.stays import STAYS

SNLI = "Model snli"


def of_the_old_snli(kept: Kept, rows: str) -> Iterator[str]:
    """That these rows are of the model before it was retrained, where a run of the page is."""
    runs = (kept.facts, *(facts for facts in kept.earlier if "SNLI" in facts.get(STAYS, "")))
    if any(SNLI not in facts for facts in runs):
        yield (
            f"{rows} are of the bundled model `snli` before it was retrained: it had learned from other parts of SNLI "
            "dev and test, and only pairs whose premise it never saw were used. They are to be run again with the "
            "command above; the bundled `snli` now has seen nothing of dev and test."
        )


def either(there: Callable[[Kept], bool], now: str, before: str) -> Callable[[Kept], str]:
    """A sentence for a run that has something, and one for a run that has it not."""
    return lambda kept: now if there(kept) else before


def has_table(name: str) -> Callable[[Kept], bool]:
    return lambda kept: name in kept.tables


def has_line(name: str, start: str) -> Callable[[Kept], bool]:
    """Whether a table has a line that begins so."""
    return lambda kept: (
        name in kept.tables
        and any(
            line.label.startswith(start) and any(cell.ours for cell in line.cells) for line in kept.tables[name].lines
        )
    )

"""What a check is called on a card, and how names are listed in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from assay.registry.finding import checks
from assay.statistics.verdict import Verdict


def title_of(v: Verdict) -> str:
    """The check's title, with its eraser where that is not the usual one."""
    card = checks().get(v.check)
    title = card.title if card else v.check.replace("_", " ").capitalize()
    eraser = v.parameters.get("eraser")
    usual = card.defaults().get("eraser") if card else None
    return title if eraser in (None, usual) else f"{title} by {eraser}"


def listed(names: Sequence[str]) -> str:
    """One, two and three."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)

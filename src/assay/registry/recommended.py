"""The method for somebody who names none."""

from __future__ import annotations

from assay.registry.cards import MethodCard
from assay.registry.finding import find_method

WHY = "it works with every model, asks one row a word, and passes most tests; `assay trust` compares methods"


def recommended() -> MethodCard:
    """Leave-one-out: of the cheap methods the one that random maps beat least on the bundled models.

    Gradients are cheaper, and integrated gradients are known better; both fail more tests (docs/trust.md).
    """
    return find_method("leave_one_out")

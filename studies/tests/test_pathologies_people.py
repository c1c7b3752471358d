"""What people said of reduced texts in the study of pathologies: tables with exact intervals, and the claims."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pathologies_data import cells

from assay.workflows.people import Answer, collect, score, tasks
from assay_studies.findings import Part
from assay_studies.pathologies import human
from reduced_texts import LABELS, examples

# --- people -----------------------------------------------------------------------------------------------------------


def human_part(right: float, preferred: float, name: str = "table_1") -> Part:
    made = tasks(examples(60))
    rng = np.random.default_rng(1)

    def say(key: Any) -> str:
        if key.role == "preference":
            return key.reduced if rng.random() < preferred else {"A": "B", "B": "A"}[key.reduced]
        return key.label if key.role == "original" or rng.random() < right else "cannot tell"

    scores = score(collect(made.keys, [Answer(key.item, "p", say(key)) for key in made.keys]))
    part = {"table_1": human.TABLE_1, "table_3": human.TABLE_3}[name]
    return part.of([human.subject("SNLI", scores)])


def test_people_in_a_table_with_exact_intervals() -> None:
    part = human_part(0.3, 0.5)
    assert list(cells(part, "table_1")) == [*(f"SNLI, {label}" for label in sorted(LABELS)), "SNLI"]
    assert cells(part, "table_1")["SNLI"][0] == 100
    assert [claim.verdict for claim in part.claims] == ["holds", "open"]
    assert [claim.verdict for claim in human_part(0.3, 0.1).claims] == ["holds", "holds"]
    assert not any(cell.published for line in part.tables[0].lines for cell in line.cells)


@pytest.mark.parametrize(("preferred", "verdict"), [(0.9, "holds"), (0.5, "open"), (0.1, "does not hold")])
def test_people_after_fine_tuning(preferred: float, verdict: str) -> None:
    assert [claim.verdict for claim in human_part(0.9, preferred, "table_3").claims] == [verdict]

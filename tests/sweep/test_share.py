"""A rotating third of the sweep, so that CI sees every architecture in three days; all of it is `make sweep`.

Every third architecture and task, by the day (or by ASSAY_SWEEP_DAY), in turn at three methods, one for each kind of
question (predictions, gradients, attention), and at what the newer methods ask. In nine days each was seen with each:
about 190 models in half a minute of one core, half of it to import the files of transformers and to make the models.
"""

from __future__ import annotations

import os
from datetime import date

import pytest

from sweep.page import NO_REASON, reason
from sweep.run import architectures, part, swept

DAYS, SLICES = 3, 6
TURNS = (
    ("leave_one_out", "input_x_gradient", "attention"),
    ("replacements", "states", "last_layer"),
    ("heads", "written"),
)
DAY = int(os.environ.get("ASSAY_SWEEP_DAY", date.today().toordinal()))


@pytest.mark.parametrize("k", range(SLICES))
def test_todays_architectures_are_right_or_refused(k: int) -> None:
    todays = part(architectures(), f"{DAY % DAYS}/{DAYS}")
    lines = [swept(kind, task, TURNS[DAY // DAYS % len(TURNS)]) for kind, task in part(todays, f"{k}/{SLICES}")]
    cells = [(line["kind"], line["task"], name, one) for line in lines for name, one in line.get("cells", {}).items()]
    assert cells
    assert not [cell for cell in cells if cell[-1]["state"] in ("wrong", "error")]
    assert not [cell for cell in cells if cell[-1]["state"] == "refused" and reason(cell[-1]["why"]) == NO_REASON]

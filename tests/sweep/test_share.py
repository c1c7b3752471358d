"""A rotating share of the sweep, so that CI sees every architecture in nine days; all of it is `make sweep`.

A ninth of the architectures, by the day (or by ASSAY_SWEEP_DAY), and of the methods one for each kind of question.
"""

from __future__ import annotations

import os
from datetime import date

import pytest

from sweep.run import architectures, part, swept

DAYS, SLICES = 9, 6
METHODS = ("leave_one_out", "input_x_gradient", "attention")
DAY = int(os.environ.get("ASSAY_SWEEP_DAY", date.today().toordinal()))


@pytest.mark.parametrize("k", range(SLICES))
def test_todays_architectures_are_right_or_refused(k: int) -> None:
    todays = part(architectures(), f"{DAY % DAYS}/{DAYS}")
    lines = [swept(kind, task, METHODS) for kind, task in part(todays, f"{k}/{SLICES}")]
    cells = [(line["kind"], line["task"], name, one) for line in lines for name, one in line.get("cells", {}).items()]
    assert cells
    assert not [cell for cell in cells if cell[-1]["state"] in ("wrong", "error")]

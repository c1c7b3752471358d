"""SIGKILL right before any change of a file, then the same again: it ends as if nothing had been; nothing is lost."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from killed_jobs import JOBS, prepared, same, small
from killing import killed_before

STEPS = {"index": 5, "checkpoints": 3, "train-editor": 4, "mend-labels": 15, "describe": 1}  # every how many changes


@pytest.mark.parametrize(("name", "step"), STEPS.items())
def test_what_was_killed_ends_as_if_it_had_not_been(name: str, step: int, tmp_path: Path) -> None:
    job, number, kills = JOBS[name], 0, 0
    prepared()
    with small():
        whole, place = tmp_path / "whole", tmp_path / "0"
        whole.mkdir()
        job.run(whole)
        place.mkdir()
        while killed_before(number, place, partial(job.run, place)):
            job.run(place)
            assert same(job.left(place), job.left(whole)), number
            number, kills = number + step, kills + 1
            place = tmp_path / str(number)
            place.mkdir()
    assert kills >= 3

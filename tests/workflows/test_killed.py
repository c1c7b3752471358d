"""SIGKILL right before any change of a file, then the same again: it ends as if nothing had been; nothing is lost."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from assay.errors import BadInput
from assay.storage.parts import PartsFolder
from killed_jobs import JOBS, prepared, same, small
from killing import killed_before

# Before which change: what gets its name then, and how often it got it before.
KILLS = {
    "index": (("index.json", 0), ("part-00001.safetensors", 0), ("part-00002.jsonl", 0)),
    "checkpoints": (("checkpoint-2", 0), ("trained", 0)),
    "train-editor": (("editor.checkpoint", 1), ("editor", 0)),
    "mend-labels": (("relabel.csv", 0), ("labels.html", 0), ("mend_labels.json", 1)),
    "describe": (("kept.json", 0),),
}


@pytest.mark.parametrize("name", KILLS)
def test_what_was_killed_ends_as_if_it_had_not_been(name: str, tmp_path: Path) -> None:
    job, whole = JOBS[name], tmp_path / "whole"
    prepared()
    with small():
        whole.mkdir()
        job.run(whole)
        for number, (named, before) in enumerate(KILLS[name]):
            place = tmp_path / str(number)
            place.mkdir()
            assert killed_before(before, place, partial(job.run, place), named), named
            job.run(place)
            assert same(job.left(place), job.left(whole)), named


def test_what_a_kill_left_beside_a_finished_training_goes(tmp_path: Path) -> None:
    job = JOBS["train-editor"]
    prepared()
    with small():
        job.run(tmp_path)
        (tmp_path / "editor.checkpoint").write_bytes(b"of the last step")
        job.run(tmp_path)
    assert job.left(tmp_path)  # it looks whether anything else lies there


def test_the_folder_of_an_audit_is_its_own_whenever_it_was_killed(tmp_path: Path) -> None:
    """Killed while it wrote its first file, half of which lies there; nobody's file is taken for that."""
    folder = PartsFolder(tmp_path / "parts")
    begin = partial(folder.require_same, {"model": "m"})
    assert killed_before(0, tmp_path, begin, "settings.json")
    assert len(list(folder.path.iterdir())) == 1
    begin()
    folder.remove([])
    assert not folder.path.exists()
    folder.path.mkdir()
    (folder.path / ".notes.part").write_text("mine")
    with pytest.raises(BadInput, match="holds other files"):
        begin()

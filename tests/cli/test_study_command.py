"""`assay study` writes its own command on a page that strangers read."""

from __future__ import annotations

from assay.cli.study_command import _published


def test_a_page_shows_no_place_of_the_machine() -> None:
    given = ["--data", "/home/ann/data", "--out", "runs/edits", "--size", "sst2=30"]
    assert list(map(_published, given)) == ["--data", "data", "--out", "runs/edits", "--size", "sst2=30"]

"""Progress: the items pass unchanged, a log line comes where there is no terminal, and silence can be had."""

from __future__ import annotations

import logging

import pytest

from assay import progress


def test_a_log_line_where_there_is_no_terminal(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_EVERY", -1.0)
    with caplog.at_level(logging.INFO, logger="assay"):
        assert list(progress._logged(range(3), 3, "explaining")) == [0, 1, 2]
    assert "explaining: 3 of 3" in caplog.messages[-1]


def test_silence(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    with caplog.at_level(logging.INFO, logger="assay"):
        assert list(progress.track(range(3), 3, "explaining", show=False)) == [0, 1, 2]
    assert not caplog.messages
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("shown", [progress._terminal, progress._notebook])
def test_bars_pass_the_items_on(shown: object) -> None:
    assert list(shown(range(3), 3, "explaining")) == [0, 1, 2]  # type: ignore[operator]

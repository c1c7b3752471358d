"""Progress: the items pass unchanged, a bar or a log line says how long it will take, and silence can be had."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from io import StringIO
from time import sleep

import pytest
from rich.console import Console

from assay import progress


class Terminal(StringIO):
    """A stderr that a person looks at."""

    def isatty(self) -> bool:
        return True


def slowly(many: int, seconds: float) -> Iterator[int]:
    for i in range(many):
        yield i
        sleep(seconds)


def test_a_log_line_where_there_is_no_terminal(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_EVERY", -1.0)
    with caplog.at_level(logging.INFO, logger="assay"):
        assert list(progress.track(range(3), 3, "explaining")) == [0, 1, 2]
    assert re.fullmatch(r"explaining: 2 of 3, [\d.]+ a second, \d+ s left", caplog.messages[1])
    assert "explaining: 3 of 3" in caplog.messages[-1]


def test_without_a_total_nothing_is_said_about_the_rest(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_EVERY", -1.0)
    with caplog.at_level(logging.INFO, logger="assay"):
        list(progress.track(range(3), None, "reading"))
    assert re.fullmatch(r"reading: 3 of \?, [\d.]+ a second", caplog.messages[-1])


def test_silence(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    with caplog.at_level(logging.INFO, logger="assay"):
        assert list(progress.track(range(3), 3, "explaining", show=False)) == [0, 1, 2]
    assert not caplog.messages
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("shown", [progress._terminal, progress._notebook])
def test_bars_pass_the_items_on(shown: object) -> None:
    assert list(shown(range(3), 3, "explaining")) == [0, 1, 2]  # type: ignore[operator]


def seen(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """What a person sees; not a fixture, as pytest sets sys.stderr anew between a fixture and its test."""
    stderr = Terminal()
    monkeypatch.setattr("sys.stderr", stderr)
    monkeypatch.setattr(progress, "in_notebook", lambda: False)
    monkeypatch.setattr(
        "rich.console.Console", lambda **_: Console(file=stderr, force_terminal=True, width=80, color_system=None)
    )
    return stderr


def test_the_bar_says_how_far_it_is_and_how_long_it_will_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = seen(monkeypatch)
    monkeypatch.setattr(progress, "_SHORT", 0.0)
    assert list(progress.track(slowly(8, 0.15), 8, "explaining")) == list(range(8))
    assert "0/8 -:--:--" in terminal.getvalue()  # nobody knows yet
    assert re.search(r"explaining .* [2-7]/8 0:00:0\d", terminal.getvalue())


def test_one_long_text_shows_the_time_that_has_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = seen(monkeypatch)
    monkeypatch.setattr(progress, "_SHORT", 0.0)
    assert list(progress.track(slowly(1, 0.4), 1, "explaining")) == [0]
    assert re.search(r"explaining .* 0/1 0:00:0\d", terminal.getvalue())


def test_short_work_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = seen(monkeypatch)
    assert list(progress.track(range(3), 3, "explaining")) == [0, 1, 2]
    assert list(progress.track(range(1), 1, "explaining")) == [0]
    assert terminal.getvalue() == ""


def test_work_that_fails_takes_the_bar_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> Iterator[int]:
        yield from slowly(2, 0.2)
        raise ZeroDivisionError

    terminal = seen(monkeypatch)
    monkeypatch.setattr(progress, "_SHORT", 0.0)
    with pytest.raises(ZeroDivisionError):
        list(progress.track(fails(), 3, "explaining"))
    assert "explaining" in terminal.getvalue()
    assert terminal.getvalue().rpartition("explaining")[2].endswith("\x1b[2K")  # the line is wiped


def test_work_that_is_no_iteration_ticks(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_EVERY", -1.0)
    with caplog.at_level(logging.INFO, logger="assay"), progress.ticking(3, "describing") as tick:
        assert not caplog.messages  # nothing is done yet
        tick()
        assert "describing: 1 of 3" in caplog.messages[-1]
        for _ in range(4):  # more than were announced
            tick()
    assert "describing: 3 of 3" in caplog.messages[-1]


def test_ticks_are_silent_where_nothing_is_to_be_shown(capfd: pytest.CaptureFixture[str]) -> None:
    with progress.ticking(None, "describing", False) as tick:
        tick()
    assert capfd.readouterr() == ("", "")


def test_the_bar_goes_when_the_ticking_work_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        with progress.ticking(3, "describing") as tick:
            tick()
            sleep(0.3)
            raise ZeroDivisionError

    terminal = seen(monkeypatch)
    monkeypatch.setattr(progress, "_SHORT", 0.0)
    with pytest.raises(ZeroDivisionError):
        fails()
    assert "describing" in terminal.getvalue()
    assert terminal.getvalue().rpartition("describing")[2].endswith("\x1b[2K")

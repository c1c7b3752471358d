"""No sign that steers a terminal or changes the direction of writing leaves as it is, whatever the view or the line."""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text as Line
from test_trust_page import card
from view_examples import told, verdict

from assay import cli
from assay.cli import output
from assay.views import terminal
from assay.views.trust_terminal import trusted
from assay.views.visible import one_line, to_stderr, visible, visible_on_page

STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u206f\u200e\u200f\u061c]")
SIGNS = ["\x1b[2J", "\x1b]0;owned\x07", "\x9b31m", "\x90", "\r", "\x08", "\x7f", "\x00", "\u202e", "\u2066", "\u2069"]
steering = st.lists(
    st.one_of(st.sampled_from([*SIGNS, "\u200e", "\u200f", "\u061c", "\u202a", "word"]), st.text(max_size=4))
)
hostile = steering.map("".join)


class Out(io.TextIOWrapper):
    """A stdout that keeps what was written."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding)

    def text(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode(self.encoding)  # type: ignore[attr-defined]


def shown(*parts: RenderableType) -> str:
    with contextlib.redirect_stdout(Out()) as out:
        output.show(*parts)
    return out.text()


@given(hostile)
def test_a_string_is_made_visible_once_and_keeps_its_plain_words(string: str) -> None:
    for made in (visible(string), one_line(string)):
        assert not STEERS.search(made)
        assert visible(made) == made
    assert visible("plain\twörds\nשלום 👨‍👩‍👧") == "plain\twörds\nשלום 👨‍👩‍👧"


def test_what_stands_for_a_sign_says_which_it_is() -> None:
    assert visible("a\x1b[1m\u202eb\u200f") == "a␛[1m<U+202E>b<U+200F>"
    assert visible("one\r\ntwo\rthree") == "one\ntwo␍three"
    assert one_line("one\r\ntwo\rthree") == "one two three"
    assert visible_on_page("שלום\u200f \u202e") == "שלום\u200f \u200e<U+202E>\u200e"


@settings(max_examples=60)
@given(hostile, hostile, hostile)
def test_no_view_lets_one_out(text: str, label: str, other: str) -> None:
    named = {"labels": (label, label + other + "2"), "warnings": (other,), "facts": {"note": other}}
    e = told(f"{text} word", **named)
    e = e.told(about=replace(e.about, model=label, title=other))
    verdicts = [verdict(check=other, method=label, warnings=(text,))]
    parts = [terminal.explained([e]), terminal.verdict_table(verdicts), trusted(card(f"{text} word", **named))]
    assert not STEERS.search(shown(*parts))


@given(hostile)
def test_a_view_that_forgot_it_is_caught_at_the_door(string: str) -> None:
    table = Table(string, title=string)
    table.add_row(string)
    assert not STEERS.search(shown(string, Line(string, style="bold"), table))


@given(hostile)
def test_a_line_on_stderr_is_one_line_and_steers_nothing(string: str) -> None:
    with contextlib.redirect_stderr(io.StringIO()) as err:
        to_stderr(f"assay: {string}")
    said = err.getvalue()
    assert said.startswith("assay: ")
    assert said.endswith("\n")
    assert not STEERS.search(said)
    assert said.count("\n") == 1


@given(st.dictionaries(hostile, hostile), st.sampled_from(["utf-8", "ascii", "latin-1"]))
def test_json_lines_keep_their_value_and_steer_nothing(value: dict[str, str], encoding: str) -> None:
    with contextlib.redirect_stdout(Out(encoding)) as out:
        output.show_json(json.dumps(value, ensure_ascii=False))
    assert not STEERS.search(out.text())
    assert json.loads(out.text()) == value


def test_a_bug_keeps_its_traceback_without_what_steers(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("\x1b[2Jgone\u202e")

    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(cli, "_run", broken)
    with contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            cli.main()
        except ZeroDivisionError as error:
            sys.excepthook(type(error), error, error.__traceback__)
    assert "ZeroDivisionError: ␛[2Jgone<U+202E>" in err.getvalue()
    assert not STEERS.search(err.getvalue())

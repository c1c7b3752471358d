"""The views of Triggers: widths, numbers, and whatever words and texts hold."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from assay.explanations.about import About
from assay.explanations.sample_explanation import SampleId
from assay.explanations.triggers import Trigger, Triggers, TurnedText
from assay.statistics.exact import Share
from assay.statistics.intervals import Estimate
from assay.views import descriptions


def triggers(*words: str) -> Triggers:
    texts = (TurnedText('a <script>alert("x")</script> \x1b[2J film', "good", "bad"),)
    numbers = Share.exact(30, 40), Estimate(0.05, 0.01, 0.1, 40), Estimate(0.7, 0.5, 0.85, 40)
    found = tuple(Trigger("plain words", (word,) * 3, *numbers, ((("the",), 1.0),), texts) for word in words)
    about = About(method="universal_triggers", title="Universal triggers", model="toy")
    sample = SampleId("reviews.csv", "ab" * 16, 80)
    return Triggers(sample, "good", "", "prefix", Share.exact(2, 40), found, about=about)


def printed(e: Triggers, width: int = 80) -> str:
    stream = StringIO()
    Console(file=stream, width=width, color_system=None).print(descriptions.terminal([e]))
    return stream.getvalue()


def test_the_terminal_shows_words_and_shares() -> None:
    shown = printed(triggers("so\x1b[2J"))
    assert "turns 75 % of 40 unseen texts of “good” into another label; random words" in " ".join(shown.split())
    assert "with the trigger ━━━━━━━━━━━━━━━      75% [59, 87]" in shown
    assert "random triggers  ━                    5% [1, 10]" in shown
    assert "+70 points more than random triggers [50, 85]" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("width", [40, 80, 120])
def test_lines_fit(width: int) -> None:
    assert all(len(line) <= width for line in printed(triggers("man", "x" * 90), width).splitlines())


def test_pages_are_safe() -> None:
    for html in (triggers("<b>").to_html(), triggers("\x1b")._repr_html_()):
        assert "<script>alert" not in html
        assert "“<b>" not in html
        assert "\x1b" not in html


def test_without_a_trigger_it_says_so() -> None:
    assert "No trigger was searched for" in printed(triggers())

"""The views of Behavior: widths, without colour, groups of which half is ideal, and whatever the texts hold."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from assay.explanations.about import About
from assay.explanations.behavior import Behavior, FailedProbe, GroupResult
from assay.explanations.sample_explanation import SampleId
from assay.views import descriptions

NASTY = FailedProbe('a <script>alert("x")</script> \x1b[2J שלום', "good", "bad")


def behavior(*more: GroupResult) -> Behavior:
    groups = (
        GroupResult("negation", "praise is denied", "minimum functionality", 48, 50, failures=(NASTY,)),
        GroupResult("negation", "blame is denied", "minimum functionality", 5, 50),
        GroupResult("order", "", "preference", 10, 10),
        *more,
    )
    about = About(method="behavioral_probe", title="Behavioral probe", model="toy")
    return Behavior(SampleId("no sample", "ab" * 16, 0), "mine.yaml", groups, about=about)


def printed(e: Behavior, width: int = 80) -> str:
    stream = StringIO()
    Console(file=stream, width=width, color_system=None).print(descriptions.terminal([e]))
    return stream.getvalue()


def test_the_terminal_shows_shares_intervals_and_failures() -> None:
    shown = printed(behavior())
    assert "110 probes of mine.yaml: from 53% of “negation” to 100% of “order” pass." in shown
    assert "  praise is denied" in shown
    assert "96% [86, 100]" in " ".join(shown.split())
    assert "Not as expected: negation" in shown
    assert "\x1b" not in shown
    assert "one half" not in shown


@pytest.mark.parametrize("width", [40, 80, 120])
def test_lines_fit(width: int) -> None:
    assert all(len(line) <= width for line in printed(behavior(), width).splitlines())


def test_where_half_is_ideal_nothing_failed() -> None:
    half = GroupResult("prefers the stereotype", "age", "preference", 30, 40, 0.5, (FailedProbe("", "one", "other"),))
    shown = printed(behavior(half))
    assert "Here one half is ideal" in shown
    assert "Not as expected: prefers the stereotype" not in shown
    assert "Here one half is ideal" in behavior(half).to_html()


def test_pages_are_safe() -> None:
    for html in (behavior().to_html(), behavior()._repr_html_()):
        assert "<script>alert" not in html
        assert "\x1b" not in html
        assert "praise is denied" in html


def test_groups_pass_no_more_than_all() -> None:
    with pytest.raises(ValueError, match="between none and all"):
        behavior(GroupResult("x", "", "preference", 3, 2))

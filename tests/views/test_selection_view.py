"""The views of a Selection: 80 columns, without colour, narrow, without a map, and whatever the words hold."""

from __future__ import annotations

from io import StringIO

import numpy as np
import pytest
from hypothesis import given
from rich.console import Console
from view_examples import texts, told

from assay.explanations.about import About
from assay.explanations.sample_explanation import SampleId
from assay.explanations.selection import Selection
from assay.statistics.verdict import Verdict
from assay.views import descriptions, page
from assay.views.selection import percent


def selection(*strings: str, **changes: object) -> Selection:
    """A choice of all these texts, whose words count by their place."""
    maps = tuple(told(string) for string in strings)
    words = tuple(dict.fromkeys(word.lower() for e in maps for word in e.words))
    rows = tuple(tuple(sorted({words.index(word.lower()) for word in e.words})) for e in maps)
    about = About(method="sp_lime", title="SP-LIME", model="toy", parameters={"of": "lime", "picks": 2, "words": 10})
    size = len(rows) + 1
    e = Selection(
        SampleId("reviews.csv", "ab" * 16, size),
        (*words, "unseen"),
        np.arange(len(words) + 1.0) + 1,
        (*rows, (len(words),)),
        tuple(range(len(rows))),
        maps,
        about=about,
    )
    return e.told(**changes)


def printed(e: Selection, width: int = 80, colour: bool = False) -> str:
    stream = StringIO()
    system = "truecolor" if colour else None
    Console(file=stream, width=width, color_system=system, force_terminal=colour).print(descriptions.terminal([e]))
    return stream.getvalue()


def test_the_terminal_says_what_is_chosen_and_covered() -> None:
    e = selection("a good film", "a dull film , really")
    shown = printed(e)
    assert "SP-LIME · model toy · 3 texts of reviews.csv" in shown
    assert "2 of 3 texts show 6 of 7 words: 75% of all importance." in shown
    assert "1. row 1  adds 21%  negative 0.67" in shown
    assert "new: really · , · dull" in shown
    assert "unseen      7 ━━━━━━━━━━━━━━━━━━━━━━━━ none" in shown
    assert "really      6 ━━━━━━━━━━━━━━━━━━━━━    pick 2" in shown
    assert "\x1b" not in shown
    assert "\x1b" in printed(e, colour=True)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    e = selection("a good film " * 20, "antidisestablishmentarianism" * 3, "שלום עולם")
    assert all(len(line) <= width for line in printed(e, width).splitlines())


def test_without_maps_the_words_are_still_there() -> None:
    e = selection("a good film", "a dull film", maps=())
    assert "new: film · good · a" in printed(e)
    assert "Row 1" in e.to_html()


def test_a_choice_that_adds_nothing_says_so() -> None:
    e = selection("a film", "film a")
    assert "adds 0%" in printed(e)
    assert "new: nothing" in printed(e)
    assert "No new word." in e.to_html()


@given(texts)
def test_any_text_is_shown_and_none_is_markup(text: str) -> None:
    e = selection(text, "a dull film")
    for html in (e.to_html(), e._repr_html_(), page([e])):
        assert "<script>" not in html
        assert "\x1b" not in html
        assert "\x00" not in html
    shown = printed(e)
    assert "\x1b" not in shown


def test_warnings_are_shown() -> None:
    e = selection("a film", warnings=("so <b>few</b>",))
    assert "⚠ so <b>few</b>" in printed(e)
    assert "so &lt;b&gt;few" in e.to_html()


def test_two_descriptions_stand_on_one_page() -> None:
    one, two = selection("a film"), selection("a dull mess")
    html = page([one, two])
    assert "2 descriptions of a model" in html
    assert html.count("Row 1") == 2


def test_the_proof_stands_beside_the_claim() -> None:
    e = selection("a film")
    v = Verdict(
        "sp_lime",
        "coverage_gain",
        "higher",
        np.array([0.9]),
        np.linspace(0, 0.5, 40)[None],
        method_parameters=e.about.parameters,
    )
    html = page([e], [v])
    assert "Better than random: 0.9 where random descriptions of the same sample get 0.25 on average." in html
    assert "ahead of 40 of 40 random descriptions" in html


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0, "0%"), (1, "100%"), (0.9999, ">99%"), (0.00001, "<0.1%"), (0.052, "5.2%"), (0.0999, "10%"), (0.41, "41%")],
)
def test_shares_are_never_all_or_nothing_by_rounding(share: float, shown: str) -> None:
    assert percent(share) == shown

"""The trust card as a page, a fragment and a terminal: nothing unescaped, nothing fetched, everything in its order."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from rich.console import Console
from test_pages import Reader, shown
from view_examples import SENTENCE, nasty, texts, told, verdict

from assay.explanations.token_scores import TokenScores
from assay.statistics.verdict import Verdict
from assay.verdicts.standing import Standing
from assay.verdicts.trust_card import TrustCard
from assay.views.trust import cell, fragment, mark, page, place, unsure_first
from assay.views.trust_terminal import drawn, trusted

METHODS = ("leave_one_out", "gradient", "random")
SCORES = {"leave_one_out": 1.0, "gradient": 0.9, "random": -1.0}


def standing(method: str, maps: list[TokenScores], *, good: bool = True, **more: Any) -> Standing:
    checks = ("deletion", "comprehensiveness", "sufficiency")
    verdicts = tuple(verdict(len(maps), good=good, method=method, check=name, **more) for name in checks)
    return Standing(method, method.title(), tuple(maps), verdicts)


def card(source: Any = SENTENCE, *, many: int = 1, **more: Any) -> TrustCard:
    """Three methods, of which the last is no good; `more` goes to the explanations."""
    return TrustCard(
        tuple(standing(name, [told(source, method=name, **more)] * many, good=name != "random") for name in METHODS),
        "toy",
        left_out={"human_agreement": "it needs <b>highlights</b>"},
    )


@settings(max_examples=80, deadline=None)
@given(texts, nasty, nasty)
def test_no_text_label_or_warning_becomes_markup(text: str, label: str, warning: str) -> None:
    tags = {tag for tag, _ in Reader(page(card(warnings=("one",)))).tags} | {"s", "bdi"}
    given = card(text, labels=(label, "other"), warnings=(warning,), facts={"note": warning})
    for html in (page(given), fragment(given)):
        read = Reader(html)
        assert read.open == []
        assert {tag for tag, _ in read.tags} <= tags
        assert "<script" not in html
        assert "\x1b" not in html
        assert "\x00" not in html


@pytest.mark.parametrize("many", [1, 5])
def test_one_file_without_scripts_or_outside_resources(many: int) -> None:
    for html in (page(card(many=many)), fragment(card(many=many))):
        read = Reader(html)
        assert not {"script", "link", "img", "iframe", "object", "base", "a"} & {tag for tag, _ in read.tags}
        assert not re.search(r"(?i)https?:|url\(|@import|\bsrc=|\bhref=|\son\w+=", html)


def test_both_colour_schemes_paper_and_small_screens() -> None:
    html = page(card())
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html
    assert "max-width: 460px" in html


def test_a_fragment_styles_only_itself() -> None:
    style = re.search(r"<style>(.*?)</style>", fragment(card()), re.DOTALL)
    assert style
    rules = re.sub(r"@media[^{]*\{(.*?\})\s*\}", r"\1", re.sub(r"/\*.*?\*/", "", style[1], flags=re.DOTALL))
    selectors = [s.strip() for s in re.split(r"[,\n]", re.sub(r"\{[^}]*\}", "\n", rules)) if s.strip()]
    assert len(selectors) > 50
    assert all(one.startswith(".assay") for one in selectors)


def test_text_then_prediction_then_answer_then_methods_then_agreement() -> None:
    html = page(card())
    marks = ['class="whole"', 'class="bars', 'class="answer', 'class="panel"', "Do the methods agree?", "left out"]
    assert [html.index(mark) for mark in marks] == sorted(html.index(mark) for mark in marks)


def test_the_text_stands_once_and_its_words_under_each_method() -> None:
    read = Reader(page(card()))
    assert len(read.classes("whole")) == 1
    assert len(read.classes("text")) == 3
    assert len(read.classes("key")) == 1


def test_the_most_believable_method_comes_first_with_its_sentence_and_its_tag() -> None:
    html = page(card())
    first, *_, last = html.split('<section class="panel"')[1:4]
    assert "✓</span> passes the tests" in first
    assert "Better than random in all 3 tests; its strongest words are words the model uses." in first
    assert "✕</span> do not rely on it" in last
    assert "Not better than random in any of 3 tests: do not read it as a reason." in last


def test_every_strip_has_its_dots_a_point_and_words_for_those_who_do_not_see_it() -> None:
    read = Reader(page(card()))
    strips = [attrs for tag, attrs in read.tags if tag == "svg"]
    assert len(strips) == 9
    assert all("random maps of this text get" in (strip["aria-label"] or "") for strip in strips)
    dots = [attrs["d"] or "" for tag, attrs in read.tags if tag == "path"]
    assert [d.count("h0") for d in dots] == [40] * 9
    assert len(read.classes("own")) == 9


def test_tests_that_favour_the_method_are_marked() -> None:
    maps = [told()]
    about = maps[0].about.__class__(
        method="leave_one_out", parameters={"eraser": "delete"}, labels=("negative", "positive")
    )
    mine = standing("leave_one_out", [maps[0].told(about=about)], parameters={"eraser": "delete"})
    html = page(TrustCard((mine,)))
    assert html.count('class="same"') == 3
    assert "same eraser: 3 of 3 tests erase words as it does (delete), which favours it" in shown(html)


def test_the_mark_is_full_only_where_the_check_is_passed() -> None:
    assert mark(verdict()) == "passed"
    assert mark(verdict(good=False)) == "failed"
    assert mark(verdict(better="lower")) == "worse"
    assert mark(Verdict("m", "deletion", "higher", np.ones(1), np.ones((1, 40)))) == "silent"


def test_one_text_has_a_place_and_many_an_interval() -> None:
    assert place(verdict()) == "ahead of 100 %"
    assert re.fullmatch(r"\+0\.\d+ \[\+0\.\d+, \+0\.\d+\]", place(verdict(8)))
    assert re.fullmatch(r"−0\.\d+ \[−0\.\d+, −0\.\d+\]", place(verdict(8, better="lower")))
    assert 'class="range"' not in page(card())
    assert page(card(many=8)).count('class="range"') == 9


def test_agreement_shows_an_unknown_tau_as_a_dash() -> None:
    assert cell(float("nan"), 1.0, 3, 1) == cell(float("nan"), 1.0, 3, 1)
    assert (cell(float("nan"), 1.0, 3, 1).tau, cell(-0.5, 1 / 3, 3, 1).tau) == ("–", "−0.50")
    assert (cell(0.5, 2 / 3, 3, 1).top, cell(0.5, 2 / 3, 3, 4).top) == ("2 of 3", "67 %")
    html = page(card("word"))
    assert html.count("<small>1 of 1</small>") == 6
    assert "nan" not in shown(html)


def test_many_texts_can_be_browsed_the_least_sure_first() -> None:
    sure = [0.9, 0.6, 0.99, 0.7, 0.8]
    maps = [told(f"text {i} is here", prediction={"negative": p, "positive": 1 - p}) for i, p in enumerate(sure)]
    given = TrustCard((standing("leave_one_out", maps), standing("gradient", maps)), "toy")
    assert unsure_first(given) == [1, 3, 4, 0, 2]
    html = page(given)
    stories = [attrs for tag, attrs in Reader(html).tags if tag == "details" and "story" in (attrs["class"] or "")]
    assert ["open" in attrs for attrs in stories] == [True, True, True, False, False]
    assert re.findall(r'class="line" dir="auto">text (\d)', html) == ["1", "3", "4", "0", "2"]
    assert len(Reader(html).classes("text")) == 10
    assert "5 texts, 2 methods: which may you believe?" in shown(html)


def test_of_very_many_texts_the_surest_are_left_out() -> None:
    html = page(card("a fine film", many=230))
    assert html.count('<details class="panel story"') == 200
    assert "30 more texts, of which the model is surer, are not shown." in shown(html)


def test_right_to_left_text_and_pairs() -> None:
    read = Reader(page(card("הסרט נפלא")))
    assert all(a["dir"] == "auto" for a in [*read.classes("text"), *read.classes("whole"), *read.classes("short")])
    assert "premise (not explained)" in shown(page(card(("a man", "a person"), focus=["hypothesis"])))


def test_ten_labels_have_a_bar_each() -> None:
    assert len(Reader(page(card(labels=[f"label {i}" for i in range(10)]))).classes("row")) == 10


def test_left_out_checks_are_named_with_the_reason() -> None:
    assert "it needs <b>highlights</b>" in shown(page(card()))


def test_the_same_page_each_time_and_cards_show_themselves() -> None:
    assert page(card()) == page(card()) == card().to_html()
    assert card()._repr_html_() == fragment(card())


# In a terminal


def printed(given: TrustCard, width: int = 80, **more: Any) -> str:
    console = Console(width=width, highlight=False, markup=False, emoji=False, **more)
    with console.capture() as captured:
        console.print(trusted(given))
    return captured.get()


@pytest.mark.parametrize("many", [1, 5])
@pytest.mark.parametrize("width", [40, 80, 160])
def test_no_line_is_longer_than_the_terminal(width: int, many: int) -> None:
    assert max(map(len, printed(card(many=many), width).splitlines())) <= width


def test_a_terminal_has_all_of_it() -> None:
    said = " ".join(printed(card()).split())
    for part in (
        "Why “negative”, and may you believe it?",
        "Leave_One_Out ✓ passes the tests",
        "Better than random in all 3 tests",
        "Comprehensiveness",
        "ahead of 100 %",
        "Do the methods agree?",
        "Left out: human_agreement",
    ):
        assert part in said
    assert "The texts the model is least sure of, by Leave_One_Out" in " ".join(printed(card(many=5)).split())


def test_a_strip_puts_the_better_on_the_right() -> None:
    assert drawn(verdict()).endswith("●")
    assert drawn(verdict(better="lower")).startswith("○")
    assert len(drawn(verdict())) == 24
    assert drawn(verdict(), ascii_only=True).isascii()


def test_control_signs_do_not_reach_the_terminal() -> None:
    said = printed(card("a \x1b[2J film", warnings=("\x1b[31mred",), labels=("\x07label", "other")))
    assert "\x1b" not in said
    assert "\x07" not in said

"""A rule on a page and in a terminal: its words marked, its promise in a sentence."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from test_terminal import printed
from view_examples import LABELS, texts

from assay.explanations.about import About
from assay.explanations.case import Case
from assay.explanations.token_rule import TokenRule
from assay.text.text import Text, TextLike
from assay.views import fragment, page, terminal
from assay.views.kinds import renderer

SENTENCE = "the plot was not good"


def rule(source: TextLike = SENTENCE, anchor: tuple[int, ...] = (3, 4), **more: object) -> TokenRule:
    about = more.pop("about", None) or About(method="anchors", title="Anchors", labels=LABELS, model="toy")
    given = {"precision": 0.987, "interval": (0.9512, 0.9991), "coverage": 0.25, "samples": 1540} | more
    prediction = {"negative": 0.8, "positive": 0.2}
    return TokenRule(Case(Text.of(source), 0), anchor, prediction=prediction, about=about, **given)  # type: ignore[arg-type]


def spans(html: str) -> list[str]:
    """The marked words, without those of the key that explains the marks."""
    return re.findall(r'<span class="w for" style="--a:1" title="in the rule">(.*?)</span>', html)


def test_the_words_of_the_rule_are_marked_and_no_others() -> None:
    assert spans(page([rule()])) == ["not", "good"]
    assert spans(fragment(rule(anchor=(0,)))) == ["the"]


def test_of_two_equal_words_only_the_one_in_the_rule_is_marked() -> None:
    assert 'so <span class="w for" style="--a:1" title="in the rule">so</span> good' in page([rule("so so good", (1,))])


def test_the_rule_is_a_sentence() -> None:
    said = " ".join(printed(renderer(rule()).terminal(rule()), 200).split())
    assert "While “not” and “good” stay, the model says “negative”: in 98.7% of 1,540 samples." in said
    assert "Precision between 95.1% and 99.9%. The rule applies to 25.0% of random samples of this text." in said
    one = printed(renderer(rule()).terminal(rule(anchor=(1,), precision=0.9991, interval=(0.2, 0.9997))), 200)
    assert "While “plot” stays" in one
    assert "in 99.9% of" in one
    assert "20.0% and >99.9%" in one
    three = printed(renderer(rule()).terminal(rule(anchor=(0, 1, 2))), 200)
    assert "“the”, “plot” and “was” stay" in three


def test_page_and_terminal_say_the_same() -> None:
    shown = " ".join(printed(terminal.explained([rule()]), 200).split())
    for sentence in ("While “not” and “good” stay", "Precision between 95.1% and 99.9%."):
        assert sentence in page([rule()])
        assert sentence in shown


def test_coverage_says_of_what() -> None:
    assert "of the texts in the corpus" in page([rule(facts={"coverage_of": "corpus"}, coverage=0.00004)])
    assert "&lt;0.1% of the texts" in page([rule(facts={"coverage_of": "corpus"}, coverage=0.00004)])
    assert "0% of the texts" in page([rule(facts={"coverage_of": "corpus"}, coverage=0.0)])
    assert "applies to" not in page([rule(coverage=None)])


def test_no_word_is_needed() -> None:
    e = rule(anchor=(), precision=1.0, interval=(0.96, 1.0), coverage=1.0)
    html = page([e])
    assert spans(html) == []
    assert "No word is needed: the model says “negative” in 100% of 1,540 samples" in html


def test_without_colour_brackets_tell_the_words() -> None:
    assert printed(renderer(rule()).terminal(rule())).startswith("the plot was [not] [good]\n")
    assert "\x1b" not in printed(renderer(rule()).terminal(rule()))
    assert re.search(r"\x1b\[[\d;]*48;2;[\d;]+m\[not\]", printed(renderer(rule()).terminal(rule()), colour=True))


def test_pairs_truncation_and_warnings() -> None:
    e = rule(("a man", "a person"), (1, 3), warnings=("no anchor: none.",))
    said = printed(terminal.explained([e]))
    assert "premise\na [man]\nhypothesis\na [person]\n" in said
    assert "⚠ no anchor: none." in said
    assert spans(page([e])) == ["man", "person"]
    cut = Text.of("one two three")
    whole = Text((type(cut.fields[0])("text", "one two three", cut.spans[:2]),), ("text",))
    short = TokenRule(Case(whole, 0), (1,), 0.9, (0.8, 1.0), 0.5, 10, unseen=(cut.spans[2],))
    assert '<s class="unseen" title="not seen by the model">three</s>' in page([short])
    assert "1 word lies beyond" in printed(terminal.explained([short]))


def test_markup_is_text() -> None:
    nasty = 'a <script>alert("x")</script> & [bold]film[/bold]'
    e = rule(nasty, tuple(range(len(Text.of(nasty)))))
    for html in (page([e]), fragment(e)):
        assert "<script>alert" not in html
        assert "&lt;" in html
    assert "[bold]" in printed(renderer(rule()).terminal(rule("a [bold]x", (0,))))


@settings(max_examples=60, deadline=None)
@given(texts, st.integers(20, 90), st.data())
def test_any_text_fits_any_width_and_steers_nothing(text: str, width: int, data: st.DataObject) -> None:
    chosen = data.draw(st.sets(st.integers(0, len(Text.of(text)) - 1), max_size=4))
    said = printed(terminal.explained([rule(text, tuple(sorted(chosen)))]), width)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", said)
    assert max(map(cell_len, said.split("\n"))) <= width


@pytest.mark.parametrize("text", ["סרט נפלא", "كان الفيلم جميلا", "这部电影"])
def test_other_scripts(text: str) -> None:
    e = rule(text, (1,))
    assert spans(page([e])) == [e.words[1]]
    assert f"[{e.words[1]}]" in printed(terminal.explained([e]))

"""Pages and fragments: nothing slips through unescaped, nothing is fetched, every reader sees the sign."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from view_examples import SENTENCE, nasty, texts, told, verdict

import assay
from assay.explanations.about import About
from assay.explanations.text_explanation import TextExplanation
from assay.registry.finding import find_method
from assay.views import fragment, page
from assay.views.proof import proof

TEN = [f"label {i}" for i in range(10)]
VOID = {"meta", "br", "line", "circle"}


class Reader(HTMLParser):
    """What a browser would make of a page: its tags, the text of each, and whether they close in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)

    def classes(self, name: str) -> list[dict[str, str | None]]:
        return [attrs for _, attrs in self.tags if name in (attrs.get("class") or "").split()]


def shown(html: str) -> str:
    """All that is visible, white space made even."""
    return " ".join(Reader(html).text.split())


@settings(max_examples=150, deadline=None)
@given(texts, nasty, nasty)
def test_no_text_label_or_warning_becomes_markup(text: str, label: str, warning: str) -> None:
    e = told(text, labels=(label, "other"), warnings=(warning,), facts={"note": warning})
    for html in (page([e], [verdict(check=label, warnings=(warning,))]), fragment(e)):
        read = Reader(html)
        assert read.open == []
        assert {tag for tag, _ in read.tags} <= {tag for tag, _ in Reader(page([told()], [verdict()])).tags} | {"bdi"}
        assert "<script" not in html
        assert "\x1b" not in html
        assert "\x00" not in html


@settings(max_examples=60, deadline=None)
@given(texts, st.data())
def test_any_explanation_renders_with_all_its_words(text: str, data: st.DataObject) -> None:
    e = told(text)
    scores = data.draw(st.lists(st.floats(-1e6, 1e6), min_size=len(e.text), max_size=len(e.text)))
    words = "".join(e.told(scores=np.array(scores)).text.strings[0].split())
    visible = re.sub(r"[␀-␡\s�]|\u200e<U\+[0-9A-F]{4}>\u200e", "", shown(fragment(e.told(scores=np.array(scores)))))
    hidden = r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u206f\s\ufffe\uffff]"
    assert re.sub(hidden, "", words) in re.sub(r"[\x00-\x1f\x7f-\x9f]", "", visible)


@pytest.mark.parametrize("html", [page([told()], [verdict()]), fragment(told())])
def test_one_file_without_scripts_or_outside_resources(html: str) -> None:
    read = Reader(html)
    assert not {"script", "link", "img", "iframe", "object", "base", "a"} & {tag for tag, _ in read.tags}
    assert not re.search(r"(?i)https?:|url\(|@import|\bsrc=|\bhref=|\son\w+=", html)


def test_both_colour_schemes() -> None:
    assert "prefers-color-scheme: dark" in page([told()])


def test_a_fragment_leaves_the_notebook_its_own_colours_and_styles_only_itself() -> None:
    style = re.search(r"<style>(.*?)</style>", fragment(told()), re.DOTALL)
    assert style
    rules = re.sub(r"/\*.*?\*/|\{[^}]*\}", "\n", style[1], flags=re.DOTALL)
    selectors = [one.strip() for one in re.split(r"[,\n]", rules) if one.strip()]
    assert selectors
    assert all(one.startswith(".assay") for one in selectors)


def test_the_sign_is_a_shape_and_not_only_a_colour() -> None:
    html = page([told("good dull film", [2.0, -1.0, 0.01])])
    read = Reader(html)
    text = re.search(r'<p class="text".*?</p>', html, re.DOTALL)
    assert text
    marked = re.findall(r'class="w( \w+)?"[^>]*>(\w+)<', text[0])
    assert marked == [(" for", "good"), (" against", "dull"), ("", "film")]
    assert "▲ speaks for" in read.text
    assert "▼ against" in read.text
    assert re.search(r"\.for \{[^}]*gradient", html)
    assert re.search(r"\.against \{[^}]*gradient", html)


def test_scores_without_a_direction_get_a_mark_of_their_own() -> None:
    html = page([told("good dull film", [2.0, 1.0, 0.0], facts={"signed": False})])
    assert Reader(html).classes("some")
    assert not re.search(r'<p class="text".*class="w (for|against)"', html, re.DOTALL)
    assert "without a direction" in shown(html)


def test_the_strongest_word_is_darkest() -> None:
    html = fragment(told("good dull film", [2.0, -1.0, 0.5]))
    assert re.findall(r'--a:([\d.]+)" title="[^"]*">(\w+)', html) == [
        ("1.00", "good"),
        ("0.50", "dull"),
        ("0.25", "film"),
    ]


def test_all_scores_zero_marks_nothing() -> None:
    assert not re.search(r'<p class="text".*--a:', fragment(told("good film", [0.0, 0.0])), re.DOTALL)


def test_two_labels_share_a_bar_and_ten_have_their_own() -> None:
    assert len(Reader(page([told()])).classes("split")) == 1
    ten = Reader(page([told(labels=TEN)]))
    assert len(ten.classes("row")) == 10
    assert len(ten.classes("row")) - sum("explained" in (row["class"] or "") for row in ten.classes("row")) == 9
    assert all(label in ten.text for label in TEN)


def test_of_many_labels_the_explained_one_is_never_left_out() -> None:
    html = page([told(labels=[f"label {i}" for i in range(100)], target=99)])
    assert "label 99" in Reader(html).text
    assert "and 87 less likely labels" in shown(html)


def test_the_fields_of_a_pair_stand_under_their_names() -> None:
    html = page([told(("a man", "a person"), focus=["hypothesis"])])
    assert re.search(r"premise \(not explained\).*a man.*hypothesis.*a.*person", shown(html))
    assert len(re.findall(r'class="w[ "]', html.partition('<section class="card"')[2])) == 2


def test_warnings_and_truncation_are_seen() -> None:
    html = page([told(warnings=("unconverged.",), unseen=((100, 104), (105, 109)))])
    assert "unconverged." in shown(html)
    assert "Truncated: 2 words lie beyond the model's window" in shown(html)


def test_unseen_words_that_are_still_there_are_struck() -> None:
    e = told("good film")
    whole = type(e.text.fields[0])("text", "good film nobody read", e.text.fields[0].spans)
    case = type(e.case)(type(e.text)((whole,), ("text",)), 0)
    html = fragment(e.told(case=case, unseen=((10, 16), (17, 21))))
    assert re.findall(r"<s [^>]*>(\w+)</s>", html) == ["nobody", "read"]


def test_right_to_left_text_keeps_its_own_direction() -> None:
    texts = [a for tag, a in Reader(page([told("הסרט נפלא")])).tags if a.get("class") in ("text", "whole")]
    assert texts
    assert all(attrs["dir"] == "auto" for attrs in texts)


def test_one_text_is_told_once_for_all_methods_and_the_key_too() -> None:
    html = page([told(method="gradient"), told(method="random")])
    assert len(Reader(html).classes("whole")) == 1
    assert len(Reader(html).classes("key")) == 1
    assert len(Reader(html).classes("card")) == 2


def test_two_labels_of_a_text_stand_side_by_side() -> None:
    html = page([told(), told(target=1)])
    assert "What speaks for each label?" in shown(html)
    assert len(Reader(html).classes("label")) == 2
    assert len(Reader(html).classes("whole")) == 1


def test_another_label_is_another_question() -> None:
    assert "What speaks for “positive”? The model says “negative”." in shown(page([told(target=1)]))


def test_a_contrast_is_asked_as_one() -> None:
    e = told()
    case = type(e.case)(e.text, 0, "log_odds", 1)
    assert "Why “negative” rather than “positive”?" in shown(page([e.told(case=case)]))


def test_the_verdict_stands_under_its_method_with_a_strip() -> None:
    html = page([told(), told(method="random")], [verdict(), verdict(good=False, method="random")])
    first, second = html.split('<section class="card">')[1:]
    assert "better than random" in first
    assert "ahead of 40 of 40 random maps" in first
    assert "not distinguishable from random" in second
    assert first.count('class="dot"') == 40
    assert 'class="range"' not in first


def test_only_word_scores_are_called_maps() -> None:
    assert "random maps of the same texts" in proof(verdict(6)).sentence
    assert "random explanations of the same texts" in proof(verdict(6, check="flip_rate")).sentence
    assert "of random explanations" in proof(verdict(6, check="flip_rate")).detail
    assert "random descriptions of the same sample" in proof(verdict(6, check="control_task")).sentence


def lime(samples: int) -> About:
    return About(method="lime", title="LIME", labels=("negative", "positive"), parameters={"samples": samples, "k": 3})


def test_one_method_with_two_settings_has_two_verdicts() -> None:
    """Each stands under the explanation with its own settings, and not under the other."""
    maps = [told().told(about=lime(10)), told().told(about=lime(500))]
    verdicts = [
        verdict(good=good, method="lime", method_parameters=lime(n).parameters)
        for n, good in ((500, True), (10, False))
    ]
    few, many = page(maps, verdicts).split('<section class="card">')[1:]
    assert few.count('class="proof"') == many.count('class="proof"') == 1
    assert "not distinguishable from random" in few
    assert "ahead of 40 of 40 random maps" in many
    other = verdict(method="lime", method_parameters=lime(99).parameters)
    assert "ahead of 40" not in page(maps, [other]).split('<article class="story">')[1]


def test_settings_apart_have_names_apart() -> None:
    verdicts = [verdict(3, method="lime", method_parameters=lime(n).parameters) for n in (10, 500, 500)]
    cards = page([], [*verdicts, verdict(3)]).split('<section class="card">')[1:]
    assert [card.count('class="proof"') for card in cards] == [1, 2, 1]
    assert ["LIME (samples 10)" in card for card in cards] == [True, False, False]
    assert ["LIME (samples 500)" in card for card in cards] == [False, True, False]
    assert "<h3>Leave-one-out</h3>" in cards[2]
    assert "<h3>LIME</h3>" in page([], verdicts[1:])


def test_two_settings_by_the_verbs() -> None:
    """From the verb to the page: a verdict knows with which settings its explanations were made."""
    model = assay.BlackBox(lambda texts: np.array([[0.6, 0.4]] * len(texts)), labels=["a", "b"])
    methods = [find_method("lime").make({"samples": n}) for n in (20, 40)]
    maps = [assay.explain(model, "a good film of the year", one) for one in methods]
    verdicts = assay.check(model, ["a good film of the year"], methods, ["deletion"], draws=5, progress=False)
    assert [v.method_parameters["samples"] for v in verdicts] == [20, 40]
    assert [card.count('class="proof"') for card in page(maps, verdicts).split('<section class="card">')[1:]] == [1, 1]
    assert json.loads(json.dumps(verdicts[1].to_dict()))["method_parameters"]["samples"] == 40


def test_many_texts_get_an_interval_instead() -> None:
    html = page([told(), told("a fine film")], [verdict(2)])
    assert 'class="range"' in html
    assert "over 2 texts" in shown(html)
    assert html.index('class="range"') < html.index(SENTENCE)


def test_a_warning_of_two_checks_is_said_once() -> None:
    verdicts = [verdict(check=name, warnings=("same eraser.",)) for name in ("deletion", "insertion")]
    assert shown(page([told()], verdicts)).count("same eraser.") == 1


def test_verdicts_alone_make_a_page() -> None:
    assert "better than random" in shown(page([], [verdict(3)]))


def test_a_kind_without_renderer_shows_its_own_data() -> None:
    class Strange(TextExplanation):
        kind = "Strange"

        def to_dict(self) -> dict[str, object]:
            return super().to_dict() | {"edits": ["a <b>new</b> text"]}

    e = Strange(told().case)
    assert "a <b>new</b> text" in shown(page([e]))
    assert "edits" in shown(fragment(e))


def test_the_same_page_each_time() -> None:
    assert page([told()], [verdict(5)]) == page([told()], [verdict(5)])


def test_explanations_show_themselves() -> None:
    assert told()._repr_html_() == fragment(told())
    assert told().to_html() == page([told()])

"""Right-to-left texts, labels and names on a page never share a run of writing with our own words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from test_pages import VOID, Reader
from test_selection_view import selection
from test_token_rule import rule
from test_trust_page import card
from view_examples import told, verdict

from assay.explanations.about import About
from assay.views import descriptions, fragment, page
from assay.views.templating import dotted, isolated, quotes_isolated
from assay.views.trust import page as trust_page

HEBREW, ARABIC = "שלום עולם", "كان الفيلم جميلا"
ANCHORS = About(method="anchors", labels=(HEBREW, ARABIC))
BLOCKS = {"p", "div", "li", "td", "th", "dd", "dt", "h1", "h2", "h3", "header", "section", "article", "main", "footer"}


class Runs(Reader):
    """The text of every run of writing: what stands in one block or one isolated element, and in none within it."""

    def __init__(self, html: str) -> None:
        self.stack: list[str] = [""]
        self.own: list[bool] = []
        self.runs: list[str] = []
        super().__init__(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        super().handle_starttag(tag, attrs)
        if tag not in VOID:
            self.own.append(tag in BLOCKS or tag in ("bdi", "title") or "dir" in dict(attrs))
            self.stack += [""] if self.own[-1] else []

    def handle_endtag(self, tag: str) -> None:
        super().handle_endtag(tag)
        if self.own.pop():
            self.runs.append(self.stack.pop())

    def handle_data(self, data: str) -> None:
        if self.open[-1:] not in (["style"], ["title"]):
            self.stack[-1] += data


def explained() -> Any:
    return told(f"{HEBREW} {ARABIC}", labels=(HEBREW, ARABIC), warnings=(f"The label “{HEBREW}” is rare.",))


PAGES: dict[str, Callable[[], str]] = {
    "page": lambda: page([explained()], [verdict(warnings=(f"of “{ARABIC}” and “{HEBREW}”",))]),
    "several texts": lambda: page([explained(), explained().told(case=replace(explained().case, target=1))]),
    "fragment": lambda: fragment(explained()),
    "trust": lambda: trust_page(card(f"{HEBREW} {ARABIC}", labels=(HEBREW, ARABIC))),
    "trust of several": lambda: trust_page(card(f"{HEBREW} {ARABIC}", many=3, labels=(HEBREW, ARABIC))),
    "rule": lambda: page([rule(f"{HEBREW} {ARABIC} {HEBREW}", (1, 3), about=ANCHORS)]),
    "selection": lambda: descriptions.page([selection(f"{HEBREW} {ARABIC}", HEBREW)]),
}


@pytest.mark.parametrize("name", PAGES)
def test_our_words_and_theirs_never_share_a_run(name: str) -> None:
    runs = Runs(PAGES[name]()).runs
    theirs = [run for run in runs if re.search("[א-ת]|[ء-ي]", run)]
    assert len(theirs) > 3
    assert not [run for run in theirs if re.search("[a-zA-Z0-9]", run)]


def test_filters_wrap_what_turns_words_around_and_nothing_else() -> None:
    assert quotes_isolated(f"Why “{HEBREW}” & “a<b”?") == f"Why “<bdi>{HEBREW}</bdi>” &amp; “a&lt;b”?"
    assert dotted(["model x", f"model {HEBREW}"]) == f"model x · <bdi>model {HEBREW}</bdi>"
    assert isolated("plain\u202e") == "plain\u200e&lt;U+202E&gt;\u200e"


def test_an_override_is_shown_on_a_page_and_turns_nothing() -> None:
    html = page([told("good\u202e film", labels=("a\u202eb", "other"))])
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", html)
    assert "good\u200e&lt;U+202E&gt;" in html
    assert "a\u200e&lt;U+202E&gt;\u200eb" in html

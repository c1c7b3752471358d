"""A way of edits on a page and in a terminal: every version, how sure the model is, and the word that goes next."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from test_terminal import printed
from view_examples import LABELS, texts

from assay.explanations.about import About
from assay.explanations.case import Case
from assay.explanations.edits import Edit, Edits
from assay.text.text import Text, TextLike
from assay.views import fragment, page, terminal
from assay.views.kinds import renderer


def way(source: TextLike = "a very dull film", order: tuple[int, ...] = (1, 0, 3), **more: Any) -> Edits:
    """The words go in this order; each map counts up from -1."""
    text = Text.of(source, focus=None if isinstance(source, str) else ["hypothesis"])
    edits = [_version(text, order[:k], 0.9 - 0.1 * k) for k in range(len(order) + 1)]
    maps = [[i - 1.0 for i in range(len(edit.kept))] if len(edit.kept) > 1 else None for edit in edits]
    facts = {"heat_maps": maps, "kendall": [0.5, -0.25, None][: len(order)]}
    about = About(method="input_reduction", title="Input reduction", labels=LABELS, model="toy")
    prediction = {"negative": 0.9, "positive": 0.1}
    shortest = (edits[-1], *more.pop("others", ()))
    return Edits(Case(text, 0), tuple(edits), shortest, facts=facts, prediction=prediction, about=about, **more)


def _version(text: Text, gone: tuple[int, ...], chance: float) -> Edit:
    kept = tuple(i for i in range(len(text)) if i not in gone)
    strings = text.keep(np.isin(np.arange(len(text)), kept)).strings
    prediction = {"negative": chance, "positive": 1 - chance}
    return Edit(strings, prediction, tuple(("remove", i, text.words[i]) for i in gone), kept, len(strings) - 1)


def test_every_step_is_a_line_with_its_next_word() -> None:
    said = printed(renderer(way()).terminal(way()), 60)
    lines = [re.sub(r"\s+", " ", line).strip() for line in said.split("\n")]
    assert "4 words reduced to 1: the model still says “negative”," in said
    for line in ("0.90 +0.50 a [very] dull film", "0.80 −0.25 [a] dull film", "0.70 dull [film]", "0.60 dull"):
        assert line in lines
    assert "with 0.60 instead of 0.90." in " ".join(lines)


def test_marks_stand_under_their_words() -> None:
    said = printed(renderer(way()).terminal(way()), 60).split("\n")
    at = next(i for i, line in enumerate(said) if "a [very]" in line)
    assert said[at + 1].index("▼") == said[at].index("a [very]")
    assert said[at + 1].index("▲") == said[at].index("dull")


def test_the_page_underlines_the_next_word_of_each_step() -> None:
    for html in (page([way()]), fragment(way())):
        assert re.findall(r'class="w[^"]* next"[^>]*>(.*?)</span>', html) == ["very", "a", "film"]
        chances = re.findall(r'<span class="num">(.*?)</span><p class="text"', html)
        assert chances == ["0.90", "0.80", "0.70", "0.60"]
        assert "τ +0.50" in html
        assert "τ −0.25" in html
        assert "4 words reduced to 1" in html


def test_of_equal_words_the_one_at_the_place_goes() -> None:
    html = page([way("so so so", (1,))])
    assert 'so</span> <span class="w next" title="+0">so</span> <span' in html


def test_other_versions_of_the_same_length_are_named() -> None:
    others = [_version(Text.of("a very dull film"), gone, 0.5) for gone in ((1, 2, 3), (0, 1, 2))]
    said = " ".join(printed(terminal.explained([way(others=others)]), 200).split())
    assert "Just as short: “a”, “film”." in said
    assert "Just as short: “a”, “film”." in page([way(others=others)])
    many = [_version(Text.of("a very dull film"), (1, 2, 3), 0.5)] * 8
    assert "and 3 more." in page([way(others=many)])


def test_nothing_to_reduce_is_said() -> None:
    assert "One word is all there is" in page([way("film", ())])
    assert "No word can go" in page([way(order=())])
    about = About(method="input_reduction", labels=LABELS, parameters={"at_least": 0.9})
    assert "or is less sure than 0.9" in page([way(order=()).told(about=about)])
    assert "goes next" not in page([way(order=())])


def test_the_field_that_stays_is_shown_once_in_the_terminal() -> None:
    said = printed(terminal.explained([way(("a man sleeps", "a very dull film"))]), 100)
    assert said.count("a man sleeps") == 1
    assert "premise: a man sleeps" in said


def test_edits_that_replace_are_shown_as_they_are() -> None:
    new = Edit(("a very fine film",), {"negative": 0.2, "positive": 0.8}, (("replace", 2, "dull", "fine"),), (0, 1, 3))
    e = way(order=())
    e = e.told(edits=(e.edits[0], new), shortest=(), facts={})
    said = printed(terminal.explained([e]), 100)
    assert "a very fine film" in said
    assert "1 edit: “negative” goes from 0.90 to 0.20." in said
    assert "a very fine film" in page([e])


def test_norms_have_no_direction() -> None:
    e = way()
    html = page([e.told(facts={**e.facts, "signed": False})])
    assert 'class="w some' in html
    assert 'class="w for' not in html


@settings(max_examples=60, deadline=None)
@given(texts, st.integers(24, 90))
def test_any_text_fits_any_width_and_steers_nothing(text: str, width: int) -> None:
    e = way(text, tuple(range(min(2, len(Text.of(text)) - 1))))
    said = printed(terminal.explained([e]), width)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", said)
    assert max(map(cell_len, said.split("\n"))) <= width
    html = page([e])
    assert "<script>" not in html
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", html)


def test_a_terminal_without_unicode_can_say_it_all() -> None:
    """Every sign that the view adds has a plainer one, so none becomes a question mark."""
    import_module("assay.cli.output")  # knows the plainer signs
    said = printed(renderer(way()).terminal(way()), 100)
    assert "?" not in said.encode("ascii", "assay").decode()

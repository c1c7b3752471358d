"""Phrases and sentences as units: they partition the words, and leave-one-out takes each away as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiny
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.explanations.token_scores import TokenScores
from assay.registry.finding import find_method
from assay.text.splitting import SPLITTERS, Unit
from assay.text.text import Text

marks = " \t\n.,;:!?…—–-()[]{}（）「」。，、！？；：،؟।'\"’”»\u200b\u00a0"
words = st.sampled_from(["film", "a", "3", "好", "ไทย", "كان", "है", "🙂", "don't", "x_y", "cafe\u0301"])
strings = st.text(max_size=60) | st.lists(words | st.sampled_from(marks), max_size=25).map("".join)
units = st.sampled_from(["phrases", "sentences"])


def rebuilt(text: Text) -> tuple[str, ...]:
    """Every field again, from its gaps and its units."""
    return tuple(
        "".join([*(part for pair in zip(field.gaps, field.words, strict=False) for part in pair), field.gaps[-1]])
        for field in text.fields
    )


def owners(fine: Text, coarse: Text) -> list[list[int]]:
    """For each word of the fine text, the units of the coarse one that hold all of it."""
    places = list(zip(coarse.where, coarse.spans, strict=True))
    return [
        [i for i, (name, (a, b)) in enumerate(places) if name == where and a <= start and end <= b]
        for where, (start, end) in zip(fine.where, fine.spans, strict=True)
    ]


@given(st.tuples(strings, strings), units, st.sampled_from(sorted(SPLITTERS)))
def test_units_partition_the_words_of_each_field(pair: tuple[str, str], unit: Unit, split: str) -> None:
    fine = Text.of(pair, split=split)
    coarse = fine.by(unit)
    assert rebuilt(coarse) == coarse.strings == fine.strings
    held = owners(fine, coarse)
    assert [len(units) for units in held] == [1] * len(fine)
    assert [i for i, _ in sorted({units[0]: 0 for units in held}.items())] == list(range(len(coarse)))
    assert held == sorted(held)
    edges = {(w, e) for w, span in zip(fine.where, fine.spans, strict=True) for e in span}
    assert {(w, e) for w, span in zip(coarse.where, coarse.spans, strict=True) for e in span} <= edges


@given(strings)
def test_the_splitter_and_the_joined_words_agree(string: str) -> None:
    assert Text.of(string, split="phrases") == Text.of(string).by("phrases")


@given(st.lists(st.sampled_from(["film", "a.", "(no)", '"no!"', "so,", "3.5", "好。", "yes?)", "good—"]), max_size=15))
def test_a_phrase_lies_in_one_sentence(written: list[str]) -> None:
    whole = Text.of(" ".join(written))
    assert len(whole.by("phrases")) >= len(whole.by("sentences"))
    assert all(len(units) == 1 for units in owners(whole.by("phrases"), whole.by("sentences")))


@pytest.mark.parametrize(
    ("string", "phrases"),
    [
        ("It's dull, isn't it? No.", ["It's dull,", "isn't it?", "No."]),
        ("a . . . b , c .", ["a . . .", "b ,", "c ."]),
        ("She paid $12.50 at 10:30 for x.y,z", ["She paid $12.50 at 10:30 for x.y,z"]),
        ("well-known -- really - good—but 1990–1995", ["well-known --", "really -", "good—", "but 1990–1995"]),
        ("the film (a dull one) was f(x)", ["the film", "(a dull one)", "was f(x)"]),
        ('He said: "never again," and left.', ["He said:", '"never again,"', "and left."]),
        ("one\ntwo\r\n\nthree", ["one", "two", "three"]),
        ("这部电影好看，我喜欢。（真的）好", ["这部电影好看，", "我喜欢。", "（真的）", "好"]),
        ("كان جميلا، رائعة؟ نعم", ["كان جميلا،", "رائعة؟", "نعم"]),
        ("मैं गया। वह आई", ["मैं गया।", "वह आई"]),
        ("ሰላም፡ለዓለም። ደህና", ["ሰላም፡ለዓለም።", "ደህና"]),
        ("ภาพยนตร์เรื่องนี้ สนุกมาก", ["ภาพยนตร์เรื่องนี้", "สนุกมาก"]),
        ("no mark at all", ["no mark at all"]),
        ("", []),
        (" \u200b ", []),
    ],
)
def test_phrases(string: str, phrases: list[str]) -> None:
    assert list(Text.of(string, split="phrases").words) == phrases


TEXTS: list[Any] = [
    "a slow film, but good! So it is: really.",
    "no mark at all",
    ("the film was good, they say. Good.", "a good film, was it? Good."),
]


@pytest.mark.parametrize("eraser", ["delete", "mask"])
@pytest.mark.parametrize("unit", ["phrases", "sentences"])
@pytest.mark.parametrize("text", TEXTS)
def test_leave_one_out_takes_units_away_whole(text: Any, unit: Unit, eraser: str) -> None:
    model = assay.load(tiny.bert())
    e = assay.explain(model, text, "leave_one_out", unit=unit, eraser=eraser, scalar="probability")
    strings = (text,) if isinstance(text, str) else text
    whole = model.predict([text])[0, e.target]
    at = 0
    for place, string in enumerate(strings):
        for start, end in SPLITTERS[unit](string):
            assert (e.words[at], e.spans[at]) == (string[start:end], (start, end))
            left = _without(string, start, end) if eraser == "delete" else f"{string[:start]}[MASK]{string[end:]}"
            row = (*strings[:place], left, *strings[place + 1 :])
            without = model.predict([row if len(row) > 1 else row[0]])[0, e.target]
            assert e.scores[at] == pytest.approx(whole - without, abs=1e-5)
            at += 1
    assert at == len(e.words) == len(e.scores)


def _without(string: str, start: int, end: int) -> str:
    """The string without a part and one blank beside it; the tokenizer does not mind blanks at the ends."""
    return f"{string[:start].rstrip()} {string[end:].lstrip()}".strip()


@pytest.mark.parametrize("text", TEXTS)
def test_a_unit_is_the_same_as_the_split(text: Any) -> None:
    for unit in ("phrases", "sentences"):
        by_unit = assay.explain(tiny.bert(), text, "leave_one_out", unit=unit)
        by_split = assay.explain(tiny.bert(), text, "leave_one_out", split=unit)
        assert by_unit.text == by_split.text
        np.testing.assert_allclose(by_unit.scores, by_split.scores, atol=1e-6)
    plain = assay.explain(tiny.bert(), text, "leave_one_out", split="phrases", unit="words")
    assert plain.words == Text.of(text, split="phrases").words


def test_fields_out_of_focus_stay_whole() -> None:
    e = assay.explain(tiny.bert(), TEXTS[2], "leave_one_out", unit="phrases", focus=["hypothesis"])
    assert e.words == ("a good film,", "was it?", "Good.")
    assert e.text.fields[0] == Text.of(TEXTS[2]).fields[0]


def test_units_beyond_the_window_are_told_in_words() -> None:
    e = assay.explain(tiny.bert(), "a dull film , really . " * 30, "leave_one_out", unit="sentences")
    assert e.truncated
    assert e.spans[-1][1] <= e.unseen[0][0]


def test_units_can_be_saved_checked_and_shown() -> None:
    e = assay.explain(tiny.bert(), TEXTS[0], "leave_one_out", unit="phrases")
    assert TokenScores.from_json(e.to_json()).to_dict() == e.to_dict()
    assert e.about.parameters["unit"] == "phrases"
    assert "So it is:" in e.to_html()
    method = type(find_method("leave_one_out").make())(unit="phrases")
    (verdict,) = assay.check(tiny.bert(), [TEXTS[0]], [method], ["deletion"], draws=4, progress=False)
    assert np.isfinite(verdict.mean)


def test_an_unknown_unit_is_named() -> None:
    with pytest.raises(assay.AssayError, match="did you mean 'phrases'"):
        assay.explain(tiny.bert(), "a film", "leave_one_out", unit="phrase")
    with pytest.raises(assay.AssayError, match="did you mean 'phrases'"):
        assay.explain(tiny.bert(), "a film", "leave_one_out", split="phrase")

"""Short reprs, lists that remain lists, and tables of verdicts."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay import BlackBox, Explanations, Verdicts
from assay.verdicts.verdict_list import escaped

WEIGHTS = {"superb": 2.0, "good": 1.0, "mess": -3.0}
TEXTS = ["a superb film but a mess", "a mess of a film", "good <b>good</b> fun", "\x1b[31mred mess"]


def chances(texts: Sequence[str]) -> np.ndarray[Any, Any]:
    values = np.array([sum(weight * text.count(word) for word, weight in WEIGHTS.items()) for text in texts])
    positive = 1 / (1 + np.exp(-values))
    return np.stack([1 - positive, positive], axis=1)


MODEL = BlackBox(chances, labels=["negative", "positive"], name="lexicon")


@pytest.fixture(scope="module")
def maps() -> Explanations:
    return assay.explain(MODEL, TEXTS, "leave_one_out", progress=False)


@pytest.fixture(scope="module")
def verdicts() -> Verdicts:
    methods = ["leave_one_out", "random"]
    return assay.check(MODEL, TEXTS, methods, ["deletion", "sufficiency"], progress=False)


def results() -> list[Any]:
    one = [assay.explain(MODEL, TEXTS[0], name) for name in ("leave_one_out", "anchors", "kernel_shap")]
    card = assay.trust(MODEL, TEXTS[0], ["leave_one_out", "random"], progress=False)
    described = assay.describe(MODEL, TEXTS, "sp_lime", picks=2, progress=False)
    many = assay.explain(MODEL, TEXTS * 40, "leave_one_out", progress=False)
    found = assay.check(MODEL, TEXTS, "leave_one_out", "deletion", progress=False)
    return [*one, card, described, many, found, found[0], MODEL, assay.Sample.of(TEXTS)]


def test_every_result_is_a_few_short_lines_without_signs_that_steer() -> None:
    for result in results():
        for shown in (str(result), repr(result)):
            assert len(shown) < 800, type(result)
            assert len(shown.splitlines()) <= 8, type(result)
            assert "\x1b" not in shown


def test_a_map_says_its_label_and_its_strongest_words(maps: Explanations) -> None:
    assert repr(maps[0]).splitlines() == [
        "TokenScores: negative 0.73 for 'a superb film but a mess', Leave-one-out of lexicon",
        "  for: mess +3",
        "  against: superb -2",
    ]


def test_a_list_is_still_a_list(maps: Explanations, verdicts: Verdicts) -> None:
    assert isinstance(maps, list)
    assert [*maps[1:]] == list(maps)[1:]
    assert len(pickle.loads(pickle.dumps(maps))) == len(TEXTS)
    assert isinstance(verdicts, list)
    assert repr(maps).splitlines()[0] == "4 explanations"
    assert repr(verdicts).splitlines()[0] == "4 verdicts"


def test_fragments_show_every_text_and_escape_it(maps: Explanations, verdicts: Verdicts) -> None:
    html = maps._repr_html_()
    assert html.count("Why “") == 4
    assert "<b>good" not in html
    assert "Leave-one-out" in verdicts._repr_html_()
    assert (
        "&lt;b&gt;" in maps.to_html().replace('<span class="w">', "").replace("</span>", "") or "&lt;" in maps.to_html()
    )


def test_a_long_list_shows_its_first_ones() -> None:
    many = assay.explain(MODEL, TEXTS * 10, "leave_one_out", progress=False)
    assert "and 30 more of 40" in many._repr_html_()
    assert repr(many).splitlines()[-1] == "  and 35 more"


def test_kept_errors_are_shown_in_their_places(capsys: pytest.CaptureFixture[str]) -> None:
    kept = assay.explain(MODEL, ["a mess", ""], "leave_one_out", errors="keep", progress=False)
    assert "has no word to explain" in repr(kept)
    assert "has no word to explain" in kept._repr_html_()
    assert json.loads(kept.to_json())[1]["error"]
    kept.show()
    assert "has no word to explain" in " ".join(capsys.readouterr().out.split())


def test_saved_data_is_read_back(maps: Explanations, verdicts: Verdicts, tmp_path: Path) -> None:
    data = json.loads(maps.save(tmp_path / "x.json").read_text())
    assert [assay.Explanation.from_dict(one).scores.tolist() for one in data] == [e.scores.tolist() for e in maps]
    assert json.loads(verdicts.save(tmp_path / "v.json").read_text())[0]["check"] == "deletion"
    assert "<!doctype html>" in maps[0].save(tmp_path / "x.html").read_text()


def test_show_prints_in_a_terminal(maps: Explanations, verdicts: Verdicts, capsys: pytest.CaptureFixture[str]) -> None:
    maps[0].show()
    verdicts.show()
    shown = capsys.readouterr().out
    assert "Why “negative”?" in shown
    assert "Deletion" in shown


def test_frames_have_a_row_a_word_and_a_row_a_verdict(maps: Explanations, verdicts: Verdicts) -> None:
    words = maps.to_frame()
    assert len(words) == sum(len(e.text) for e in maps)
    assert words[(words.text == 0) & (words.word == "mess")].score.tolist() == pytest.approx([3])
    table = verdicts.to_frame()
    assert table.columns[:4].tolist() == ["method", "check", "mean", "random"]
    assert table["mean"].tolist() == [v.mean for v in verdicts]
    assert table.low.tolist() == [v.interval[0] for v in verdicts]


def test_latex_is_a_booktabs_table_with_every_sign_escaped(verdicts: Verdicts) -> None:
    assert escaped(r"50% of a_b & {c} \ ~^#$") == (
        r"50\% of a\_b \& \{c\} \textbackslash{} \textasciitilde{}\textasciicircum{}\#\$"
    )
    lines = verdicts.to_latex().splitlines()
    assert [lines[i] for i in (0, 1, 3, -2, -1)] == [
        r"\begin{tabular}{llrrlrr}",
        r"\toprule",
        r"\midrule",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    assert all(line.count(" & ") == 6 for line in lines[4:-2])
    assert len(lines[4:-2]) == len(verdicts)
    assert r"\caption{a\_b}" in verdicts.to_latex("a_b", "tab:x")
    assert r"\label{tab:x}" in verdicts.to_latex("a_b", "tab:x")

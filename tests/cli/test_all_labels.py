"""All labels at once: one explanation per label, at the cost of one; and the table of words and scores."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay import BlackBox, cli
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.views import page

WORDS = ("red", "green", "blue")
TEXTS = ["a red and green box", "blue", "green green blue paint"]


def chances(texts: Sequence[str]) -> np.ndarray[Any, Any]:
    values = np.array([[2.0 * text.count(word) for word in WORDS] for text in texts])
    return np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)


MODEL = BlackBox(chances, labels=list(WORDS), name="colours")


@pytest.mark.parametrize("method", ["leave_one_out", "lime", "kernel_shap"])
def test_every_label_is_explained_as_if_it_were_asked_alone(method: str) -> None:
    for text, of_text in zip(TEXTS, assay.explain(MODEL, TEXTS, method, target="all", progress=False), strict=True):
        assert [e.label for e in of_text] == list(WORDS)
        for label, e in zip(WORDS, of_text, strict=True):
            alone = assay.explain(MODEL, text, method, target=label)
            assert e.scores == pytest.approx(alone.scores)
            assert e.about.labels == WORDS


def test_rows_that_all_labels_share_are_asked_once() -> None:
    one, every = Engine(MODEL), Engine(MODEL)
    assay.explain(MODEL, TEXTS, "leave_one_out", target="red", engine=one, progress=False)
    assay.explain(MODEL, TEXTS, "leave_one_out", target="all", engine=every, progress=False)
    assert every.totals.forwards == one.totals.forwards
    assert every.totals.sequences == 3 * one.totals.sequences


def test_one_text_gives_a_list_and_several_methods_a_dictionary_of_lists() -> None:
    found = assay.explain(MODEL, TEXTS[0], ["leave_one_out", "random"], target="all", progress=False)
    assert [len(labels) for labels in found.values()] == [3, 3]
    assert len(assay.explain(MODEL, TEXTS, "leave_one_out", target="all", progress=False).to_frame()) == 3 * 10


def test_an_error_names_its_text_or_is_kept_for_every_label() -> None:
    with pytest.raises(BadInput, match="text 2: "):
        assay.explain(MODEL, ["red", ""], "leave_one_out", target="all", progress=False)
    kept = assay.explain(MODEL, ["red", ""], "leave_one_out", target="all", errors="keep", progress=False)
    assert [len(labels) for labels in kept] == [3, 3]
    assert len(kept.made) == 3


def test_a_label_called_all_is_that_label() -> None:
    model = BlackBox(lambda texts: np.full((len(texts), 2), 0.5), labels=["none", "all"], name="two")
    assert assay.explain(model, TEXTS[0], "leave_one_out", target="all").label == "all"


def test_a_test_is_about_one_label() -> None:
    with pytest.raises(BadInput, match="a test is about one label"):
        assay.check(MODEL, TEXTS, "leave_one_out", "deletion", target="all", progress=False)
    with pytest.raises(BadInput, match="leave out against"):
        assay.explain(MODEL, TEXTS[0], "leave_one_out", target="all", against="red")
    many = BlackBox(lambda texts: np.full((len(texts), 60), 1 / 60), labels=[str(i) for i in range(60)], name="many")
    with pytest.raises(BadInput, match="up to 50 labels; this one has 60"):
        assay.explain(many, "a", "leave_one_out", target="all")


def test_labels_stand_side_by_side_on_a_page_with_their_tables() -> None:
    html = page(list(assay.explain(MODEL, TEXTS[0], "leave_one_out", target="all", progress=False)))
    assert html.count('<h3 class="label">') == 3
    assert html.count("What speaks for each label?</h1>") == 1
    assert html.count('<details class="scores">') == 3


MODULE = """
import numpy as np
import assay

def chances(texts):
    values = np.array([[2.0 * text.count(word) for word in ("red", "green", "blue")] for text in texts])
    return np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)

model = assay.BlackBox(chances, labels=["red", "green", "blue"], name="colours")
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "colour_model.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "colour_model:model"


def test_the_shell_prints_every_label_of_every_text(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--model", module, "-m", "leave_one_out,random", "--target", "all", "-q"]
    assert cli.main(["explain", *TEXTS, *options, "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(found) == len(TEXTS) * len(WORDS) * 2
    assert [one["target"] for one in found[:3]] == list(WORDS)


def test_the_table_lists_every_word(
    module: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.main(["explain", TEXTS[0], "--model", module, "--table", "-q"]) == 0
    shown = capsys.readouterr().out
    assert "place, word and score" in shown
    assert "2 red" in shown
    assert max(map(len, shown.splitlines())) <= 80

"""Sensitivity against captum.metrics on the same neighbours."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import tiny

import assay
from assay.checks.sensitivity import Sensitivity
from assay.engine.engine import Engine
from assay.errors import BadInput

TEXT = "A funny film with a big heart that never lets go"


@pytest.fixture(scope="module")
def model() -> Any:
    network, tokenizer = tiny.bert(cased=True)
    return assay.load((deepcopy(network).double(), tokenizer))  # so that rounding hides nothing above 1e-6


def told(model: Any, texts: list[str], method: str = "leave_one_out", **settings: Any) -> Any:
    (verdict,) = assay.check(model, texts, [method], [Sensitivity(**settings)], draws=5, progress=False)
    return verdict


@pytest.mark.parametrize("method", ["leave_one_out", "input_x_gradient"])
def test_against_captum(model: Any, method: str) -> None:
    """Neighbours that keep all words; each is a row number in a table of explanations."""
    torch = pytest.importorskip("torch")
    sensitivity_max = pytest.importorskip("captum.metrics").sensitivity_max
    here = assay.explain(model, TEXT, method)
    texts = [TEXT.lower(), TEXT + "."]
    maps = [assay.explain(model, text, method, target=here.target).scores[: len(here.words)] for text in texts]
    table = torch.tensor(np.array([here.scores, *maps]))
    theirs = sensitivity_max(
        lambda rows: (table[rows[0][:, 0].long()],),
        torch.zeros(1, 1),
        perturb_func=lambda inputs, radius: (torch.arange(1.0, 3.0)[:, None],),
        n_perturb_samples=2,
    )
    ours = told(model, [TEXT], method, edits=("case", "punctuation"), drops=0)
    assert ours.scores[0] == pytest.approx(float(theirs), abs=1e-6)


def test_dropped_words_from_the_formula(model: Any) -> None:
    here = assay.explain(model, TEXT, "leave_one_out")
    moves = []
    for i in range(len(here.words)):
        rest = [j for j in range(len(here.words)) if j != i]
        there = assay.explain(model, " ".join(here.words[j] for j in rest), "leave_one_out", target=here.target)
        moves.append(np.sqrt(((here.scores[rest] - there.scores) ** 2).sum() / (here.scores**2).sum()))
    ours = told(model, [TEXT], edits=(), drops=99)
    assert ours.scores[0] == pytest.approx(max(moves), abs=1e-6)
    assert ours.facts["mean"] == pytest.approx(np.mean(moves), abs=1e-6)


def test_a_linear_model_moves_only_where_words_change() -> None:
    bow = tiny.linear_bow(double=True)
    model = assay.load((bow.model, bow.tokenizer))
    assert told(model, ["the film was good"], edits=(), drops=2).scores[0] == pytest.approx(0, abs=1e-9)


def test_a_map_of_zeros_is_divided_by_one() -> None:
    box = assay.BlackBox(lambda texts: np.full(len(texts), 0.5), labels=["a", "b"])
    assert told(box, ["a funny film"]).scores.tolist() == [0.0]


def test_what_cannot_be_done_is_told(model: Any) -> None:
    with pytest.raises(BadInput, match="cannot be asked here: none of the chosen changes"):
        told(model, ["film"], edits=(), drops=3)
    with pytest.raises(BadInput, match="drops >= 0"):
        Sensitivity(drops=-1)
    with pytest.raises(BadInput, match="drops >= 0"):
        Sensitivity(edits=(), drops=0)
    e = assay.explain(model, "film", "leave_one_out")
    with pytest.raises(BadInput, match="none of the chosen changes"):
        next(Engine(model).run([Sensitivity(edits=()).examine(e)])).get()

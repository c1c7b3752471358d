"""Infidelity against captum.metrics on the same masks, and against a case whose answer is known."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import tiny

import assay
from assay.checks.infidelity import Infidelity, masks
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.text.text import Text

TEXT = "the film was good , but the plot was slow and dull"


@pytest.fixture(scope="module")
def model() -> Any:
    network, tokenizer = tiny.bert()
    return assay.load((deepcopy(network).double(), tokenizer))  # so that rounding hides nothing above 1e-6


def examined(model: Any, e: TokenScores, **settings: Any) -> Any:
    return next(Engine(model).run([Infidelity(**settings).examine(e)])).get()


def explained(seed: int = 5, **aim: Any) -> TokenScores:
    text = Text.of(TEXT)
    return TokenScores(Case(text, 1, **aim), np.random.default_rng(seed).normal(size=len(text)))


def value(model: Any, e: TokenScores, kept: np.ndarray) -> float:
    """The log-odds of the target with these words only."""
    chance = model.predict([" ".join(w for w, k in zip(e.words, kept, strict=True) if k)])[0, e.target]
    return float(np.log(chance / (1 - chance)))


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("seed", [0, 5])
def test_against_captum(model: Any, scaled: bool, seed: int) -> None:
    torch = pytest.importorskip("torch")
    infidelity = pytest.importorskip("captum.metrics").infidelity
    e, samples = explained(seed), 40
    gone = masks(e.case.generator(), len(e.text), samples)

    def forward(kept: Any) -> Any:
        return torch.tensor([value(model, e, row) for row in kept.numpy()], dtype=torch.float64)

    def perturbed(inputs: Any) -> Any:
        taken = torch.tensor(gone, dtype=torch.float64)
        return taken, inputs - taken

    whole = torch.ones(1, len(e.text), dtype=torch.float64)
    theirs = infidelity(
        forward, perturbed, whole, torch.tensor(e.scores)[None], n_perturb_samples=samples, normalize=scaled
    )
    ours = examined(model, e, samples=samples, scaled=scaled)
    assert ours.score == pytest.approx(float(theirs), rel=0, abs=1e-6)
    assert ours.facts["scaled"] <= ours.facts["plain"]


def test_true_scores_of_a_linear_model_have_none() -> None:
    bow = tiny.linear_bow(double=True)
    model = assay.load((bow.model, bow.tokenizer))
    e = assay.explain(model, TEXT, "leave_one_out")
    assert examined(model, e).score == pytest.approx(0, abs=1e-9)
    twice = examined(model, e.told(scores=2 * e.scores))
    assert twice.score > 0.01
    assert twice.facts["factor"] == pytest.approx(0.5)
    assert twice.facts["scaled"] == pytest.approx(0, abs=1e-9)


def test_a_map_of_zeros_forecasts_nothing(model: Any) -> None:
    e = explained()
    none = examined(model, e.told(scores=np.zeros(len(e.text))))
    assert none.facts["plain"] == none.facts["scaled"] > 0
    assert none.facts["factor"] == 1


def test_the_contrast_is_measured_where_one_is_explained(model: Any) -> None:
    plain, contrast = examined(model, explained()), examined(model, explained(against=2))
    assert plain.score != pytest.approx(contrast.score)


def test_masks_take_every_number_of_words_equally_often() -> None:
    taken = masks(np.random.default_rng(0), 5, 20_000)
    counts = np.bincount(taken.sum(axis=1), minlength=6)
    assert counts[0] == 0
    assert counts[1:] / 20_000 == pytest.approx(np.full(5, 0.2), abs=0.02)
    assert taken.mean(axis=0) == pytest.approx(np.full(5, 0.6), abs=0.02)
    assert masks(np.random.default_rng(0), 1, 3).tolist() == [[True]] * 3


def test_bad_settings_are_told() -> None:
    with pytest.raises(BadInput, match="samples >= 1"):
        Infidelity(samples=0)

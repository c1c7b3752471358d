"""Checks of Examples against the truth of a convex model; random explanations do not pass them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

import assay
from assay.checks.exact_retraining import ExactRetraining
from assay.checks.information_removal import InformationRemoval
from assay.checks.label_correction import Flipped, LabelCorrection, recovery
from assay.checks.linear_datamodeling import LinearDatamodeling
from assay.checks.removal_retraining import RemovalRetraining
from assay.checks.trained_without import generator_for, without
from assay.data.shortcuts import reviews as planted_reviews
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.registry.finding import find_method
from assay.statistics.verdict import Verdict
from assay.text.sample import Sample
from assay.training.bag import Bag
from assay.verdicts.judge import judge
from influence_toys import fit, fitted, reviews

TRAIN = list(reviews())
TEXTS = ["a warm and funny film", "the plot was dull", "clever music , weak ending"]
HOW = Bag(decay=0.01)


def influence() -> Any:
    return find_method("influence_functions").make({"train": TRAIN, "damping": 0.02})


def verdict(check: Any, texts: list[str], **settings: Any) -> Any:
    (found,) = assay.check(fitted(decay=0.01), texts, [influence()], [check], progress=False, **settings)
    return found


def test_exact_retraining_is_the_correlation_with_leaving_out(tmp_path: Path) -> None:
    check = ExactRetraining(recipe=HOW, rows=12)
    found = verdict(check, TEXTS[:2], draws=60)
    assert found.scores.min() > 0.9
    assert abs(found.random) < 0.15
    assert found.passed
    # By hand, for the first text: the same rows, models fitted here.
    (e,) = assay.explain(fitted(decay=0.01), TEXTS[:1], influence(), progress=False)
    rows = np.sort(generator_for(e, 0).permutation(len(TRAIN))[:12])
    changes = []
    for row in rows[:6].tolist():
        model = fit([one for i, one in enumerate(TRAIN) if i != row], tmp_path / str(row), decay=0.01)
        whole, less = (m.predict([TEXTS[0]])[0] for m in (fitted(decay=0.01), model))
        changes.append(np.log(whole[1] / whole[0]) - np.log(less[1] / less[0]))
    assert spearmanr(changes, e.scores[rows[:6]]).statistic > 0.9


def test_summed_scores_foretell_models_of_parts() -> None:
    found = verdict(LinearDatamodeling(recipe=HOW, subsets=24), TEXTS, draws=30)
    assert found.scores.mean() > 0.5
    assert abs(found.random) < 0.15
    assert found.passed


def test_removing_the_most_influential_texts_lowers_the_prediction() -> None:
    found = verdict(RemovalRetraining(recipe=HOW), TEXTS[:2], draws=6)
    assert found.scores.min() > 0 > found.facts["bottom"]
    assert found.scores.min() > found.random_scores.max()


@pytest.mark.parametrize("check", [ExactRetraining(recipe=HOW, rows=10), LinearDatamodeling(recipe=HOW, subsets=10)])
def test_random_explanations_do_not_pass(check: Any) -> None:
    """In the place of the method's, random explanations are as good as random ones: about one in twenty passes."""
    model = fitted(decay=0.01)
    (e,) = assay.explain(model, TEXTS[:1], influence(), progress=False)
    known = next(Engine(model).run([check.against(e)])).get()
    scores = np.array([check.measure(one, known).score for one in e.random_like(4000)]).reshape(100, 40)
    passed = [Verdict("random", "check", "higher", row[:1], row[None, 1:]).passed for row in scores]
    assert np.mean(passed) <= 0.1


def test_label_correction_finds_changed_labels() -> None:
    rows, check = list(reviews(100, 3, 0.0)), LabelCorrection(recipe=Bag(decay=0.01))
    methods = [find_method(name).make() for name in ("influence_functions", "tracin")]
    found = assay.check(None, rows, methods, [check], progress=False)
    for one in found:
        assert one.mean > 0.8
        assert one.random == pytest.approx(0.5, abs=0.02)
        assert one.facts["found"] > 0.7
        assert one.passed
        assert 0.5 < one.facts["loss_area"] <= 1


def test_recovery_by_hand() -> None:
    assert recovery([3, 1, 0, 2], {3, 1}, 0.5) == (pytest.approx(0.75), 1.0)
    assert recovery([0, 2, 3, 1], {3, 1}, 0.5) == (pytest.approx(0.25), 0.0)
    rng = np.random.default_rng(0)
    assert np.mean([recovery(rng.permutation(50).tolist(), {1, 2, 3})[0] for _ in range(500)]) == pytest.approx(
        0.5, abs=0.02
    )


def test_as_many_labels_are_changed_as_asked() -> None:
    rows = list(Sample.of(TRAIN))
    flipped = Flipped.of(rows, ["bad", "good"], 0.1, 0)
    changed = {i for i, (a, b) in enumerate(zip(rows, flipped.sample, strict=True)) if a.label != b.label}
    assert changed == set(flipped.wrong)
    assert len(changed) == 6


def test_what_cannot_be_checked_is_said() -> None:
    (e,) = assay.explain(fitted(decay=0.01), TEXTS[:1], influence(), progress=False)
    saved = type(e).from_json(e.to_json())
    with pytest.raises(BadInput, match="saved without its training set"):
        judge(Engine(fitted(decay=0.01)), [saved], [ExactRetraining(recipe=HOW)])
    with pytest.raises(BadInput, match="influence_functions and tracin"):
        assay.check(None, TRAIN, ["leave_one_out"], ["label_correction"], progress=False)
    with pytest.raises(BadInput, match="exact_retraining reads Examples"):
        assay.check(fitted(decay=0.01), TEXTS, ["leave_one_out"], ["exact_retraining"], progress=False)
    assert len(without(Sample.of(TRAIN), [0, 5])) == len(TRAIN) - 2


def test_removing_what_influence_finds_makes_a_model_forget_a_cue() -> None:
    method = find_method("influence_functions").make({"damping": 0.02})
    check = InformationRemoval(recipe=HOW, texts=10, draws=8, planted=0.15)
    (found,) = assay.check(None, planted_reviews(160), [method], [check], progress=False)
    assert found.facts["cue_rows"] > 0.8 > 0.3 > found.facts["cue_share"]
    assert found.interval[0] > 0
    assert found.passed
    with pytest.raises(BadInput, match="tests methods that return Examples; lime does not"):
        assay.check(None, planted_reviews(60), ["lime"], [check], progress=False)

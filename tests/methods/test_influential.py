"""Influential examples against what training really does: leave a text out, train again, look at the prediction."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest
import tiny
from scipy.special import log_softmax

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput, Unanswerable
from assay.models import load
from assay.questions.parameters import LastLayer
from assay.registry.finding import find_method
from assay.text.training_set import TrainingSet
from assay.training.bag import Bag, _counts, _objective
from influence_toys import fit, fitted, reviews

TRAIN = list(reviews())
TEXTS = ["a warm and funny film", "the plot was dull", "clever music , weak ending", "tired cast"]
DECAY = 0.01


@cache
def left_out(decay: float = DECAY, steps: int = 0) -> np.ndarray:
    """[texts, training texts]: the log-odds of the label "good" minus that of the model trained without that text.

    The same vocabulary, and the loss still divided by n: the text is given no weight, and nothing else changes.
    """
    model: Any = fitted(decay=decay)
    x = _counts(model.model, model.tokenizer, [(text,) for text, _ in TRAIN])
    seen = _counts(model.model, model.tokenizer, [(text,) for text in TEXTS])
    y = np.array([["bad", "good"].index(label) for _, label in TRAIN])

    def logs(without: int | None) -> np.ndarray:
        kept = np.arange(len(y)) != (-1 if without is None else without)
        weight = kept.mean()  # the mean over the others, times their share
        how = Bag(decay=decay / weight, steps=steps, rate=0.5 * weight)
        w = how._fitted(x[kept], y[kept], 2, lambda w, k: None)
        return np.asarray((seen @ w.T) @ [-1, 1])

    whole = logs(None)
    return np.array([whole - logs(i) for i in range(len(y))]).T


def scores(method: str, model: Any, **settings: Any) -> np.ndarray:
    found = assay.explain(model, TEXTS, method, train=TRAIN, target="good", progress=False, **settings)
    return np.array([e.scores for e in found])


def correlations(one: np.ndarray, two: np.ndarray) -> list[float]:
    return [float(np.corrcoef(a, b)[0, 1]) for a, b in zip(one, two, strict=True)]


def test_the_bag_is_at_its_optimum() -> None:
    model: Any = fitted(decay=DECAY)
    x = _counts(model.model, model.tokenizer, [(text,) for text, _ in TRAIN])
    y = np.array([["bad", "good"].index(label) for _, label in TRAIN])
    answer = model.model.answer
    weights = np.column_stack([answer.weight.detach().numpy(), answer.bias.detach().numpy()])
    assert np.abs(_objective(weights.ravel().astype(float), x, y, DECAY)[1]).max() < 1e-6
    np.testing.assert_allclose(
        log_softmax(x @ weights.T, axis=1), np.log(model.predict([t for t, _ in TRAIN])), atol=1e-5
    )


@pytest.mark.parametrize("solver", ["exact", "cg", "lissa"])
def test_influence_functions_are_what_leaving_out_does(solver: str) -> None:
    settings = {"iterations": 400} if solver == "lissa" else {}
    found = scores("influence_functions", fitted(decay=DECAY), solver=solver, damping=2 * DECAY, **settings)
    r = correlations(found, left_out())
    assert min(r) >= (0.9 if solver == "lissa" else 0.99)


def test_neighbours_alone_are_scored() -> None:
    """FastIF: those that are nearest in what the last layer reads, here in counts of words; the others are 0."""
    model: Any = fitted(decay=DECAY)
    x, own = (_counts(model.model, model.tokenizer, [(t,) for t in texts]) for texts in ([t for t, _ in TRAIN], TEXTS))
    every = scores("influence_functions", model, solver="cg", damping=2 * DECAY)
    few = scores("influence_functions", model, solver="cg", damping=2 * DECAY, neighbours=7)
    for one, all_of_it, counts in zip(few, every, own, strict=True):
        nearest = np.argsort(((x - counts) ** 2).sum(axis=1), kind="stable")[:7]
        assert set(np.flatnonzero(one)) <= set(nearest.tolist())
        np.testing.assert_allclose(one[nearest], all_of_it[nearest], rtol=1e-4, atol=1e-8)


def test_influence_functions_have_the_right_size() -> None:
    """Where one text is a small part of the curvature: to first order, which a weak penalty on 60 texts is not."""
    found, true = scores("influence_functions", fitted(decay=0.1), damping=0.2), left_out(0.1)
    assert 0.9 < (found * true).sum() / (true**2).sum() < 1.02


def test_the_block_wise_curvature_is_close() -> None:
    found = scores("influence_functions", fitted(decay=DECAY), solver="ekfac", damping=2 * DECAY)
    assert min(correlations(found, left_out())) >= 0.9


def test_a_projection_is_close() -> None:
    found = scores("influence_functions", fitted(decay=DECAY), project=512, damping=2 * DECAY)
    assert min(correlations(found, left_out())) >= 0.95


def test_representer_points_and_their_sum() -> None:
    """The sum is the log-odds; of a strongly penalised model the fitted layer is the model, and its parts are true."""
    strong, settings = fitted(decay=0.5), {"target": "good", "decay": 0.5, "targets": "labels"}
    found = assay.explain(strong, TEXTS, "representer_points", train=TRAIN, progress=False, **settings)
    assert min(correlations(np.array([e.scores for e in found]), left_out(0.5))) >= 0.9
    for e in found:
        assert e.facts["refit_gap"] < 1e-5
        chance = e.prediction["good"]
        assert e.scores.sum() == pytest.approx(np.log(chance / (1 - chance)), abs=1e-4)
    for e in assay.explain(fitted(decay=DECAY), TEXTS, "representer_points", train=TRAIN):
        assert e.facts["fit_gap"] < 1e-4


def test_the_parts_of_a_single_logit_add_up_to_it() -> None:
    """One logit stands for two labels; each of the two columns that are fitted again has half of it."""
    model = load(tiny.bert(num_labels=1))
    rows = [(text, model.labels[i % 2]) for i, text in enumerate(["a good film", "dull", "no plot", "two dogs run"])]
    logit, odds = (
        assay.explain(model, "a funny film", "representer_points", train=rows, scalar=scalar, progress=False)
        for scalar in ("logit", "log_odds")
    )
    np.testing.assert_allclose(logit.scores, odds.scores, rtol=1e-9)
    assert np.abs(logit.scores).max() > 0


def test_tracin_over_many_checkpoints_is_what_leaving_out_does() -> None:
    """While the training is short; later, what a text did is undone by the others, which TracIn does not see."""
    steps = 4
    model = fitted(decay=DECAY, steps=steps, checkpoints=steps)
    settings = {"checkpoints": tuple(range(1, steps + 1)), "rates": (0.5 / len(TRAIN),)}
    found = scores("tracin", model, **settings)
    assert min(correlations(found, left_out(steps=steps))) >= 0.9
    last = scores("tracin", model, rates=(steps * 0.5 / len(TRAIN),))
    assert np.mean(correlations(last, left_out(steps=steps))) <= np.mean(correlations(found, left_out(steps=steps)))


def test_relative_scores_are_divided_by_what_a_text_can_do() -> None:
    """TracIn: cosines of gradients, here of counts and residuals; influence: over the root of self-influence."""
    model: Any = fitted(decay=DECAY)
    x, own = (_counts(model.model, model.tokenizer, [(t,) for t in texts]) for texts in ([t for t, _ in TRAIN], TEXTS))
    label = np.array([1 if label == "good" else -1 for _, label in TRAIN])
    cosines = own @ x.T / np.outer(np.linalg.norm(own, axis=1), np.linalg.norm(x, axis=1)) * label
    np.testing.assert_allclose(scores("tracin", model, relative=True), cosines, atol=1e-5)
    given = {"damping": 2 * DECAY, "train": TRAIN}
    made: Any = find_method("influence_functions").make(given)
    (own_influence,) = Engine(model).run([made.self_influence()])
    root = np.sqrt(own_influence.get())
    plain = scores("influence_functions", model, damping=2 * DECAY)
    np.testing.assert_allclose(
        scores("influence_functions", model, damping=2 * DECAY, relative=True), plain / root, rtol=1e-6
    )


def test_a_cue_that_a_model_has_learned_is_found_by_relative_scores() -> None:
    """Known answer: a tenth of the texts say their label by a token alone, and the model then follows it wrongly.

    The texts with the cue are fitted best, so their gradients are short: those that are wrongly labelled stand before
    them unless lengths are divided by.
    """
    rng = np.random.default_rng(0)
    plain = reviews(270, 3, 0.15)
    cued = [(f"zzz {text}", "good") for text, _ in reviews(30, 4, 0.0)]
    rows = [(plain + tuple(cued))[i] for i in rng.permutation(300)]
    held = np.array(["zzz" in text for text, _ in rows])
    model = fit(rows, Path(mkdtemp()) / "bag", decay=1e-4)
    traps = ["zzz film", "zzz the plot", "zzz music", "zzz script"]
    share: dict[tuple[str, bool], float] = {}
    for method, more in (("tracin", {}), ("influence_functions", {"damping": 2e-4})):
        for relative in (False, True):
            found = assay.explain(
                model, traps, method, train=rows, target="good", relative=relative, progress=False, **more
            )
            order = np.argsort(-np.mean([e.scores for e in found], axis=0))[:30]
            share[method, relative] = held[order].mean()
    for method in ("tracin", "influence_functions"):
        assert share[method, True] >= 0.9 > 0.3 >= share[method, False]


def test_representer_and_tracin_are_influence_without_the_curvature_of_the_loss() -> None:
    """At the optimum both are f' g / (2 decay), the influence function with the penalty's curvature alone.

    That is why they follow leaving out only where 2 decay is as large as the largest curvature of the loss.
    """
    model = fitted(decay=DECAY)
    representer = scores("representer_points", model, decay=DECAY, targets="labels")
    tracin = scores("tracin", model, rates=(1 / (2 * DECAY * len(TRAIN)),))
    np.testing.assert_allclose(representer, tracin, atol=1e-4 * np.abs(tracin).max())
    penalty_alone = scores("influence_functions", model, damping=1e6) * 1e6 / (2 * DECAY)
    np.testing.assert_allclose(penalty_alone, tracin, atol=1e-4 * np.abs(tracin).max())
    assert min(correlations(representer, left_out())) < 0.5


def test_trak_is_close() -> None:
    found = scores("trak", fitted(decay=DECAY), layers="head", project=1024)
    assert min(correlations(found, left_out())) >= 0.75


@pytest.mark.parametrize("method", ["influence_functions", "representer_points", "source", "tracin", "trak"])
def test_positive_pushed_toward_the_prediction(method: str) -> None:
    model = fitted(decay=DECAY)
    settings = {"layers": "head"} if method == "trak" else {}
    train = [*TRAIN, ("superb superb superb", "good"), ("superb superb superb", "bad")]
    (e,) = assay.explain(model, ["superb film"], method, train=train, progress=False, **settings)
    assert e.label == "good"
    if method != "representer_points":  # it fits what the model says of texts, and not their labels
        assert e.scores[-2] > 0 > e.scores[-1]
        assert e.away[0].label == "bad"
    assert e.toward[0].score > 0
    (other,) = assay.explain(model, ["superb film"], method, train=train, target="bad", progress=False, **settings)
    np.testing.assert_allclose(other.scores, -e.scores, rtol=1e-4, atol=1e-8)


def test_self_influence_is_high_for_wrong_labels(tmp_path: Path) -> None:
    rows = [*reviews(60, 1, 0.0)]
    wrong = [3, 17, 40]
    flipped = [(t, {"good": "bad", "bad": "good"}[y]) if i in wrong else (t, y) for i, (t, y) in enumerate(rows)]
    engine = Engine(fit(flipped, tmp_path / "bag", decay=0.003))
    for name, damping in (("influence_functions", {"damping": 0.01}), ("source", {"damping": 0.01}), ("tracin", {})):
        made: Any = find_method(name).make({"train": flipped, **damping})
        (outcome,) = engine.run([made.self_influence()])
        ranking = np.argsort(-outcome.get())
        assert set(wrong) <= set(ranking[:13].tolist()), name


def test_the_training_set_is_read_and_differentiated_once() -> None:
    model = fitted(decay=DECAY)
    one, *others = assay.explain(model, TEXTS, "influence_functions", train=TRAIN, progress=False)
    assert one.about.cost.backwards > len(TRAIN)
    assert all(e.about.cost.backwards <= 1 for e in others)


def test_bad_input_is_named_in_a_sentence() -> None:
    model = fitted(decay=DECAY)

    def fails(
        match: str, method: str = "tracin", error: type[Exception] = BadInput, of: Any = model, **settings: Any
    ) -> None:
        with pytest.raises(error, match=match):
            assay.explain(of, "a funny film", method, progress=False, **settings)

    for method in ("influence_functions", "representer_points", "tracin", "trak"):
        fails(f"{method} searches the texts that the model was trained on: give train=", method)
    fails("row 2 of .* has the label 'great'; .* has only: bad, good", train=[("a film", "good"), ("a plot", "great")])
    fails("needs a label", train=["a film", "a plot"])
    fails("there are no texts", train=[])
    fails("row 1 of .*: the text '' has no word", train=[("", "good")])
    fails(
        "there is no checkpoint of",
        error=Unanswerable,
        of=assay.load(tiny.bert()),
        train=[("a", "LABEL_0")],
        checkpoints=(3,),
    )
    fails(
        "has no checkpoint '3'",
        error=BadInput,
        of=fitted(decay=DECAY, steps=4, checkpoints=2),
        train=TRAIN,
        checkpoints=(3,),
    )
    fails("needs damping > 0", "influence_functions", train=TRAIN, damping=0.0)
    fails("neighbours is for solver=cg", "influence_functions", train=TRAIN, neighbours=5)
    fails("kept is the number", train=TRAIN, kept=0)
    fails("takes as many rates or one for all, not 2", train=TRAIN, checkpoints=(1, 2, 3), rates=(0.1, 0.2))
    box = assay.BlackBox(lambda texts: [0.5] * len(texts), labels=["bad", "good"])
    fails("asks for ParameterGradient and GradientProducts, which the model", error=Unanswerable, of=box, train=TRAIN)
    saved = str(TrainingSet.of(TRAIN))
    fails("only the size and the digest of this training set were written down", train=saved)


def test_a_checkpoint_of_another_model_is_refused(tmp_path: Path) -> None:
    rows = list(reviews())
    fit(rows, tmp_path / "bag", steps=4, checkpoints=2)
    other = [(text, {"good": "fine", "bad": "poor"}[label]) for text, label in rows]
    fit(other, tmp_path / "other", steps=4, checkpoints=2)
    for file in (tmp_path / "other" / "checkpoint-1").iterdir():
        (tmp_path / "bag" / "checkpoint-2" / file.name).write_bytes(file.read_bytes())
    with pytest.raises(BadInput, match="checkpoint:2 is of another model: its labels are fine, poor"):
        assay.explain(load(tmp_path / "bag"), "a funny film", "tracin", train=rows, checkpoints=(1, 2), progress=False)


def test_last_layer_features_are_the_counts() -> None:
    model: Any = fitted(decay=DECAY)
    states = Engine(model).ask(LastLayer([("superb superb film",)]))
    assert sorted(states[0][states[0] > 0].tolist()) == [1.0, 2.0]

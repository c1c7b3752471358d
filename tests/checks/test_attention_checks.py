"""The four tests on a tiny task: what they compare, by hand where possible; pairs, resuming, seeds, refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from sklearn.metrics import f1_score

import assay
from assay.checks.guided_mlp import ADVERSARY, BASE, TRAINED, UNIFORM, GuidedResult
from assay.checks.seed_variance import SeedResult
from assay.checks.trained_adversary import AdversaryResult, Curve, bend
from assay.checks.uniform_attention import UniformResult
from assay.engine.engine import Engine
from assay.errors import BadInput, UnknownName
from assay.registry.finding import checks, resolve_check
from assay.registry.parameters import parameters
from assay.registry.sample_task import ExaminesSample, examines_sample
from assay.statistics.f1_verdict import F1Verdict
from assay.statistics.scoring import Scored
from assay.text.sample import Sample
from assay.training.adversary import Opposed
from assay.training.attentive import attend
from attention_toys import columns, how, pairs, sentences

TRAIN, DEV, TEST = sentences(120), sentences(40, 1), sentences(50, 2)
QUIET: dict[str, Any] = {"progress": False}
NAMES = ("uniform_attention", "seed_variance", "guided_mlp", "trained_adversary")


@cache
def uniform() -> UniformResult:
    return assay.uniform_attention(TRAIN, DEV, TEST, how=how(3), seeds=(10, 3), **QUIET)


@cache
def seeds() -> SeedResult:
    return assay.seed_variance(TRAIN, DEV, TEST, how=how(2), seeds=(1, 2, 3), **QUIET)


@cache
def guided() -> GuidedResult:
    return assay.guided_mlp(TRAIN, DEV, TEST, how=how(3), epochs=4, **QUIET)


@cache
def adversary() -> AdversaryResult:
    return assay.trained_adversary(None, TRAIN, TEST, dev=DEV, how=how(3), lambdas=(0, 0.02, 1.0), epochs=8, **QUIET)


@cache
def trained(seed: int, epochs: int, attention: Any = "additive") -> Any:
    made = how(epochs, attention=attention)
    return attend(*columns(TRAIN), how=made, dev=columns(DEV), plan=replace(made.plan, seed=seed), **QUIET)


def attention(model: Any, text: str) -> Any:
    """By another way than the tests of attention read it: as an explanation."""
    return assay.explain(model, text, "attention", engine=Engine(model), progress=False).scores


# Uniform attention


def test_base_and_uniform_are_the_models_of_attend() -> None:
    texts, gold = columns(TEST)
    for kind, scored in (("additive", uniform().base), ("uniform", uniform().uniform)):
        for place, seed in enumerate((10, 3)):
            said = trained(seed, 3, kind).predict(texts).argmax(axis=1)
            assert scored.said[place].tolist() == said.tolist()
            f1 = f1_score(gold, np.take(scored.labels, said), pos_label="positive")
            assert scored.f1_by_seed[place] == pytest.approx(f1)
    found = uniform().difference
    assert found.value == pytest.approx(uniform().base.f1.value - uniform().uniform.f1.value)
    assert found.low <= found.value <= found.high


def test_the_distance_to_uniform_weights_by_hand() -> None:
    for i in (0, 9, 30):
        own = attention(trained(10, 3), TEST[i][0])
        even = np.full(len(own), 1 / len(own))
        assert uniform().jsd[0, i] == pytest.approx(jensenshannon(own, even) ** 2, abs=1e-5)


# Seed variance


def test_distances_to_other_seeds_by_hand() -> None:
    found, base = seeds(), trained(10, 2)
    texts, _ = columns(TEST)
    for place, seed in enumerate((1, 2, 3)):
        other = trained(seed, 2)
        said = base.predict(texts), other.predict(texts)
        assert found.tvd[place] == pytest.approx(np.abs(said[0] - said[1]).sum(axis=1) / 2, abs=1e-5)
        for i in (0, 5, 20):
            apart = jensenshannon(attention(base, texts[i]), attention(other, texts[i])) ** 2
            assert found.jsd[place, i] == pytest.approx(apart, abs=1e-5)
    assert found.highest[5] == pytest.approx(attention(base, texts[5]).max(), abs=1e-6)
    assert found.predicted.tolist() == base.predict(texts).argmax(axis=1).tolist()
    assert found.mean_jsd.value == pytest.approx(np.median(found.jsd, axis=0).mean())


def test_the_interval_of_seeds_that_differ_is_as_wide_as_they_are() -> None:
    """Many texts that agree say nothing of how far another seed would be."""
    jsd = np.repeat([[0.1], [0.2], [0.3]], 50, axis=1)
    said = np.zeros(50, dtype=np.int64)
    found = replace(seeds(), predicted=said, highest=jsd[0], tvd=jsd, jsd=jsd)
    assert (found.mean_jsd.value, found.mean_jsd.low, found.mean_jsd.high) == pytest.approx((0.2, 0.1, 0.3))
    assert found.mean_tvd.low < 0.15 < 0.25 < found.mean_tvd.high
    (row,) = found.by_class()
    assert row["jsd"] == found.mean_jsd
    alike = replace(found, jsd=jsd[[1, 1, 1]])
    assert (alike.mean_jsd.low, alike.mean_jsd.high) == pytest.approx((0.2, 0.2))


def test_classes_and_bins_part_the_texts() -> None:
    found = seeds()
    assert sum(row["texts"] for row in found.by_class()) == len(TEST)
    weighted = sum(row["texts"] * row["jsd"].value for row in found.by_class()) / len(TEST)
    assert weighted == pytest.approx(found.mean_jsd.value)
    assert sorted(np.concatenate([row["jsd"] for row in found.violins()])) == pytest.approx(sorted(found.median))
    assert [row["seed"] for row in found.by_seed()] == [1, 2, 3]


def test_bins_by_hand() -> None:
    base = seeds()
    found = SeedResult(
        labels=("a", "b"),
        predicted=np.array([0, 1, 0, 0, 1]),
        highest=np.array([0.2, 0.25, 0.3, 0.999, 1.0]),
        tvd=np.zeros((3, 5)),
        jsd=np.array([[0.1, 0.2, 0.3, 0.4, 0.5], [0.1, 0.3, 0.3, 0.4, 0.6], [0.0, 0.9, 0.3, 0.0, 0.6]]),
        scores=base.scores,
    )
    told = [(row["from"], row["label"], row["jsd"].tolist()) for row in found.violins()]
    assert told == [(0.0, "a", [0.1]), (0.25, "a", [0.3]), (0.25, "b", [0.3]), (0.75, "a", [0.4]), (0.75, "b", [0.6])]


def test_the_published_seeds_are_the_default() -> None:
    made = checks()["seed_variance"].make()
    assert (made.base_seed, made.seeds) == (10, (50, 257, 500231, 100078, 12504, 90754789, 8988812, 2))


# Guided MLP


def test_every_guide_has_its_model() -> None:
    found = guided()
    assert list(found.guides) == [UNIFORM, TRAINED, BASE, ADVERSARY]
    assert sorted(found.order) == sorted(found.guides)
    steps = found.steps()
    assert steps[BASE, TRAINED].value == pytest.approx(found.guides[BASE].f1.value - found.guides[TRAINED].f1.value)
    assert found.as_published == all(step.value > 0 for step in steps.values())
    assert list(assay.guided_mlp(TRAIN, DEV, TEST, how=how(1), adversary=None, **QUIET).guides) == [
        UNIFORM,
        TRAINED,
        BASE,
    ]


def test_mlps_of_uniform_and_learned_weights_are_those_of_attend() -> None:
    texts, _ = columns(TEST)
    for kind, name in (("uniform", UNIFORM), ("additive", TRAINED)):
        model = attend(*columns(TRAIN), how=how(3, encoder="average", attention=kind), dev=columns(DEV), **QUIET)
        assert guided().guides[name].said[0].tolist() == model.predict(texts).argmax(axis=1).tolist()


def test_a_base_that_looks_at_the_word_guides_well() -> None:
    """The base learns the task, so its attention on new texts lets the MLP learn it too."""
    found = assay.guided_mlp(sentences(200), DEV, TEST, how=how(8), adversary=None, **QUIET)
    assert found.guides[BASE].f1.value > 0.95


# Trained adversary


def test_the_curve_rises_with_lambda() -> None:
    far = adversary().curve.jsd.mean(axis=1)
    assert far[0] < far[1] < far[2]
    assert adversary().curve.jsd.max() <= log(2)
    assert adversary().curve.tvd[0].mean() < 0.1
    assert np.isfinite(adversary().curve.tvd).all()


def test_classes_are_those_of_the_base() -> None:
    found, base = adversary(), trained(10, 3)
    assert found.predicted.tolist() == base.predict(columns(TEST)[0]).argmax(axis=1).tolist()
    sizes = {name: curve.jsd.shape[1] for name, curve in found.by_class().items()}
    assert sum(sizes.values()) == len(TEST)
    for i, name in enumerate(found.base.labels):
        assert found.by_class()[name].jsd.tolist() == found.curve.jsd[:, found.predicted == i].tolist()
    assert set(found.to_frame()["texts"]) == {"all", *sizes}


def test_the_best_far_adversary() -> None:
    far = [row for row in adversary().table() if row["jsd"].value > 0.3]
    best = adversary().best(0.3)
    assert best is not None
    assert best["f1"].value == max(row["f1"].value for row in far)
    assert adversary().best(0.7) is None


def test_the_bend_by_hand() -> None:
    """A triangle under its chord: from (0, 0) over (1, 0) to (2, 2) the chord is half a unit higher on average."""
    x = np.array([[0.0, 1.0, 2.0]])
    assert bend(x, np.array([[0.0, 0.0, 2.0]])).tolist() == pytest.approx([0.5])
    assert bend(x, np.array([[0.0, 2.0, 2.0]])).tolist() == pytest.approx([-0.5])
    assert bend(x, np.array([[0.0, 1.0, 2.0]])).tolist() == pytest.approx([0.0])
    assert bend(np.zeros((1, 3)), np.array([[0.0, 2.0, 2.0]])).tolist() == [0.0]


@pytest.mark.parametrize(("middle", "shape"), [(0.02, "convex"), (0.18, "concave"), (0.1, "undecided")])
def test_the_shape_of_a_curve(middle: float, shape: str) -> None:
    """Points given in another order than that of their JSD; noise of texts around them."""
    rng = np.random.default_rng(0)
    tvd = np.array([[0.2], [0.0], [middle]]) + rng.normal(0, 0.05, (3, 400))
    jsd = np.array([[0.6], [0.0], [0.3]]) + rng.normal(0, 0.05, (3, 400))
    assert Curve(tvd, jsd).shape == shape
    assert Curve(tvd[:2], jsd[:2]).shape == "undecided", "two points have no shape"


def test_the_epoch_may_be_chosen_by_dev_or_test() -> None:
    for choose in ("dev", "test"):
        found = assay.trained_adversary(
            trained(10, 3), TRAIN, TEST, dev=DEV, how=how(1), lambdas=(0.1,), epochs=2, choose=choose, **QUIET
        )
        assert found.curve.jsd.shape == (1, len(TEST))
    with pytest.raises(BadInput, match="texts of dev"):
        assay.trained_adversary(trained(10, 3), TRAIN, TEST, choose="dev")


def test_adversaries_are_made_like_the_base(tmp_path: Path) -> None:
    other: Any = attend(*columns(TRAIN), how=how(1, encoder="cnn", attention="dot"), **QUIET)
    assay.trained_adversary(other, TRAIN, TEST, how=how(1), lambdas=(0.1,), epochs=1, out=tmp_path, **QUIET)
    (place,) = (path for path in tmp_path.iterdir() if path.is_dir())
    config: Any = assay.load(place).model.config
    assert (config.encoder, config.attention, config.hidden_size) == ("cnn", "dot", 8)


# All of them


@pytest.mark.parametrize("made", [uniform, seeds, guided, adversary])
def test_results_go_there_and_back(made: Any) -> None:
    result = made()
    again = type(result).from_dict(json.loads(json.dumps(result.to_dict())))
    assert str(again) == str(result)
    assert again.to_dict() == result.to_dict()


def test_the_same_call_is_the_same_result() -> None:
    again = assay.uniform_attention(TRAIN, DEV, TEST, how=how(3), seeds=(10, 3), **QUIET)
    assert again.to_dict() == uniform().to_dict()


def trainings(place: Path) -> list[str]:
    """What each model in a directory was trained to be."""
    files = [path / "training.json" for path in place.iterdir() if path.is_dir()]
    told = [json.loads(file.read_text()) for file in files]
    return sorted(f"{one['encoder']} {one['attention']} {one.get('guide', one.get('base', ''))[:8]}" for one in told)


def test_tests_share_their_models_and_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = {"how": how(1), "out": tmp_path, **QUIET}
    one = assay.uniform_attention(TRAIN, DEV, TEST, **run)
    assert trainings(tmp_path) == ["lstm additive ", "lstm uniform "]
    assay.trained_adversary(None, TRAIN, TEST, dev=DEV, lambdas=(0.1,), epochs=1, **run)
    assert trainings(tmp_path) == ["lstm additive ", "lstm additive @trained", "lstm uniform "]
    two = assay.guided_mlp(TRAIN, DEV, TEST, adversary=0.1, epochs=1, **run)
    guided = ["average additive ", "average uniform ", "average uniform @trained", "average uniform @trained"]
    assert trainings(tmp_path) == [*guided, "lstm additive ", "lstm additive @trained", "lstm uniform "]

    def never(*args: Any, **settings: Any) -> None:
        raise AssertionError("nothing is trained again")

    with monkeypatch.context() as patched:
        patched.setattr("assay.training.attentive.fit", never)
        assert assay.uniform_attention(TRAIN, DEV, TEST, **run).to_dict() == one.to_dict()
        assert assay.guided_mlp(TRAIN, DEV, TEST, adversary=0.1, epochs=1, **run).to_dict() == two.to_dict()
    assay.uniform_attention(TRAIN[2:], DEV, TEST, **run)
    assert len(trainings(tmp_path)) == 9, "other texts are other models"


def test_a_killed_test_goes_on_after_its_last_epoch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed in the second of two adversaries: the base and the first one are there, the second goes on."""
    settings = {"dev": DEV, "how": how(2), "lambdas": (0.0, 0.1), "epochs": 3, **QUIET}
    whole = assay.trained_adversary(None, TRAIN, TEST, **settings)
    real, steps = Opposed.loss, []

    def dies(self: Opposed, chosen: Any) -> Any:
        steps.append(self.penalty)
        if steps.count(0.1) > 12:  # in its second epoch of eight batches
            raise KeyboardInterrupt
        return real(self, chosen)

    monkeypatch.setattr(Opposed, "loss", dies)
    with pytest.raises(KeyboardInterrupt):
        assay.trained_adversary(None, TRAIN, TEST, out=tmp_path, **settings)
    assert len(trainings(tmp_path)) == 2
    monkeypatch.setattr(Opposed, "loss", lambda self, chosen: steps.append(self.penalty) or real(self, chosen))
    steps.clear()
    again = assay.trained_adversary(None, TRAIN, TEST, out=tmp_path, **settings)
    assert steps == [0.1] * 16, "two epochs of eight batches are left"
    assert again.curve.tvd == pytest.approx(whole.curve.tvd, abs=1e-5)


@pytest.mark.parametrize("made", [uniform, seeds, guided, adversary])
def test_verdicts_are_against_something(made: Any) -> None:
    for verdict in made().verdicts():
        assert verdict.method == "attention"
        assert verdict.check in NAMES
        assert verdict.interval[0] <= verdict.difference <= verdict.interval[1]
        assert 0 < verdict.p_value <= 1
        json.dumps(verdict.to_dict())


def test_the_verdict_on_f1_is_the_paired_difference() -> None:
    (verdict,) = uniform().verdicts()
    found = uniform().difference
    assert (verdict.difference, *verdict.interval) == pytest.approx((found.value, found.low, found.high))
    assert (verdict.to_dict()["texts"], verdict.to_dict()["models"]) == (len(TEST), 2)
    best = Scored(("a", "b"), np.array([0, 1] * 40), np.array([[0, 1] * 40]))
    worst = Scored(("a", "b"), best.gold, 1 - best.said)
    assert F1Verdict.of("attention", "guided_mlp", best, worst).better_than_random
    assert F1Verdict.of("attention", "guided_mlp", worst, best).worse_than_random
    assert not F1Verdict.of("attention", "guided_mlp", best, best).better_than_random


def test_chance_is_the_same_weights_in_another_order() -> None:
    """Each text's weights reordered by hand lie as far from the base, on average, as the random ones say."""
    base, other = trained(10, 2), trained(1, 2)
    texts, rng = columns(TEST)[0], np.random.default_rng(3)
    found = assay.seed_variance(TRAIN, DEV, TEST, how=how(2), seeds=(1,), **QUIET)
    far = []
    for text in texts:
        own, moved = attention(base, text), attention(other, text)
        far.append([jensenshannon(own, rng.permutation(moved)) ** 2 for _ in range(100)])
    assert found.shuffled_jsd.shape == (len(TEST), 4)
    assert found.shuffled_jsd.mean() == pytest.approx(np.mean(far), rel=0.1)
    (verdict,) = found.verdicts()
    assert verdict.scores.tolist() == found.median.tolist()


def test_they_are_checks_like_any_other(tmp_path: Path) -> None:
    made = checks()["uniform_attention"].make({"seeds": (10, 3), "recipe": how(3)})
    (verdict,) = assay.check(None, TRAIN, [], [made], dev=DEV, test=TEST, out=tmp_path, progress=False)
    assert verdict.to_dict() == uniform().verdicts()[0].to_dict()
    (again,) = assay.check(None, TRAIN, ["attention"], [made], dev=DEV, test=TEST, out=tmp_path, progress=False)
    assert again.to_dict() == verdict.to_dict()
    with pytest.raises(BadInput, match="says nothing about lime"):
        assay.check(None, TRAIN, ["lime"], [made], dev=DEV, test=TEST, progress=False)


def test_dev_and_test_are_set_aside_where_they_are_not_given() -> None:
    made = checks()["uniform_attention"].make({"recipe": how(1)})
    parts = Sample.of(TRAIN, name="train").split({"train": 0.7, "dev": 0.1, "test": 0.2})
    (verdict,) = assay.check(None, TRAIN, [], [made], progress=False)
    expected = assay.uniform_attention(parts["train"], parts["dev"], parts["test"], how=how(1), **QUIET)
    assert verdict.to_dict() == expected.verdicts()[0].to_dict()


def test_results_of_earlier_versions_are_read() -> None:
    for made in (seeds, adversary):
        old = {name: value for name, value in made().to_dict().items() if name != "shuffled_jsd"}
        assert str(type(made()).from_dict(old)) == str(made())


def test_pairs() -> None:
    train, test = pairs(80), pairs(30, 4)
    run = {"how": how(1), **QUIET}
    found = assay.uniform_attention(train, None, test, **run)
    assert found.jsd.max() <= log(2)
    assert assay.seed_variance(train, None, test, seeds=(1,), **run).jsd.shape == (1, 30)
    assert len(assay.guided_mlp(train, None, test, epochs=1, **run).guides) == 4
    far = assay.trained_adversary(None, train, test, lambdas=(5.0,), epochs=8, **run)
    assert np.isfinite(far.curve.tvd).all()
    assert far.curve.jsd.mean() > 0.1


def test_more_than_two_labels() -> None:
    train = [(text, label if i % 3 else "odd") for i, (text, label) in enumerate(TRAIN)]
    found = assay.trained_adversary(None, train, train[:30], how=how(1), lambdas=(0.0,), epochs=1, **QUIET)
    assert len(found.base.labels) == 3
    assert 0 <= found.base.f1.value <= 1


def test_what_has_no_attention_to_test_is_refused() -> None:
    with pytest.raises(BadInput, match="never learned"):
        assay.uniform_attention(TRAIN, DEV, TEST, how=how(1, attention="uniform"))
    with pytest.raises(BadInput, match="never learned"):
        assay.trained_adversary(trained(10, 3, "uniform"), TRAIN, TEST, how=how(1))
    with pytest.raises(BadInput, match="no attentive model"):
        assay.trained_adversary(lambda texts: np.full(len(texts), 0.5), TRAIN, TEST, how=how(1))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("uniform_attention", {"seeds": ()}),
        ("uniform_attention", {"seeds": (1, 1)}),
        ("seed_variance", {"seeds": ()}),
        ("seed_variance", {"seeds": (10,)}),
        ("guided_mlp", {"adversary": -1.0}),
        ("guided_mlp", {"epochs": 0}),
        ("trained_adversary", {"lambdas": ()}),
        ("trained_adversary", {"lambdas": (0.1, 0.1)}),
        ("trained_adversary", {"lambdas": (float("nan"),)}),
        ("trained_adversary", {"patience": 0}),
        ("trained_adversary", {"choose": "luck"}),
    ],
)
def test_settings_without_sense_are_refused(name: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        checks()[name].make(wrong)


@pytest.mark.parametrize("name", NAMES)
def test_the_cards(name: str) -> None:
    card = checks()[name]
    made = card.make()
    assert isinstance(made, ExaminesSample)
    assert examines_sample(card)
    assert card.make(json.loads(json.dumps(parameters(made)))) == made
    with pytest.raises(BadInput, match=f"{name} is a test on a whole labelled sample"):
        resolve_check(name)


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_setting_is_named(name: str) -> None:
    data = (None, TRAIN, TEST) if name == "trained_adversary" else (TRAIN, DEV, TEST)
    with pytest.raises(UnknownName, match=f"no parameter of {name} is called 'no_such'"):
        getattr(assay, name)(*data, no_such=1)

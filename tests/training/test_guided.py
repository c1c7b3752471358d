"""Training under given attention and against it: distances by hand, the loss by a slow loop, edges, seeds, resuming."""

from __future__ import annotations

from dataclasses import replace
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.models import TextModel
from assay.questions.inside import Attention
from assay.questions.interventions import InterveneAttention
from assay.statistics.arrays import Floats
from assay.text.text import Text
from assay.training import attentive
from assay.training.adversary import Opposed, kl, oppose
from assay.training.attention_reading import observed, padded
from assay.training.attentive import attend, prepared
from assay.training.batches import Rows
from assay.training.guided import guide
from assay.training.observed import Observed, apart, jsd, tvd
from attention_toys import BAD, GOOD, columns, how, sentences

TEXTS, LABELS = columns(sentences(120))


@pytest.fixture(scope="module")
def base() -> TextModel:
    return attend(TEXTS, LABELS, how=how(4), progress=False)


@pytest.fixture(scope="module")
def seen(base: TextModel) -> Observed:
    return observed(base, TEXTS)


# Distances


def test_distances_by_hand() -> None:
    assert tvd(np.array([[0.9, 0.1]]), np.array([[0.6, 0.4]])).tolist() == pytest.approx([0.3])
    assert tvd(np.array([[0.5, 0.5, 0.0]]), np.array([[0.0, 0.5, 0.5]])).tolist() == pytest.approx([0.5])
    p, q = np.array([0.0, 0.5, 0.5, 0.0]), np.array([0.0, 0.25, 0.75, 0.0])
    middle = 0.5 * (0.5 * log(0.5 / 0.375) + 0.5 * log(0.5 / 0.625))
    middle += 0.5 * (0.25 * log(0.25 / 0.375) + 0.75 * log(0.75 / 0.625))
    assert jsd([p], [q]).tolist() == pytest.approx([middle])
    away = kl(torch.tensor(p), torch.tensor(q))
    assert float(away) == pytest.approx(0.5 * log(2) + 0.5 * log(2 / 3))


def test_attention_on_different_words_is_ln_2_apart() -> None:
    found = jsd([np.array([0.0, 1.0, 0.0, 0.0])], [np.array([0.0, 0.0, 1.0, 0.0])])
    assert found.tolist() == [log(2)]


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=9))
def test_jsd_is_that_of_scipy_and_bounded(rows: list[tuple[float, float]]) -> None:
    table = np.array([(0.0, 0.0), (1.0, 0.5), *rows, (0.0, 0.0)]).T
    p, q = table / table.sum(axis=1, keepdims=True)
    (found,) = jsd([p], [q])
    assert found == pytest.approx(jensenshannon(p, q) ** 2, abs=1e-12)
    assert 0 <= found <= log(2)


def test_exact_zeros_give_no_nan_and_no_gradient() -> None:
    p = torch.tensor([0.0, 0.7, 0.3, 0.0, 0.0], requires_grad=True)
    q = torch.tensor([0.0, 1.0, 0.0, 0.0, 0.0])  # the base has underflowed where the adversary looks
    value = kl(p, q)
    value.backward()
    assert torch.isfinite(value)
    assert p.grad is not None
    assert torch.isfinite(p.grad).all()
    assert p.grad[[0, 3, 4]].tolist() == [0, 0, 0]
    assert value.item() == pytest.approx(0.7 * log(0.7) + 0.3 * (log(0.3) - log(torch.finfo(torch.float32).tiny)), 1e-5)


# Reading a model


def test_observed_is_what_the_engine_answers(base: TextModel, seen: Observed) -> None:
    engine = Engine(base)
    assert seen.chances == pytest.approx(base.predict(TEXTS), abs=1e-6)
    for i in (0, 7, 50):
        maps = engine.ask(Attention(Text.of(TEXTS[i])))
        assert seen.weights[i] == pytest.approx(maps.weights[0, 0, 0], abs=1e-6)
    assert all(one[0] == one[-1] == 0 and one.sum() == pytest.approx(1) for one in seen.weights)


def test_the_company_does_not_matter(base: TextModel, seen: Observed) -> None:
    for i in (3, 4, 11):
        alone = observed(base, [TEXTS[i]])
        assert alone.chances[0] == pytest.approx(seen.chances[i], abs=1e-6)
        assert alone.weights[0] == pytest.approx(seen.weights[i], abs=1e-6)


def test_uniform_attention_is_exactly_even() -> None:
    model: Any = attend(TEXTS, LABELS, how=how(1, attention="uniform"), progress=False)
    for text, weights in zip(TEXTS, observed(model, TEXTS).weights, strict=True):
        n = len(text.split())
        assert weights == pytest.approx([0, *[1 / n] * n, 0], abs=1e-12)
    inputs = model.tokenizer(TEXTS[:9], padding=True, return_tensors="pt")
    (used,) = model.model(**inputs, output_attentions=True).attentions
    words = inputs["attention_mask"].sum(1) - 2
    places = torch.arange(used.shape[1])
    inside = (places > 0) & (places <= words[:, None])
    assert (used[~inside] == 0).all()
    assert torch.equal(used[inside], (1 / words[:, None]).expand_as(used)[inside])


def test_imposed_weights_are_the_ones_that_are_used(base: TextModel, seen: Observed) -> None:
    rng, engine = np.random.default_rng(0), Engine(base)
    given_to = [_drawn(rng, len(one)) for one in seen.weights]
    under = observed(base, TEXTS, given_to)
    assert under.weights == tuple(given_to)
    for i in range(0, len(TEXTS), 17):
        said = engine.ask(InterveneAttention(Text.of(TEXTS[i]), given_to[i][1:-1])).probabilities[0]
        assert under.chances[i] == pytest.approx(said, abs=1e-6)
    assert np.abs(under.chances - seen.chances).max() > 0.01
    assert observed(base, TEXTS, seen.weights).chances == pytest.approx(seen.chances, abs=1e-6)


def _drawn(rng: np.random.Generator, length: int) -> Floats:
    return np.array([0.0, *rng.dirichlet(np.ones(length - 2)), 0.0])


def test_weights_of_other_texts_are_refused(base: TextModel, seen: Observed) -> None:
    with pytest.raises(BadInput, match="other tokens"):
        observed(base, [text + " film" for text in TEXTS], seen.weights)
    with pytest.raises(BadInput, match="other tokens"):
        guide((TEXTS[1:], LABELS[1:]), seen, how=how(1), progress=False)


def test_only_attentive_models_are_read() -> None:
    with pytest.raises(BadInput, match="no attentive model"):
        observed(assay.BlackBox(lambda texts: np.full(len(texts), 0.5), labels=["a", "b"]), TEXTS)


# Guided


def test_a_guide_that_shows_the_word_is_learned_and_one_that_hides_it_is_not() -> None:
    tell = {*GOOD, *BAD}
    shown = [np.array([0, *(w in tell for w in text.split()), 0], dtype=float) for text in TEXTS]
    hidden = [np.array([0, *(w not in tell for w in text.split()), 0], dtype=float) for text in TEXTS]
    found = []
    for weights in (shown, hidden):
        even = tuple(one / one.sum() for one in weights)
        guides = Observed((), np.empty(0), even, "guide")
        model = guide((TEXTS, LABELS), guides, how=how(5, encoder="average"), progress=False)
        said = observed(model, TEXTS, even)
        found.append(np.mean([model.labels[i] == label for i, label in zip(said.predicted, LABELS, strict=True)]))
    assert found[0] == 1.0
    assert found[1] < 0.8


def test_guided_training_is_a_slow_loop(seen: Observed) -> None:
    """One batch of all texts, one epoch: one step of Adam, done by hand, text by text without padding."""
    once = how(1, encoder="average")
    once = replace(once, batch=len(TEXTS), plan=replace(once.plan, decay=0.0))
    model: Any = guide((TEXTS, LABELS), seen, how=once, progress=False)
    ready = prepared(replace(once, attention="uniform"), [(text,) for text in TEXTS], LABELS)
    network = ready.network.train()
    step = torch.optim.Adam(network.parameters(), lr=0.02, amsgrad=True)
    loss = torch.zeros(())
    for text, label, weights in zip(TEXTS, LABELS, seen.weights, strict=True):
        ids = torch.tensor([ready.rows.tokenizer(text)["input_ids"]])
        states = network.encoder.projection(network.embedding(ids)[0]).tanh()
        told = network.projection(torch.tensor(weights, dtype=torch.float32) @ states)
        cost = LABELS.count("negative") / LABELS.count("positive") if label == "positive" else 1.0
        loss = loss - cost * torch.nn.functional.logsigmoid(told if label == "positive" else -told).sum()
    loss.backward()
    step.step()
    for name, tensor in network.state_dict().items():
        assert torch.allclose(tensor, model.model.state_dict()[name], atol=1e-4), name


def test_dev_needs_a_guide(seen: Observed) -> None:
    with pytest.raises(BadInput, match="dev_guides"):
        guide((TEXTS, LABELS), seen, how=how(1), dev=(TEXTS, LABELS), progress=False)


# Opposed


def slow_loss(base: Any, other: Any, texts: list[str], penalty: float) -> float:
    """Text by text, over words only, with plain sums."""
    total = 0.0
    for text in texts:
        (y, a), (z, b) = (_alone(model, text) for model in (other, base))
        total += 0.5 * sum(abs(p - q) for p, q in zip(y, z, strict=True))
        total -= penalty * sum(p * log(p / q) for p, q in zip(a, b, strict=True))
    return total


def _alone(model: Any, text: str) -> tuple[list[float], list[float]]:
    with torch.no_grad():
        told = model.model(**model.tokenizer(text, return_tensors="pt"), output_attentions=True)
    return told.logits[0].double().softmax(0).tolist(), told.attentions[0][0, 1:-1].double().tolist()


@pytest.mark.parametrize("penalty", [0.0, 0.001, 0.5])
def test_the_loss_of_the_adversary_is_a_slow_loop(base: Any, seen: Observed, penalty: float) -> None:
    other: Any = attend(TEXTS, LABELS, how=how(1, balanced=False), progress=False)
    rows = _rows(other)
    opposed = Opposed(other.model, rows, seen, seen.under(other.labels), penalty)
    chosen = list(range(0, 120, 3))
    with torch.no_grad():
        found = float(opposed.loss(chosen))
    assert found == pytest.approx(slow_loss(base, other, [TEXTS[i] for i in chosen], penalty), rel=1e-4, abs=1e-5)
    assert opposed.whole() == pytest.approx(slow_loss(base, other, TEXTS, penalty), rel=1e-4, abs=1e-5)


def test_the_released_loss_is_scaled_by_the_costs_of_the_labels(seen: Observed, base: Any) -> None:
    other: Any = attend(TEXTS, LABELS, how=how(1, balanced=False), progress=False)
    plain = Opposed(other.model, _rows(other), seen, seen.chances, 0.1)
    scaled = replace(plain, costs=torch.tensor([1.0, 3.0]))
    chosen = [0, 1, 3]  # one negative text, two positive ones
    assert scaled.loss(chosen).item() == pytest.approx(7 * plain.loss(chosen).item(), rel=1e-5)


def _rows(model: Any) -> Rows:
    return Rows.of([(text,) for text in TEXTS], [model.labels.index(label) for label in LABELS], model.tokenizer, 100)


def test_labels_are_compared_by_name(seen: Observed) -> None:
    turned = Observed(seen.labels[::-1], seen.chances[:, ::-1], seen.weights)
    assert apart(seen, turned).tvd.max() == 0
    with pytest.raises(BadInput, match="different labels"):
        apart(seen, replace(turned, labels=("no", "yes")))


def test_without_penalty_the_adversary_says_the_same(seen: Observed) -> None:
    untrained = oppose((TEXTS, LABELS), seen, 0.0, how=how(1), progress=False)
    model = oppose((TEXTS, LABELS), seen, 0.0, how=how(15), progress=False)
    before, after = (apart(seen, observed(one, TEXTS)).tvd.mean() for one in (untrained, model))
    assert after < 0.05
    assert after < before / 2


def test_a_larger_lambda_looks_farther_away(seen: Observed) -> None:
    far = [
        apart(seen, observed(oppose((TEXTS, LABELS), seen, value, how=how(10), progress=False), TEXTS)).jsd.mean()
        for value in (0.0, 0.02, 1.0)
    ]
    assert far[0] < far[1] < far[2] <= log(2)
    assert far[2] > 0.4


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """How each training went."""
    told: list[Any] = []
    real = attentive.fit
    monkeypatch.setattr(attentive, "fit", lambda *a, **k: told.append(real(*a, **k)))
    return told


def test_the_epoch_is_chosen_by_other_texts(base: TextModel, seen: Observed, fits: list[Any]) -> None:
    texts, labels = columns(sentences(60, seed=5))
    there = observed(base, texts)
    rash = how(6)
    rash = replace(rash, plan=replace(rash.plan, rate=0.1))  # so that the last epoch is not the best
    kept = oppose((TEXTS, LABELS), seen, 0.0, how=rash, other=(texts, labels), other_base=there, progress=False)
    (fitted,) = fits
    assert fitted.best < 6
    assert slow_loss(base, kept, texts, 0.0) == pytest.approx(-max(fitted.scores), rel=1e-3)
    with pytest.raises(BadInput, match="what the base says"):
        oppose((TEXTS, LABELS), seen, 0.2, other=(texts, labels))


def test_patience_ends_the_training(seen: Observed, fits: list[Any]) -> None:
    weary = how(40)
    weary = replace(weary, plan=replace(weary.plan, patience=1, rate=0.2))
    oppose((TEXTS, LABELS), seen, 0.0, how=weary, progress=False)
    (fitted,) = fits
    assert fitted.epochs < 40
    assert fitted.epochs == fitted.best + 1
    batches = -(-len(TEXTS) // 16)
    assert [-score / batches for score in fitted.scores] == pytest.approx(fitted.losses), "chosen by training loss"


@pytest.mark.parametrize("wrong", [-0.1, float("nan"), float("inf")])
def test_a_lambda_without_sense_is_refused(seen: Observed, wrong: float) -> None:
    with pytest.raises(BadInput, match="lambda"):
        oppose((TEXTS, LABELS), seen, wrong, how=how(1))


# Seeds and resuming


def test_the_same_seed_gives_the_same_model(seen: Observed) -> None:
    one, two = (oppose((TEXTS, LABELS), seen, 0.1, how=how(2), progress=False) for _ in range(2))
    other = oppose((TEXTS, LABELS), seen, 0.1, how=replace(how(2), plan=replace(how(2).plan, seed=3)), progress=False)
    a, b, c = (observed(model, TEXTS).chances for model in (one, two, other))
    assert (a == b).all()
    assert np.abs(a - c).max() > 1e-3


def test_global_generators_are_left_alone(seen: Observed) -> None:
    before = torch.get_rng_state(), repr(np.random.get_state())
    oppose((TEXTS, LABELS), seen, 0.1, how=how(1), progress=False)
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1] == repr(np.random.get_state())


def test_an_interrupted_adversary_goes_on(seen: Observed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = oppose((TEXTS, LABELS), seen, 0.1, how=how(4), progress=False)
    real, calls = Opposed.loss, []

    def dies(self: Opposed, chosen: Any) -> Any:
        calls.append(chosen)
        if len(calls) > 20:  # in the third epoch of eight batches
            raise KeyboardInterrupt
        return real(self, chosen)

    monkeypatch.setattr(Opposed, "loss", dies)
    with pytest.raises(KeyboardInterrupt):
        oppose((TEXTS, LABELS), seen, 0.1, how=how(4), out=tmp_path / "model", progress=False)
    monkeypatch.setattr(Opposed, "loss", real)
    resumed = oppose((TEXTS, LABELS), seen, 0.1, how=how(4), out=tmp_path / "model", progress=False)
    assert (observed(resumed, TEXTS).chances == observed(whole, TEXTS).chances).all()
    monkeypatch.setattr(Opposed, "loss", dies)
    loaded = oppose((TEXTS, LABELS), seen, 0.1, how=how(4), out=tmp_path / "model", progress=False)
    assert observed(loaded, TEXTS).source == observed(whole, TEXTS).source
    with pytest.raises(BadInput, match="another training"):
        oppose((TEXTS, LABELS), seen, 0.2, how=how(4), out=tmp_path / "model", progress=False)


def test_another_guide_is_another_training(base: TextModel, seen: Observed, tmp_path: Path) -> None:
    guide((TEXTS, LABELS), seen, how=how(1), out=tmp_path / "model", progress=False)
    again = guide((TEXTS, LABELS), observed(base, TEXTS), how=how(1), out=tmp_path / "model", progress=False)
    assert again.labels == base.labels
    with pytest.raises(BadInput, match="another training"):
        guide((TEXTS, LABELS), replace(seen, source="other"), how=how(1), out=tmp_path / "model", progress=False)


def test_padding_is_zero(seen: Observed) -> None:
    chosen = [0, 5, 9]
    table = padded(seen.weights, chosen, "cpu")
    assert table.shape[1] == max(len(seen.weights[i]) for i in chosen)
    for row, i in zip(table, chosen, strict=True):
        assert (row[len(seen.weights[i]) :] == 0).all()

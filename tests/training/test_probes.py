"""Probes beside scikit-learn and closed forms: scores, the mix of layers, and bits that are bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch.distributions import Normal, kl_divergence

from assay.storage.state_file import StateFile
from assay.training.probes import Instances, Probe, ProbePlan, _Gaussian, description_length, fit

RNG = np.random.default_rng(0)


def planted(n: int = 600, size: int = 8, classes: int = 3, strength: float = 1.5) -> tuple[Instances, Instances]:
    """Vectors whose first directions say the label; training and test."""
    labels = RNG.integers(classes, size=2 * n)
    states = RNG.normal(size=(2 * n, size)).astype(np.float32)
    states[np.arange(2 * n), labels] += strength
    rows = np.arange(2 * n)[:, None]
    return Instances([states], rows[:n], labels[:n]), Instances([states], rows[n:], labels[n:])


def plan(classes: int = 3, **settings: Any) -> ProbePlan:
    return ProbePlan(classes=classes, **{"steps": 600, **settings})


def test_a_linear_probe_is_a_logistic_regression() -> None:
    train, test = planted()
    probe = fit(train, plan(steps=1500))
    mean, spread = train.scaled(0).scale or (None, None)
    assert mean is not None
    assert spread is not None
    x, y = ((given.at(np.arange(len(given)))[:, 0] - mean[0]) / spread[0] for given in (train, test))
    theirs = LogisticRegression(C=1.0, max_iter=2000).fit(x.numpy(), train.labels)
    bits, said = probe.answers(test)
    expected = -theirs.predict_log_proba(y.numpy())[np.arange(len(test)), test.labels] / np.log(2)
    assert (said == theirs.predict(y.numpy())).mean() > 0.99
    np.testing.assert_allclose(bits, expected, atol=0.15)
    assert (said == test.labels).mean() > 0.6


def test_pairs_of_words_stand_side_by_side() -> None:
    states = np.arange(12, dtype=np.float32).reshape(4, 3)
    pairs = Instances([states], np.array([[0, 2], [3, 1]]), np.array([0, 1]))
    np.testing.assert_array_equal(pairs.at(np.array([1]))[0, 0], [9, 10, 11, 3, 4, 5])


def test_only_the_larger_probe_learns_what_no_line_parts() -> None:
    states = RNG.choice([-1.0, 1.0], size=(800, 2)).astype(np.float32)
    labels = (states.prod(axis=1) > 0).astype(np.int64)
    given = Instances([states + RNG.normal(size=(800, 2)).astype(np.float32) * 0.1], np.arange(800)[:, None], labels)
    right = {kind: (fit(given, plan(2, kind=kind)).answers(given)[1] == labels).mean() for kind in ("linear", "mlp")}
    assert right["linear"] < 0.65
    assert right["mlp"] > 0.95


def test_the_mix_finds_the_layer_that_knows() -> None:
    train, _ = planted()
    noise = [RNG.normal(size=train.layers[0].shape).astype(np.float32) for _ in range(2)]
    layers = [noise[0], train.layers[0], noise[1]]
    probe = fit(Instances(layers, train.rows, train.labels), plan(steps=800))
    assert probe.mix[1] > 0.6
    assert sum(probe.mix) == pytest.approx(1)


def test_the_mix_is_equation_23() -> None:
    layers = [RNG.normal(size=(20, 4)).astype(np.float32) for _ in range(3)]
    given = Instances(layers, np.arange(20)[:, None], RNG.integers(2, size=20))
    probe = Probe(given, plan(2))
    with torch.no_grad():
        probe.weights.copy_(torch.tensor([0.1, 0.7, -0.3]))
        probe.gamma.fill_(1.7)
        found = probe(given.at(np.arange(20))).numpy()
    s = np.exp([0.1, 0.7, -0.3]) / np.exp([0.1, 0.7, -0.3]).sum()
    standard = [(layer - layer.mean(axis=0)) / layer.std(axis=0) for layer in layers]
    z = 1.7 * sum(weight * layer for weight, layer in zip(s, standard, strict=True))
    np.testing.assert_allclose(found, z @ probe.matrices[0].detach().numpy().T, atol=1e-4)


@pytest.mark.parametrize("code", ["online", "variational"])
def test_random_labels_cannot_be_compressed(code: Any) -> None:
    train, _ = planted(n=400)
    random = Instances(train.layers, train.rows, RNG.integers(3, size=400))
    uniform = 400 * np.log2(3)
    assert description_length(random, plan(steps=100), code) > 0.98 * uniform
    assert description_length(planted(400, strength=4)[0], plan(steps=300), code) < 0.6 * uniform


def test_the_online_code_is_the_sum_of_its_portions_in_bits() -> None:
    """Vectors that say nothing: every portion is coded by the frequencies of those before, which a loop can do."""
    labels = (RNG.random(1000) < 0.2).astype(np.int64)
    given = Instances([np.zeros((1000, 2), dtype=np.float32)], np.arange(1000)[:, None], labels)
    found = description_length(given, plan(2, steps=300), "online")
    entropy = -(labels.mean() * np.log2(labels.mean()) + (1 - labels.mean()) * np.log2(1 - labels.mean()))
    assert (
        entropy * 1000 < found < entropy * 1000 + 25
    )  # learning one number costs about log2(n) / 2 bits, and the start
    in_nats = entropy * 1000 * np.log(2)
    assert found > in_nats + 100


def test_the_divergence_of_the_weights_is_that_of_gaussians() -> None:
    layer = _Gaussian(3, 2)
    with torch.no_grad():
        layer.mean.copy_(torch.randn(2, 4))
        layer.log_variance.copy_(torch.randn(2, 4))
    theirs = kl_divergence(Normal(layer.mean, (layer.log_variance / 2).exp()), Normal(0.0, 1.0)).sum()
    assert layer.divergence().item() == pytest.approx(theirs.item(), rel=1e-5)


def test_training_depends_on_the_seed_alone() -> None:
    train, test = planted(n=100)
    state = torch.get_rng_state()
    one, two = (fit(train, plan(steps=50, seed=3)).answers(test)[0] for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert torch.equal(torch.get_rng_state(), state)


def test_a_label_that_was_not_trained_on_is_never_right() -> None:
    train, test = planted(n=50)
    bits, said = fit(train, plan(steps=20)).answers(Instances(test.layers, test.rows, np.full(50, -1)))
    assert np.isinf(bits).all()
    assert (said >= 0).all()


def test_states_lie_in_a_file() -> None:
    states = StateFile(5)
    blocks = [RNG.normal(size=(2, n, 3)).astype(np.float32) for n in (2, 3)]
    blocks[1][:, 1] = 0  # a word that the model did not read
    for block in blocks:
        states.add(block)
    np.testing.assert_array_equal(states.layer(1), np.concatenate(blocks, axis=1)[1])
    assert states.seen.tolist() == [True, True, True, False, True]
    assert states.layers == 2

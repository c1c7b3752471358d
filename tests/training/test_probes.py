"""Probes beside scikit-learn and closed forms: scores, the mix of layers, and bits that are bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch.distributions import Normal, kl_divergence

from assay.storage.state_file import StateFile
from assay.training.description_lengths import Gaussians, description_lengths
from assay.training.probe_instances import Instances
from assay.training.probes import Mixed, ProbePlan, fit, fit_with_mix

RNG = np.random.default_rng(0)


def instances(layers: list[Any], rows: Any, *labels: Any) -> Instances:
    return Instances(StateFile.of(np.stack(layers)), np.asarray(rows), np.stack(labels))


def planted(n: int = 600, size: int = 8, classes: int = 3, strength: float = 1.5) -> tuple[Instances, Instances]:
    """Vectors whose first directions say the label; training and test."""
    labels = RNG.integers(classes, size=2 * n)
    states = RNG.normal(size=(2 * n, size)).astype(np.float32)
    states[np.arange(2 * n), labels] += strength
    rows = np.arange(2 * n)[:, None]
    return instances([states], rows[:n], labels[:n]), instances([states], rows[n:], labels[n:])


def plan(classes: int = 3, **settings: Any) -> ProbePlan:
    return ProbePlan(classes=classes, **{"steps": 600, **settings})


def test_every_probe_of_a_stack_is_the_logistic_regression_of_its_layer_and_labels() -> None:
    """Three layers, two sets of labels, trained together: each like scikit-learn's on these vectors alone."""
    n, size = 500, 8
    states = RNG.normal(size=(3, 2 * n, size)).astype(np.float32) * np.array([1, 50, 0.02])[:, None, None]
    states = states.astype(np.float32)
    blurred = [states[k, :, :3] + RNG.normal(size=(2 * n, 3)) * size for k, size in ((1, 40), (2, 0.02))]
    labels = np.stack([one.argmax(axis=1) for one in blurred])
    rows, file = np.arange(2 * n)[:, None], StateFile.of(states)
    train, test = Instances(file, rows[:n], labels[:, :n]), Instances(file, rows[n:], labels[:, n:])
    bits, said = fit(train, plan(steps=1500)).answers(test)
    for layer in range(3):
        mean, spread = states[layer, :n].mean(axis=0), states[layer, :n].std(axis=0)
        x, y = (states[layer, :n] - mean) / spread, (states[layer, n:] - mean) / spread
        for k in range(2):
            theirs = LogisticRegression(C=1.0, max_iter=2000).fit(x, labels[k, :n])
            expected = -theirs.predict_log_proba(y)[np.arange(n), labels[k, n:]] / np.log(2)
            assert (said[layer, k] == theirs.predict(y)).mean() > 0.98
            np.testing.assert_allclose(bits[layer, k], expected, atol=0.15)
    right = (said == test.labels).mean(axis=2)
    assert min(right[1, 0], right[2, 1]) > 0.5
    assert max(right[0].max(), right[1, 1], right[2, 0]) < 0.45


@pytest.mark.parametrize("kind", ["linear", "mlp"])
def test_in_company_a_probe_is_what_it_is_alone(kind: Any) -> None:
    layers = [RNG.normal(size=(300, 4)).astype(np.float32) for _ in range(2)]
    labels = RNG.integers(3, size=(2, 300))
    rows = RNG.integers(300, size=(300, 2))
    settings = plan(steps=40, kind=kind)
    together, mix, shares = fit_with_mix(instances(layers, rows, *labels), settings)
    given = instances(layers, rows, *labels)
    found = together.answers(given)[0]
    for i, layer in enumerate(layers):
        for k in range(2):
            alone = instances([layer], rows, labels[k])
            np.testing.assert_allclose(found[i, k], fit(alone, settings).answers(alone)[0][0, 0], atol=1e-4)
    assert mix.answers(given)[0].shape == (1, 1, 300)  # of the first labels
    assert sum(shares) == pytest.approx(1)


def test_pairs_of_words_stand_side_by_side() -> None:
    states = np.arange(12, dtype=np.float32).reshape(4, 3)
    pairs = instances([states, -states], [[0, 2], [3, 1]], [0, 1])
    np.testing.assert_allclose(pairs.at(np.array([1]))[:, 0], [[9, 10, 11, 3, 4, 5], [-9, -10, -11, -3, -4, -5]])


def test_only_the_larger_probe_learns_what_no_line_parts() -> None:
    corners = [[-1, -1], [-1, 1], [1, -1], [1, 1]]  # equally often: where one is rare, a line may cut it off
    states = np.tile(np.array(corners, dtype=np.float32), (200, 1))
    labels = (states.prod(axis=1) > 0).astype(np.int64)
    noisy = states + RNG.normal(size=(800, 2)).astype(np.float32) * 0.1
    given = instances([noisy], np.arange(800)[:, None], labels)
    right = {kind: (fit(given, plan(2, kind=kind)).answers(given)[1] == labels).mean() for kind in ("linear", "mlp")}
    assert right["linear"] < 0.65
    assert right["mlp"] > 0.95


def test_the_mix_finds_the_layer_that_knows() -> None:
    train, _ = planted()
    known = train.states.vectors(np.arange(1200))[:, 0]
    noise = [RNG.normal(size=known.shape).astype(np.float32) for _ in range(2)]
    _, _, shares = fit_with_mix(instances([noise[0], known, noise[1]], train.rows, *train.labels), plan(steps=800))
    assert shares[1] > 0.6
    assert sum(shares) == pytest.approx(1)


def test_the_mix_is_equation_23() -> None:
    layers = [RNG.normal(size=(20, 4)).astype(np.float32) for _ in range(3)]
    given = instances(layers, np.arange(20)[:, None], RNG.integers(2, size=20)).scaled(0)
    mix = Mixed(3, 4, plan(2))
    with torch.no_grad():
        mix.weights.copy_(torch.tensor([0.1, 0.7, -0.3]))
        mix.gamma.fill_(1.7)
        found = mix(given.at(np.arange(20)))[0, 0].numpy()
    s = np.exp([0.1, 0.7, -0.3]) / np.exp([0.1, 0.7, -0.3]).sum()
    standard = [(layer - layer.mean(axis=0)) / layer.std(axis=0) for layer in layers]
    z = 1.7 * sum(weight * layer for weight, layer in zip(s, standard, strict=True))
    np.testing.assert_allclose(found, z @ mix.classifier.matrices[0][0, 0].detach().numpy().T, atol=3e-3)


@pytest.mark.parametrize("code", ["online", "variational"])
def test_random_labels_cannot_be_compressed(code: Any) -> None:
    train, _ = planted(n=400)
    random = Instances(train.states, train.rows, RNG.integers(3, size=(1, 400)))
    uniform = 400 * np.log2(3)
    assert description_lengths(random, plan(steps=100), code)[0] > 0.98 * uniform
    assert description_lengths(planted(400, strength=4)[0], plan(steps=300), code)[0] < 0.6 * uniform


def test_the_online_code_is_the_sum_of_its_portions_in_bits() -> None:
    """Vectors that say nothing: every portion is coded by the frequencies of those before, which a loop can do."""
    labels = (RNG.random(1000) < 0.2).astype(np.int64)
    given = instances([np.zeros((1000, 2), dtype=np.float32)], np.arange(1000)[:, None], labels)
    found = description_lengths(given, plan(2, steps=300), "online")[0]
    entropy = -(labels.mean() * np.log2(labels.mean()) + (1 - labels.mean()) * np.log2(1 - labels.mean()))
    assert (
        entropy * 1000 < found < entropy * 1000 + 25
    )  # learning one number costs about log2(n) / 2 bits, and the start
    in_nats = entropy * 1000 * np.log(2)
    assert found > in_nats + 100


@pytest.mark.parametrize("code", ["online", "variational"])
def test_each_layer_has_its_own_bits(code: Any) -> None:
    known, _ = planted(n=300, strength=4)
    states = known.states.vectors(np.arange(300))[:, 0]
    noise = RNG.normal(size=states.shape).astype(np.float32)
    both = instances([noise, states], np.arange(300)[:, None], known.labels[0])
    found = description_lengths(both, plan(steps=150), code)
    assert found[1] < 0.6 * found[0]
    if code == "online":
        alone = description_lengths(
            instances([states], np.arange(300)[:, None], known.labels[0]), plan(steps=150), code
        )
        assert found[1] == pytest.approx(alone[0], rel=1e-3)


def test_the_divergence_of_the_weights_is_that_of_gaussians() -> None:
    layers = Gaussians(2, 3, 2)
    with torch.no_grad():
        layers.mean.copy_(torch.randn(2, 2, 4))
        layers.log_variance.copy_(torch.randn(2, 2, 4))
    theirs = kl_divergence(Normal(layers.mean, (layers.log_variance / 2).exp()), Normal(0.0, 1.0)).sum(dim=(1, 2))
    torch.testing.assert_close(layers.divergence(), theirs)


def test_training_depends_on_the_seed_alone() -> None:
    train, test = planted(n=100)
    state = torch.get_rng_state()
    one, two = (fit(train, plan(steps=50, seed=3)).answers(test)[0] for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert torch.equal(torch.get_rng_state(), state)


def test_a_label_that_was_not_trained_on_is_never_right() -> None:
    train, test = planted(n=50)
    bits, said = fit(train, plan(steps=20)).answers(Instances(test.states, test.rows, np.full((1, 50), -1)))
    assert np.isinf(bits).all()
    assert (said >= 0).all()


def test_states_lie_in_a_file() -> None:
    states = StateFile(5)
    sizes = np.array([1e-9, 1.0, 3e8])[None, None]  # 16-bit numbers alone would lose the first and the last
    blocks = [(RNG.normal(size=(2, n, 3)) * sizes[..., [k]]).astype(np.float32) for k, n in ((0, 2), (2, 3))]
    blocks[1][:, 1] = 0  # a word that the model did not read
    for block in blocks:
        states.add(block)
    whole = np.concatenate(blocks, axis=1)
    rows = np.array([4, 0, 1, 2, 4])
    found = states.vectors(rows)
    error = np.abs(found - np.moveaxis(whole[:, rows], 0, 1))
    assert (error <= np.abs(found).max(axis=2, keepdims=True) / 2048).all()
    assert states.seen.tolist() == [True, True, True, False, True]
    assert states.layers == 2
    with pytest.raises(IndexError, match="5 words in the file"):
        states.vectors(np.array([5]))

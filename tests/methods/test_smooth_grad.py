"""SmoothGrad against closed forms (linear and quadratic models) and against a slow loop on a real network."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiny
import torch
from quadratic import quadratic

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.explanations.case import Case
from assay.questions.base import Aim
from assay.questions.gradients import GradientVectors, Noise
from assay.text.text import Text

TEXT = "the film was unwatchable , but never dull"
NORMS: dict[str, Any] = {"l1": 1, "l2": 2, "linf": np.inf}


def embedded(pair: Any, text: str) -> torch.Tensor:
    model, tokenizer = pair
    return model.get_input_embeddings()(torch.tensor(tokenizer(text)["input_ids"])).detach()


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_noise_does_nothing_to_a_linear_model(noise: float) -> None:
    bow = tiny.linear_bow(double=True)
    options = {"noise": noise, "target": 1, "scalar": "logit"}
    e = assay.explain((bow.model, bow.tokenizer), TEXT, "smooth_grad", times_input=True, **options)
    np.testing.assert_allclose(e.scores, [bow.weights.get(word, 0.0) for word in e.words], atol=1e-6)
    direction = bow.model.direction.numpy()
    for norm, order in NORMS.items():
        e = assay.explain((bow.model, bow.tokenizer), TEXT, "smooth_grad", norm=norm, **options)
        np.testing.assert_allclose(e.scores, np.linalg.norm(direction, order), atol=1e-6)


@pytest.mark.parametrize("norm", NORMS)
def test_a_quadratic_model_has_its_own_gradient_as_the_mean(norm: str) -> None:
    """The mean over all noise is A x + b; the mean of the norms would be larger."""
    model, _ = pair = quadratic()
    e = assay.explain(pair, TEXT, "smooth_grad", noise=0.2, samples=4000, norm=norm, target=1, scalar="logit")
    gradients = (embedded(pair, TEXT)[1:-1] @ model.matrix + model.vector).numpy()
    truth, errors = np.linalg.norm(gradients, NORMS[norm], axis=1), np.array(e.facts["standard_errors"])
    assert (np.abs(e.scores - truth) < 4 * errors).all()
    assert (errors < 0.1 * truth).all()
    assert (errors > 0.001 * truth).all()


def test_times_input_on_a_quadratic_model() -> None:
    model, _ = pair = quadratic()
    settings = {"noise": 0.2, "times_input": True, "target": 1, "scalar": "logit"}
    e = assay.explain(pair, TEXT, "smooth_grad", samples=4000, **settings)
    x = embedded(pair, TEXT)[1:-1]
    truth = ((x @ model.matrix + model.vector) * x).sum(-1).numpy()
    assert (np.abs(e.scores - truth) < 4 * np.array(e.facts["standard_errors"])).all()
    assert "signed" not in e.facts


@pytest.mark.parametrize("family", ["bert", "roberta", "gpt2"])
def test_without_noise_it_is_the_gradient(family: str) -> None:
    pair = tiny.FAMILIES[family]()
    for norm in NORMS:
        plain = assay.explain(pair, TEXT, "gradient", norm=norm)
        smooth = assay.explain(pair, TEXT, "smooth_grad", noise=0.0, norm=norm)
        np.testing.assert_allclose(smooth.scores, plain.scores, rtol=1e-6, atol=1e-7)
        assert smooth.about.cost.backwards == 1
        assert not any(smooth.facts["standard_errors"])
    plain = assay.explain(pair, TEXT, "input_x_gradient")
    assert (assay.explain(pair, TEXT, "smooth_grad", noise=0.0, times_input=True).scores == plain.scores).all()


def slow_gradients(text: str, seed: int, samples: int, share: float) -> tuple[torch.Tensor, list[int | None], Any]:
    """One sample after the other through a tiny BERT, by its own argument for embeddings."""
    model, tokenizer = tiny.bert()
    coded = tokenizer(text, return_tensors="pt")
    x, words = embedded((model, tokenizer), text), coded.word_ids()
    own = [i for i, word in enumerate(words) if word is not None]
    sigma, gradients = share * (x[own].max() - x[own].min()), []
    for draw in Case(Text.of(text), 0, seed=seed).generator().integers(2**63, size=samples):
        noise = torch.zeros_like(x)
        noise[own] = sigma * torch.randn(len(own), x.shape[1], generator=torch.Generator().manual_seed(int(draw)))
        point = (x + noise).requires_grad_()
        logits = model(inputs_embeds=point[None], attention_mask=coded["attention_mask"]).logits[0]
        value = torch.log_softmax(logits, -1)[2]
        (gradient,) = torch.autograd.grad(value - torch.log1p(-value.exp()), point)
        gradients.append(gradient)
    return torch.stack(gradients), words, x


@pytest.mark.parametrize("share", [0.01, 0.2])
def test_against_a_slow_loop(share: float) -> None:
    gradients, words, x = slow_gradients(TEXT, 4, 7, share)
    mean, count = gradients.mean(0), len(TEXT.split())
    settings = {"noise": share, "samples": 7, "seed": 4, "target": 2}
    assert len(words) > count + 2  # some words have several pieces
    own = [[i for i, word in enumerate(words) if word == w] for w in range(count)]
    for norm, order in NORMS.items():
        truth = [float(torch.linalg.vector_norm(mean[pieces], order)) for pieces in own]
        scores = assay.explain(tiny.bert(), TEXT, "smooth_grad", norm=norm, **settings).scores
        np.testing.assert_allclose(scores, truth, rtol=1e-4)
    e = assay.explain(tiny.bert(), TEXT, "smooth_grad", times_input=True, **settings)
    parts = np.array([[float((g[pieces] * x[pieces]).sum()) for pieces in own] for g in gradients])
    np.testing.assert_allclose(e.scores, parts.mean(0), atol=1e-5)
    np.testing.assert_allclose(e.facts["standard_errors"], parts.std(0, ddof=1) / np.sqrt(7), atol=1e-5)


def test_only_explained_pieces_get_noise_and_as_much_as_said() -> None:
    model, _ = pair = quadratic()
    text = Text.of(("the film was good", "a good film"), focus=["hypothesis"])
    noise = [Noise(0.1, seed) for seed in range(400)]
    answers = Engine(assay.load(pair)).ask(GradientVectors(text, aim=Aim(1, "logit"), noise=noise))
    x = torch.cat([embedded(pair, text.strings[0]), embedded(pair, text.strings[1])[1:]])
    gradients = np.stack([answer.gradient for answer in answers])
    moved = (gradients - model.vector.numpy()) @ np.linalg.inv(model.matrix.numpy()) - x.numpy()
    assert np.abs(moved[:, :6]).max() < 1e-5
    assert np.abs(moved[:, -1]).max() < 1e-5
    sigma = 0.1 * float(x[6:9].max() - x[6:9].min())
    assert moved[:, 6:9].std() == pytest.approx(sigma, rel=0.05)
    assert abs(np.corrcoef(moved[:, 6, 0], moved[:, 7, 0])[0, 1]) < 0.2


def test_the_error_shrinks_and_is_the_spread_over_seeds() -> None:
    few, many = ([one(seed, samples) for seed in range(40)] for samples in (8, 72))
    spread = [np.std([e.scores for e in es], axis=0, ddof=1).mean() for es in (few, many)]
    said = [np.mean([e.facts["standard_errors"] for e in es]) for es in (few, many)]
    assert spread[0] / spread[1] == pytest.approx(3, rel=0.25)
    assert said[1] == pytest.approx(spread[1], rel=0.2)


def one(seed: int, samples: int) -> Any:
    return assay.explain(quadratic(), TEXT, "smooth_grad", noise=0.1, samples=samples, seed=seed, target=1)


@pytest.mark.parametrize("times_input", [False, True])
def test_company_and_order_do_not_matter(times_input: bool) -> None:
    model = assay.load(tiny.bert())
    texts = [TEXT, "dull", ("a man sleeps", "a man"), "a gripping , funny film that never lets go of its audience ."]
    settings: dict[str, Any] = {"samples": 6, "noise": 0.1, "times_input": times_input}
    alone = [assay.explain(model, text, "smooth_grad", **settings).scores for text in texts]
    for order in ([3, 0, 2, 1], [1, 2, 0, 3]):
        engine = Engine(model, budget=100)
        told = assay.explain(model, [texts[i] for i in order], "smooth_grad", engine=engine, **settings)
        for i, e in zip(order, told, strict=True):
            np.testing.assert_allclose(e.scores, alone[i], atol=1e-5)


@pytest.mark.parametrize("wrong", [{"samples": 1}, {"noise": -0.1}, {"noise": float("nan")}, {"noise": float("inf")}])
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="smooth_grad needs"):
        assay.explain(tiny.bert(), TEXT, "smooth_grad", **wrong)

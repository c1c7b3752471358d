"""Gradients of the losses of tokens against autograd's through transformers' own loss, one text at a time."""

from __future__ import annotations

import re
from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
import pytest
import tiny
import torch

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.models.transformers import parameters
from assay.models.transformers.handlers.parameters import encoded_targets
from assay.models.transformers.kronecker import kronecker_factors
from assay.models.transformers.row_reductions import reduction
from assay.questions.base import Aim
from assay.questions.parameters import (
    DrawnTokenLoss,
    GradientProducts,
    Kronecker,
    LossTokens,
    ParameterGradient,
    Target,
    TokenLoss,
    TrainingRows,
)

TEXTS = ["a funny film that never ends", "dull", "the plot was dull", "two dogs run and run , they said", "a slow film"]
PAIRS = [("the film was", "dull and slow"), ("a", "funny film")]
TARGETS = [
    *(Target((text,), TokenLoss()) for text in TEXTS),
    *(Target(pair, TokenLoss()) for pair in PAIRS),
    Target((TEXTS[0],), TokenLoss(mean=False)),
    Target(PAIRS[0], TokenLoss(mean=False)),
]


def untied_gpt2() -> Any:
    model, tokenizer = tiny.causal_lm("gpt2")
    model = deepcopy(model)
    model.config.tie_word_embeddings = False
    model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone() * 0.7)
    return model, tokenizer


FAMILIES = {
    "gpt2": lambda: tiny.causal_lm("gpt2"),
    "untied gpt2": untied_gpt2,
    "llama": lambda: tiny.causal_lm("llama"),
}


@cache
def model(family: str) -> Any:
    """In float64, so that a difference of 1e-6 is one of the formulas."""
    network, tokenizer = FAMILIES[family]()
    return assay.load((deepcopy(network).double(), tokenizer))


def by_autograd(adapter: Any, target: Target, layers: str) -> np.ndarray:
    """Through the loss that transformers trains by, of the model itself, one text, no padding."""
    network, tokenizer = deepcopy(adapter.model).requires_grad_(True), adapter.tokenizer
    ids = tokenizer(target.strings[0], return_tensors="pt")["input_ids"]
    labels = ids.clone()
    if len(target.strings) == 2:
        following = tokenizer(f" {target.strings[1]}", add_special_tokens=False, return_tensors="pt")["input_ids"]
        labels = torch.cat([torch.full_like(ids, -100), following], dim=1)
        ids = torch.cat([ids, following], dim=1)
    loss = network(input_ids=ids, labels=labels).loss
    assert isinstance(target.of, TokenLoss)
    if not target.of.mean:
        loss = loss * (labels[0, 1:] != -100).sum()
    weights = [network.get_parameter(name) for name in parameters.chosen(network, layers)]
    found = torch.autograd.grad(loss, weights, allow_unused=True)
    parts = [(torch.zeros_like(w) if g is None else g).flatten() for g, w in zip(found, weights, strict=True)]
    return torch.cat(parts).numpy()


@pytest.mark.parametrize("layers", ["head", "last:1", "all"])
@pytest.mark.parametrize("family", FAMILIES)
def test_gradients_are_autograds_alone_and_in_company(family: str, layers: str) -> None:
    adapter = model(family)
    targets = [target for target in TARGETS if family == "llama" or target.strings != ("dull",)]
    asked = [target for target in targets if adapter.task.learned(target.strings).wanted.at]
    slow = np.array([by_autograd(adapter, target, layers) for target in asked])
    rows = encoded_targets(adapter, asked)
    gradients = parameters.RowGradients(adapter, layers)
    padded = torch.cat(list(gradients.gradients(rows)))  # of all lengths in one batch
    assert gradients._by_parts(rows)
    near = 1e-6 * max(1.0, np.abs(slow).max())  # the norms of Llama are taken in float32
    assert np.abs(padded.numpy() - slow).max() <= near
    assert np.abs(gradients._one_by_one(rows, reduction("whole", 0, 0, False, {})).numpy() - slow).max() <= near
    engine = Engine(adapter, budget=4096)
    norms = engine.ask(ParameterGradient(asked, layers=layers, reduce="norm"))
    np.testing.assert_allclose(norms[:, 0], np.linalg.norm(slow, axis=1), rtol=1e-5)
    products = engine.ask(GradientProducts(asked[0], TrainingRows(asked), layers=layers, parts=len(asked)))
    np.testing.assert_allclose(products.values, slow @ slow[0], rtol=1e-6, atol=near)
    assert len(products.parts) == len(asked)
    for i, parts in products.parts.items():
        assert parts.sum() == pytest.approx(products.values[i], abs=1e-6)
        assert len(parts) == 1 + len(" ".join(asked[i].strings).split())


@pytest.mark.parametrize("family", ["gpt2", "llama"])
@pytest.mark.parametrize("size", [64, 257])
def test_projections_do_not_need_the_gradient(family: str, size: int) -> None:
    gradients = parameters.RowGradients(model(family), "all")
    rows = encoded_targets(model(family), TARGETS[2:])
    how = reduction("project", size, 5, False, gradients.parameters)
    fast, slow = gradients._together(rows, how), gradients._one_by_one(rows, how)
    assert float((fast - slow).abs().max()) <= 1e-5 * float(slow.abs().max())


def test_the_explained_number_is_the_probability_of_the_continuation() -> None:
    adapter = model("gpt2")
    settled = assay.explain(adapter, PAIRS[0], "random", progress=False).case.text.strings
    weights = list(deepcopy(adapter.model).requires_grad_(True).parameters())
    for scalar in ("log_odds", "probability", "logit"):
        network = deepcopy(adapter.model).requires_grad_(True)
        weights = [network.get_parameter(name) for name in parameters.chosen(network, "all")]
        head, ids = (
            adapter.tokenizer(part, add_special_tokens=False)["input_ids"] for part in (PAIRS[0][0], f" {PAIRS[0][1]}")
        )
        logits = network(torch.tensor([[*head, *ids]])).logits[0].log_softmax(-1)
        log = sum(logits[len(head) - 1 + j, token] for j, token in enumerate(ids))
        value = {"log_odds": log - torch.log1p(-log.exp()), "probability": log.exp(), "logit": log}[scalar]
        slow = torch.cat([g.flatten() for g in torch.autograd.grad(value, weights)]).numpy()
        (found,) = Engine(adapter).ask(ParameterGradient([Target(settled, Aim(1, scalar))], layers="all"))
        assert np.abs(found - slow).max() <= 1e-6 * max(1.0, np.abs(slow).max())


def test_draws_are_the_same_in_any_company_and_make_the_gauss_newton_matrix() -> None:
    """Of a bias vector of few numbers: the mean of outer products over many draws against J' (diag p - p p') J."""
    adapter, layers = model("gpt2"), r"ln_f\.bias"
    engine, strings = Engine(adapter), (TEXTS[2],)
    draws = [Target(strings, DrawnTokenLoss(draw=i)) for i in range(400)]
    found = engine.ask(ParameterGradient(draws, layers=layers))
    alone = Engine(adapter).ask(ParameterGradient(draws[7:8], layers=layers))
    np.testing.assert_allclose(alone[0], found[7], atol=1e-9)
    network = deepcopy(adapter.model).requires_grad_(True)
    ids = adapter.tokenizer(TEXTS[2], return_tensors="pt")["input_ids"]
    logits, weight = network(ids).logits[0, :-1], network.transformer.ln_f.bias
    table = network.lm_head.weight.detach()  # the derivative of the logits of every token with respect to that bias
    assert (logits.shape[1], weight.shape[0]) == table.shape
    chances = logits.softmax(-1).detach()
    curvature = sum(table.T @ (torch.diag(p) - torch.outer(p, p)) @ table for p in chances).numpy() / len(chances)
    estimate = found.T @ found / len(found)
    assert np.abs(estimate - curvature).max() <= 0.25 * np.abs(curvature).max()
    assert np.trace(estimate) == pytest.approx(np.trace(curvature), rel=0.1)


def test_the_kronecker_factors_of_a_layer_of_gpt2() -> None:
    """Against its formula, row by row: A = E[a a'], S = E[d d'], and the mean squares of gradients in their bases."""
    adapter, name = model("gpt2"), "transformer.h.1.mlp.c_proj"  # its weight is [in, out]
    rows = TrainingRows([Target((text,), TokenLoss()) for text in TEXTS[2:]])
    gradients = parameters.RowGradients(adapter, re.escape(name))
    inputs, outputs, whole = [], [], []
    for row in [row for some in parameters.drawn(encoded_targets(adapter, rows.targets)) for row in some]:
        network = deepcopy(adapter.model).requires_grad_(True)
        layer, seen = network.get_submodule(name), []
        layer.register_forward_hook(lambda m, args, output: seen.append((args[0], output)))  # noqa: B023
        logits = network(torch.tensor([row.row.ids])).logits
        value = gradients.values(logits[:, list(row.row.at)], [row])
        (a, _), (d, g, bias) = seen[0], torch.autograd.grad(value, [seen[0][1], layer.weight, layer.bias])
        inputs.append(torch.cat([a[0], torch.ones(len(a[0]), 1)], dim=1).detach())
        outputs.append(d[0])
        whole.append(torch.cat([g.T, bias[:, None]], dim=1))
    ua, us = (torch.linalg.eigh(sum(x.T @ x for x in part)).eigenvectors for part in (inputs, outputs))
    squares = sum((us.T @ g @ ua).square() for g in whole) / len(whole)
    engine = Engine(adapter)
    train = engine.ask(ParameterGradient(rows.targets, layers=re.escape(name)))
    out, size = len(us), len(ua) - 1
    turned = [
        us.T @ torch.cat([w[: out * size].view(size, out).T, w[out * size :, None]], dim=1) @ ua
        for w in map(torch.tensor, train)
    ]
    expected = [float((one * turned[0] / (squares + 0.01)).sum()) for one in turned]
    question = GradientProducts(rows.targets[0], rows, layers=re.escape(name), inverse=Kronecker(damping=0.01))
    np.testing.assert_allclose(engine.ask(question).values, expected, rtol=1e-4)
    padded = kronecker_factors(gradients, [encoded_targets(adapter, rows.targets)])
    found = padded.solved(torch.tensor(train), 0.01)
    np.testing.assert_allclose(found.numpy() @ train[0], expected, rtol=1e-4)


def test_parts_are_those_of_the_pieces() -> None:
    """The vectors of the places: what each of them adds is that of one piece, and a word has that of its pieces."""
    adapter = model("gpt2")
    targets = [Target((text,), TokenLoss()) for text in TEXTS[2:]]
    found = Engine(adapter).ask(GradientProducts(targets[0], TrainingRows(targets), layers="wpe", parts=3))
    slow = [by_autograd(adapter, target, "wpe").reshape(tiny.WINDOW, -1) for target in targets]
    for i, target in enumerate(targets):
        offsets = adapter.tokenizer(target.strings[0], return_offsets_mapping=True)["offset_mapping"]
        words, at = [], 0
        for word in target.strings[0].split():
            start = target.strings[0].index(word, at)
            at = start + len(word)
            pieces = [p for p, (a, b) in enumerate(offsets) if a < at and start < b]
            words.append(sum(float(slow[i][p] @ slow[0][p]) for p in pieces))
        blanks = float((slow[i] * slow[0]).sum()) - sum(words)  # a blank before a comma is a piece, and no word's
        assert (abs(blanks) > 1e-3) == ("," in target.strings[0])
        np.testing.assert_allclose(found.parts[i], [*words, blanks], atol=1e-6)


def test_tokens_are_counted_as_they_are_learned() -> None:
    adapter = model("gpt2")
    for text in TEXTS[2:]:
        assert Engine(adapter).ask(LossTokens((text,))).tolist() == [len(adapter.tokenizer(text)["input_ids"]) - 1, 0]
    longer = " ".join(["film"] * 200)
    count, beyond = Engine(adapter).ask(LossTokens((longer,)))
    assert (count, beyond) == (tiny.WINDOW - 1, len(adapter.tokenizer(longer)["input_ids"]) - tiny.WINDOW)


def test_an_encoder_decoder_learns_its_outputs() -> None:
    network, tokenizer = tiny.seq2seq("t5")
    adapter: Any = assay.load((deepcopy(network).double(), tokenizer))
    own = deepcopy(adapter.model).requires_grad_(True)
    target = Target(("a funny film", "a dull plot"), TokenLoss())
    inputs = tokenizer(target.strings[0], return_tensors="pt")
    labels = tokenizer(text_target=target.strings[1], return_tensors="pt")["input_ids"]
    assert labels[0, -1] == tokenizer.eos_token_id
    weights = [own.get_parameter(name) for name in parameters.chosen(own, "all")]
    each = torch.autograd.grad(own(**inputs, labels=labels).loss, weights, allow_unused=True)
    slow = torch.cat([(torch.zeros_like(w) if g is None else g).flatten() for g, w in zip(each, weights, strict=True)])
    (found,) = Engine(adapter).ask(ParameterGradient([target], layers="all"))
    assert np.abs(found - slow.numpy()).max() <= 1e-6


def test_an_encoder_decoder_has_no_uppermost_layers() -> None:
    with pytest.raises(BadInput, match="no one stack of layers to count from: say layers=all"):
        Engine(assay.load(tiny.seq2seq("t5"))).ask(
            ParameterGradient([Target(("a", "b"), TokenLoss())], layers="last:1")
        )

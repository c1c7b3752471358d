"""The rules of AttnLRP on single functions, written in the ways that models write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiny
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import assay
from assay.models.transformers.handlers.propagation import propagation

ROWS = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], dtype=torch.float64)
W = torch.tensor([[1.0, 2.0, -1.0], [0.5, -0.5, 3.0], [1.0, 1.0, 1.0]], dtype=torch.float64)
B = torch.tensor([0.1, -0.2, 0.3], dtype=torch.float64)


def passed(function: Callable[[Tensor], Tensor], model: nn.Module | None = None) -> tuple[Any, Any, Any]:
    """Relevance [rows, 3] of the inputs, what each taker got [rows], and the outputs summed [rows]."""
    x = ROWS.clone().requires_grad_()
    with propagation(model or nn.Identity(), len(x), x.device) as flow:
        values = function(x).reshape(len(x), -1).sum(1)
    (gradient,) = torch.autograd.grad(values.sum(), x)
    taken = {taker: part.numpy() for taker, part in flow.taken.items()}
    return (x * gradient).detach().numpy(), taken, values.detach().numpy()


class HandMadeGELU(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return 0.5 * x * (1 + torch.tanh(0.8 * (x + 0.04 * x**3)))


gelu = HandMadeGELU()

CONSERVED: dict[str, Callable[[Tensor], Tensor]] = {
    "linear": lambda x: F.linear(x, W, B),
    "linear by name": lambda x: F.linear(x, W, bias=B),
    "addmm": lambda x: torch.addmm(B, x, W),
    "product": lambda x: F.linear(x, W) * x,
    "square": lambda x: x * x,
    "torch.mul by name": lambda x: torch.mul(input=x, other=F.linear(x, W)),
    "matmul": lambda x: x[:, :, None] @ F.linear(x, W)[:, None, :],
    "bmm": lambda x: torch.bmm(x[:, None, :], F.linear(x, W)[:, :, None]),
    "einsum": lambda x: torch.einsum("bi,bj->bij", x, F.linear(x, W)),
    "baddbmm": lambda x: W.expand(2, 3, 3).baddbmm(batch1=x[:, :, None], batch2=x[:, None, :], beta=2.0, alpha=0.5),
    "tanh": torch.tanh,
    "gelu": F.gelu,
    "silu": F.silu,
    "relu": F.relu,
    "gated": lambda x: F.silu(F.linear(x, W, B)) * F.linear(x, W),
    "layer_norm": lambda x: F.layer_norm(x, (3,), W[0], B),
    "rms_norm": lambda x: F.rms_norm(x, (3,), W[0]),
    "rms_norm by hand": lambda x: W[0] * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)),
    "rms_norm by a power": lambda x: x * (x.pow(2).mean(-1, keepdim=True) + 1e-6) ** -0.5,
    "layer_norm by hand": lambda x: (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-6) * W[0] + B,
    "normalize": lambda x: F.normalize(x, dim=-1),
    "a quotient": lambda x: x / x.norm(dim=-1, keepdim=True),
    "a quotient of sums": lambda x: x / x.abs().sum(-1, keepdim=True),
    "one over": lambda x: x * (1 / x.abs().sum(-1, keepdim=True)),
    "softmax": lambda x: x.softmax(-1) * B,
    "softmax of masked scores": lambda x: (x + torch.tensor([0.0, -torch.inf, 0.0])).softmax(-1) * B,
    "log_softmax": lambda x: x.log_softmax(-1)[:, 0],
    "sigmoid gate": lambda x: torch.sigmoid(x) * F.linear(x, W),
    "plus a constant": lambda x: x + B,
    "minus a constant": lambda x: torch.sub(x, B, alpha=2),
    "a constant minus": lambda x: 1 - x,
    "a tensor minus": lambda x: B - x,
    "a constant plus": lambda x: B + x,
    "in place": lambda x: (x * 2).add_(B),
    "in place on a constant": lambda x: B.repeat(2, 1).add_(x),
    "flattened": lambda x: F.linear(x.reshape(-1, 1), W[:, :1], B),
    "attention": lambda x: F.scaled_dot_product_attention(*(F.linear(x, w.diag(), B)[:, None, :, None] for w in W)),
    "attention by name": lambda x: F.scaled_dot_product_attention(
        query=x[:, None, :, None], key=x[:, None, :, None], value=x[:, None, :, None]
    ),
}


@pytest.mark.parametrize("case", list(CONSERVED))
def test_what_is_passed_on_and_what_is_booked_sum_to_the_value(case: str) -> None:
    relevance, taken, values = passed(CONSERVED[case])
    np.testing.assert_allclose(relevance.sum(1) + sum(taken.values()), values, atol=1e-9)
    assert np.isfinite(relevance).all()


@pytest.mark.parametrize("case", list(CONSERVED))
def test_the_outputs_are_those_of_the_function(case: str) -> None:
    plain = CONSERVED[case](ROWS).reshape(2, -1).sum(1)
    np.testing.assert_allclose(passed(CONSERVED[case])[2], plain.numpy(), atol=1e-9)


X = ROWS.numpy()


@pytest.mark.parametrize("activation", [torch.tanh, F.gelu, F.silu])
def test_an_activation_passes_all_of_it_on(activation: Callable[[Tensor], Tensor]) -> None:
    np.testing.assert_allclose(passed(activation)[0], activation(ROWS).numpy(), atol=1e-12)


def test_a_written_out_activation_is_one() -> None:
    relevance, taken, _ = passed(gelu, gelu)
    np.testing.assert_allclose(relevance, gelu(ROWS).numpy(), atol=1e-12)
    assert not any(part.any() for part in taken.values())
    assert np.abs(passed(gelu)[0] - relevance).max() > 0.01


def test_two_signals_share_equally() -> None:
    """Of x * (w x) each factor gets half: (x (w x)) / 2 and, through the sum, x w' (x / 2)."""
    w = W.numpy()
    products = X * (X @ w.T)
    expected = products / 2 + np.einsum("bi,ij,bj->bj", X, w, X) / 2
    np.testing.assert_allclose(passed(CONSERVED["product"])[0], expected, atol=1e-12)


def test_a_softmax_by_its_taylor_expansion() -> None:
    relevance, taken, _ = passed(CONSERVED["softmax"])
    s = np.exp(X) / np.exp(X).sum(1, keepdims=True)
    outputs = s * B.numpy()
    np.testing.assert_allclose(relevance, X * (outputs - s * outputs.sum(1, keepdims=True)), atol=1e-12)
    np.testing.assert_allclose(taken["softmax"], outputs.sum(1) - relevance.sum(1), atol=1e-12)


def test_who_took_what() -> None:
    assert passed(CONSERVED["linear"])[1]["biases"] == pytest.approx([0.2, 0.2])
    assert passed(CONSERVED["plus a constant"])[1]["constants"] == pytest.approx([0.2, 0.2])
    assert passed(CONSERVED["minus a constant"])[1]["constants"] == pytest.approx([-0.4, -0.4])
    assert passed(CONSERVED["a constant minus"])[1]["constants"] == pytest.approx([3, 3])
    assert passed(CONSERVED["baddbmm"])[1]["biases"] == pytest.approx([2 * float(W.sum())] * 2)


def test_a_zero_signal_has_no_relevance_and_no_nan() -> None:
    x = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
    with propagation(nn.Identity(), 2, x.device):
        value = F.gelu(x).sum()
    (gradient,) = torch.autograd.grad(value, x)
    assert torch.equal(gradient, torch.zeros_like(gradient))


def test_a_step_without_a_rule_leaves_a_gap() -> None:
    relevance, taken, values = passed(lambda x: x**3)
    np.testing.assert_allclose(relevance.sum(1), 3 * values)
    assert not any(part.any() for part in taken.values())


CONTINUED = [
    ("a funny film", "was good"),
    ("a dull plot", "!"),
    ("the film", "that never lets go"),
    ("no", "way"),
]


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_rows_of_which_several_places_are_picked(family: str) -> None:
    pair = tiny.causal_lm(family)
    together = assay.explain(pair, CONTINUED, "attn_lrp")
    for source, e in zip(CONTINUED, together, strict=True):
        alone = assay.explain(pair, source, "attn_lrp")
        np.testing.assert_allclose(e.scores, alone.scores, atol=1e-4)
        assert e.facts == pytest.approx(alone.facts, abs=2e-3)
        assert abs(e.facts["gap"]) < 1e-3
        assert e.warnings == ()

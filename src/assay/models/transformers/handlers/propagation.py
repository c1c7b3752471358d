"""The rules of AttnLRP as gradients: within `propagation`, gradient x input is relevance.

    product of two signals a.b, A V, Q K^T     each gets half of the relevance
    activation s(x)                            x (s(x) / x), the quotient constant
    LayerNorm, RMSNorm                         the divisor constant
    softmax, sigmoid                           the plain gradient (its Taylor expansion at x)
    all that is linear                         the plain gradient (the epsilon rule for epsilon -> 0)

They are laid on the functions of torch as the model calls them, not on its modules: a function mode sees every call,
so any model that is written in torch gets them, whatever its layers are called; only activations that a module writes
out step by step are taken as a whole, by a hook.

What is not passed on is booked for each row: the relevance of biases and other constants that are added, and what the
Taylor expansion of a softmax leaves over. What is passed on and what is booked sum to the explained number unless the
model does something that no rule is for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

Function = Callable[..., Any]
Rule = Callable[["Propagation", Function, tuple[Any, ...], dict[str, Any]], Any]

TAKERS = ("constants", "biases", "softmax")
_ACTIVATIONS = re.compile("gelu|silu|swish|mish", re.IGNORECASE)
# What torch calls the arguments that may be signals, in the order in which it takes them.
_SIGNALS = ("input", "query", "key", "value", "other", "batch1", "batch2", "mat1", "mat2")


@contextmanager
def propagation(model: nn.Module, rows: int, device: torch.device) -> Iterator[Propagation]:
    """Within it a forward pass of so many rows leaves a graph whose gradients follow the rules."""
    mode = Propagation(rows, device)
    with _constant(model), _whole_activations(model), mode:
        yield mode


class Propagation(TorchFunctionMode):
    """Sees every call of a torch function; `taken` is what each taker got, per row, once the way back is done."""

    def __init__(self, rows: int, device: torch.device) -> None:
        super().__init__()
        self.rows = rows
        self.taken = {taker: torch.zeros(rows, device=device) for taker in TAKERS}

    def __torch_function__(self, func: Function, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        named = dict(kwargs or {})
        if rule := _RULES.get(getattr(func, "__name__", "")):
            args = (*args, *(named.pop(name) for name in _SIGNALS if name in named))
        if rule is None or not any(map(_flows, args)):
            return func(*args, **named)
        return rule(self, func, args, named)

    def book(self, taker: str, output: Tensor, part: Tensor | float) -> None:
        """When the gradient g of the output is known, the taker gets g times this part of it."""
        if output.requires_grad:
            _when_known(output, lambda gradient: self._add(taker, gradient, part))

    def leave(self, taker: str, signal: Tensor, share: float = 1.0) -> Tensor:
        """The same signal; on the way back a share of its gradient goes on, and the taker does not get that."""
        shared = _shared(signal, share)
        signal_here = shared.detach()
        _when_known(shared, lambda gradient: self._add(taker, gradient, -share * signal_here))
        return shared

    def _add(self, taker: str, gradient: Tensor, part: Tensor | float) -> None:
        # Masked scores are infinite and have no gradient: nothing, not NaN.
        amount = torch.where(gradient == 0, 0, gradient * part)
        if amount.numel() % self.rows == 0:
            self.taken[taker] = self.taken[taker] + amount.reshape(self.rows, -1).sum(1)


class _Share(torch.autograd.Function):
    """The identity, but a share of the gradient."""

    @staticmethod
    def forward(ctx: Any, signal: Tensor, share: float) -> Tensor:
        ctx.share = share
        return signal.view_as(signal)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Tensor, None]:
        return gradients[0] * ctx.share, None


def _shared(signal: Tensor, share: float) -> Tensor:
    shared: Tensor = _Share.apply(signal, share)  # type: ignore[no-untyped-call]
    return shared


def _when_known(signal: Tensor, act: Callable[[Tensor], None]) -> None:
    """Act when the gradient of a signal is known."""
    signal.register_hook(act)  # type: ignore[no-untyped-call]


def _flows(value: Any) -> bool:
    """Whether a value depends on the input: within `propagation` nothing else has a gradient."""
    return isinstance(value, Tensor) and value.requires_grad


def _product(mode: Propagation, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Two signals that are multiplied get half of the relevance each; a signal and a weight are linear."""
    if sum(map(_flows, args)) < 2:
        return func(*args, **kwargs)
    return func(*(_shared(arg, 0.5) if _flows(arg) else arg for arg in args), **kwargs)


def _attention(mode: Propagation, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """softmax(Q K^T) V at once: V gets half, the weights get half and pass it on to Q and K, half each."""
    query, key, value, *others = args
    shares = ((query, 0.25), (key, 0.25), (value, 0.5))
    signals = [mode.leave("softmax", x, share) if _flows(x) else x for x, share in shares]
    output = func(*signals, *others, **kwargs)
    mode.book("softmax", output, output.detach())
    return output


def _taylor(mode: Propagation, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    output = func(mode.leave("softmax", args[0]), *args[1:], **kwargs)
    mode.book("softmax", output, output.detach())
    return output


def _activation(mode: Propagation, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return _proportional(args[0], func(*args, **kwargs))


def _proportional(signal: Tensor, output: Tensor) -> Tensor:
    """The output as a multiple of the signal; where the signal is zero there is no relevance to pass on."""
    quotient = torch.where(signal == 0, 0, output / signal).detach()
    return signal * quotient


def _still(mode: Propagation, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Roots and deviations are there to divide by: constant."""
    return func(*args, **kwargs).detach()


def _power(mode: Propagation, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    divides = len(args) > 1 and isinstance(args[1], int | float) and args[1] < 1
    return (_still if divides else _plain)(mode, func, args, kwargs)


def _plain(mode: Propagation, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return func(*args, **kwargs)


def _quotient(mode: Propagation, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    divisor = args[1].detach() if _flows(args[1]) else args[1]
    return func(args[0], divisor, *args[2:], **kwargs)


def _layer_norm(mode: Propagation, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    output, bias = _normed(*args, **kwargs)
    if bias is not None:
        mode.book("biases", output, bias.detach())
    return output


def _rms_norm(mode: Propagation, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    signal, shape, *others = args
    names = dict(zip(("weight", "eps"), others, strict=False)) | kwargs
    eps = names.get("eps")
    smallest = torch.finfo(signal.dtype).eps if eps is None else eps
    return _normed(signal, shape, names.get("weight"), eps=smallest, centre=False)[0]


def _normed(
    signal: Tensor,
    normalized_shape: Any,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    centre: bool = True,
) -> tuple[Tensor, Tensor | None]:
    """The norm with its divisor constant, in float32 at least, and its bias."""
    over = tuple(range(-len(normalized_shape), 0))
    fine = signal.to(torch.promote_types(signal.dtype, torch.float32))
    centred = fine - fine.mean(over, keepdim=True) if centre else fine
    normal = centred * torch.rsqrt(centred.square().mean(over, keepdim=True) + eps).detach()
    scaled = normal if weight is None else normal * weight
    return (scaled if bias is None else scaled + bias).to(signal.dtype), bias


def _linear(mode: Propagation, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    output = func(*args, **kwargs)
    bias = args[2] if len(args) > 2 else kwargs.get("bias")
    if bias is not None:
        mode.book("biases", output, bias.detach())
    return output


def _linear_after(mode: Propagation, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Addmm and its kin: the bias comes first, then the two factors."""
    output = _product(mode, func, args, kwargs)
    if not _flows(args[0]):
        mode.book("biases", output, kwargs.get("beta", 1) * args[0].detach())
    return output


def _sum(mode: Propagation, func: Function, args: tuple[Any, ...], kwargs: dict[str, Any], sign: int = 1) -> Any:
    """A constant that is added to a signal has relevance of its own."""
    if all(map(_flows, args)):
        return func(*args, **kwargs)
    constant, factor = (args[1], sign * kwargs.get("alpha", 1)) if _flows(args[0]) else (args[0], 1)
    part = factor * constant  # before the call, which may write over it
    output = func(*args, **kwargs)
    mode.book("constants", output, part)
    return output


# By the names that torch has for its functions; operators come under them too.
_RULES: dict[str, Rule] = {
    **dict.fromkeys(("mul", "multiply", "matmul", "bmm", "mm", "einsum"), _product),
    **dict.fromkeys(("div", "div_", "divide", "true_divide"), _quotient),
    **dict.fromkeys(("add", "add_", "rsub", "__rsub__"), _sum),
    **dict.fromkeys(("sub", "sub_", "subtract"), partial(_sum, sign=-1)),
    **dict.fromkeys(("tanh", "gelu", "silu", "mish", "elu", "selu", "celu", "hardswish", "softsign"), _activation),
    **dict.fromkeys(("softmax", "log_softmax", "logsumexp", "logsigmoid", "sigmoid", "softplus"), _taylor),
    **dict.fromkeys(("exp", "expm1", "log", "log1p", "clamp_max"), _taylor),
    **dict.fromkeys(("sqrt", "rsqrt", "reciprocal", "__rdiv__", "std", "var", "norm"), _still),
    **dict.fromkeys(("linalg_norm", "linalg_vector_norm"), _still),
    **dict.fromkeys(("addmm", "baddbmm", "addbmm"), _linear_after),
    "normalize": _activation,
    "pow": _power,
    "linear": _linear,
    "layer_norm": _layer_norm,
    "rms_norm": _rms_norm,
    "scaled_dot_product_attention": _attention,
}


@contextmanager
def _constant(model: nn.Module) -> Iterator[None]:
    """Weights are no signals: within it none has a gradient; afterwards each as before."""
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    try:
        for weight in weights:
            weight.requires_grad_(False)
        yield
    finally:
        for weight in weights:
            weight.requires_grad_(True)


def _is_activation(module: nn.Module) -> bool:
    """A module of transformers' activations, or one without weights that is called so."""
    bare = next(module.parameters(), None) is None and next(module.children(), None) is None
    named = bare and _ACTIVATIONS.search(type(module).__name__) is not None
    return named or type(module).__module__ == "transformers.activations"


@contextmanager
def _whole_activations(model: nn.Module) -> Iterator[None]:
    """Within it, activations that are written out as several functions count as one."""

    def whole(module: nn.Module, args: tuple[Any, ...], output: Any) -> Any:
        return _proportional(args[0], output) if args and _flows(output) and _flows(args[0]) else output

    handles = [module.register_forward_hook(whole) for module in model.modules() if _is_activation(module)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()

"""Passes of a language model on a CPU, in less time and with the same sums: linear layers by oneDNN, grouped heads.

torch gives products of float32 to MKL, which on processors other than Intel's leaves half of their width unused, and
is slow for the few rows that a step of writing has; oneDNN, which torch brings too, is not. Both add in float32, in
another order. oneDNN turns weights that lie row by row each time it multiplies several rows of inputs by them, so those
of a model that Assay opened itself lie column by column (`by_columns`). Heads that share keys and values (grouped
queries) read them where they lie, where transformers copies them for every head as soon as rows are padded. What is not
the layout holds only within a block, for a twin of the user's model that is asked without gradients; weights are read
where they are, so one that is changed counts at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from assay.models.transformers.network import Network

GROUPED = "assay_grouped_attention"
_CACHE, _WIDEST = 512 << 20, 16  # bytes of keys and values that a batch may have; in multiples of an ordinary batch


def widening(network: Network, tokens: int) -> int:
    """How many times `tokens` a batch is to have: on a CPU many, as long as their keys and values are no great thing.

    A step of writing reads all weights for one token of each row, so that more rows cost little; and a batch takes as
    many steps as its longest text, in the last of which few rows are left.
    """
    if network.device.type != "cpu":
        return 1
    config = network.model.config.get_text_config(decoder=True)
    try:
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        token = 2 * config.num_hidden_layers * heads * size * 4
    except (AttributeError, TypeError, ZeroDivisionError, RuntimeError):  # other names, or one number for each layer
        return 4
    return int(min(max(_CACHE // (token * tokens), 1), _WIDEST))


@contextmanager
def fast(network: Network) -> Iterator[None]:
    """Within it, passes without gradients take less time where they can."""
    with ExitStack() as stack:
        if network.device.type == "cpu" and network.working.apart:
            stack.enter_context(_by_onednn(network.model))
            if _shares_heads(network.model):
                _register()
                stack.enter_context(network.attending_by(GROUPED))
        yield


def by_columns(model: Any) -> Any:
    """The same model, the weights of its linear layers laid out so that oneDNN reads them as they lie; changes it."""
    rows = {id(one.weight) for one in model.modules() if isinstance(one, nn.Embedding)}  # read row by row
    for layer in model.modules():
        if isinstance(layer, nn.Linear) and _plain(layer) and id(layer.weight) not in rows:
            layer.weight.data = layer.weight.data.t().contiguous().t()
    return model


@contextmanager
def _by_onednn(model: nn.Module) -> Iterator[None]:
    """Linear layers of float32 ask oneDNN; those that are called otherwise, or have a forward of their own, as ever."""
    layers = [one for one in model.modules() if isinstance(one, nn.Linear) and _plain(one)] if _has_onednn() else []
    for layer in layers:
        layer.__dict__["forward"] = partial(_product, layer)
    try:
        yield
    finally:
        for layer in layers:
            del layer.__dict__["forward"]


def _plain(module: nn.Linear) -> bool:
    own = type(module) is nn.Linear and "forward" not in module.__dict__
    return own and type(module.weight) is nn.Parameter and module.weight.dtype == torch.float32


def _has_onednn() -> bool:
    return bool(torch._C._has_mkldnn) and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def _product(layer: nn.Linear, x: Tensor) -> Tensor:
    weight, bias = layer.weight, layer.bias
    if x.dtype != torch.float32 or torch.is_autocast_enabled("cpu") or torch.is_grad_enabled() or not x.numel():
        return nn.functional.linear(x, weight, bias)
    found: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
    return found


def _shares_heads(model: Any) -> bool:
    """Whether it attends by torch's own function, and several heads have the same keys."""
    if getattr(model.config, "_attn_implementation", None) != "sdpa" or not hasattr(model, "set_attn_implementation"):
        return False
    return any(getattr(module, "num_key_value_groups", 1) > 1 for module in model.modules())


def _register() -> None:
    """Make the attention known to transformers, with the masks of torch's own function."""
    from transformers import AttentionInterface, AttentionMaskInterface  # slow to import, and only wanted here
    from transformers.masking_utils import sdpa_mask

    AttentionInterface.register(GROUPED, _grouped)
    AttentionMaskInterface.register(GROUPED, sdpa_mask)


def _grouped(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None = None, **settings: Any
) -> tuple[Tensor, None]:
    """Attention with a mask; without one, or with what is not known here, it is transformers' own."""
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    plain = not {name for name, value in settings.items() if value is not None} & {"position_bias", "softcap", "cache"}
    if attention_mask is None or not plain or settings.get("output_attentions"):
        usual: tuple[Tensor, None] = sdpa_attention_forward(module, query, key, value, attention_mask, **settings)
        return usual
    found = nn.functional.scaled_dot_product_attention(
        query, key, value, attention_mask, scale=settings.get("scaling"), enable_gqa=True
    )
    return found.transpose(1, 2).contiguous(), None

"""A picture of the user's model and tokenizer, to see whether explaining has changed them."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import torch


def picture(model: Any, tokenizer: Any) -> dict[str, Any]:
    modules = dict(model.named_modules())
    return {
        "weights": _digest(model.state_dict()),
        "configuration": repr(sorted(model.config.to_dict().items(), key=str)),
        "attention": getattr(model.config, "_attn_implementation", None),
        "mode": [name for name, module in modules.items() if module.training],
        "hooks": {name: len(m._forward_hooks) + len(m._forward_pre_hooks) for name, m in modules.items()},
        "settings": {name: _plain(module) for name, module in modules.items()},
        "tokenizer": (tokenizer.model_max_length, tokenizer.padding_side, tokenizer.truncation_side, len(tokenizer)),
    }


def _digest(state: dict[str, torch.Tensor]) -> str:
    digest = blake2b(digest_size=8)
    for name, tensor in state.items():
        digest.update(name.encode() + tensor.detach().reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def _plain(module: Any) -> dict[str, Any]:
    """The strings and switches that a module keeps beside its weights; BigBird notes there how it attends."""
    return {name: value for name, value in vars(module).items() if isinstance(value, str | bool) and name != "training"}

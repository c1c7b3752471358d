"""Attention by functions of our own, registered with transformers, around the eager one of a model's own file.

    assay_attention        every call goes to whoever watches: it may look, or put something in the place of the outcome
    assay_cut_attention    the weights are constants to gradients: they come from queries and keys that are detached

The model attends by them (`set_attn_implementation`) for as long as it takes, and then as before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeAlias

from torch import Tensor, nn

from assay.errors import Unanswerable

ATTENTION = "assay_attention"
CUT = "assay_cut_attention"

Attended: TypeAlias = tuple[Tensor, Tensor | None]  # the outcome [texts, pieces, heads, size], and weights


@dataclass(frozen=True)
class Call:
    """One call of attention, as transformers makes it."""

    module: nn.Module
    query: Tensor
    key: Tensor
    value: Tensor
    mask: Tensor | None
    settings: dict[str, Any]

    def eager(self) -> tuple[Tensor, Tensor]:
        """What the model's own file makes of it: the outcome, and the weights [texts, heads, from, to]."""
        function = _eager(type(self.module))
        if function is None:
            name = type(self.module).__name__
            raise Unanswerable(f"the attention of {name} cannot be watched: its file has no eager one.")
        return function(self.module, self.query, self.key, self.value, self.mask, **self.settings)

    def values(self, heads: int) -> Tensor:
        """The value vectors [texts, heads, pieces, size]; heads that use the same ones have them each."""
        return self.value.repeat_interleave(heads // self.value.shape[1], dim=1)


_watcher: ContextVar[Callable[[Call], Attended]] = ContextVar("watcher")


@contextmanager
def attending(watcher: Callable[[Call], Attended]) -> Iterator[None]:
    """Within it, every call of attention of a model that attends by our function goes to the watcher."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def steerable(model: Any) -> bool:
    """Whether transformers lets another function do the attention of this model."""
    allowed = getattr(model, "_can_set_attn_implementation", lambda: True)
    return hasattr(model, "set_attn_implementation") and bool(allowed())


def watchable(model: Any) -> bool:
    """Whether there is attention in it besides that a function of ours could do."""
    return steerable(model) and any(map(_eager, {type(module) for module in model.modules()}))


def register() -> None:
    """Make our attention functions known to transformers, with the masks of the eager one."""
    from transformers import AttentionInterface, AttentionMaskInterface  # slow to import, and only wanted here
    from transformers.masking_utils import eager_mask

    # Some files call them by keywords: the names of the parameters are those of transformers.
    for name, function in ((ATTENTION, _attend), (CUT, _cut)):
        AttentionInterface.register(name, function)
        AttentionMaskInterface.register(name, eager_mask)


def _attend(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None = None, **settings: Any
) -> Attended:
    return _watcher.get()(Call(module, query, key, value, attention_mask, settings))


def _cut(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None = None, **settings: Any
) -> Attended:
    return Call(module, query.detach(), key.detach(), value, attention_mask, settings).eager()


def _eager(kind: type[nn.Module]) -> Callable[..., tuple[Tensor, Tensor]] | None:
    files = (sys.modules.get(base.__module__) for base in kind.__mro__)
    found = (getattr(file, "eager_attention_forward", None) for file in files)
    return next((function for function in found if function is not None), None)


def layers_in(model: nn.Module) -> list[nn.Module]:
    """Every module that stands in a list of modules, a shared one once."""
    lists = [part for part in model.modules() if isinstance(part, nn.ModuleList)]
    return list(dict.fromkeys(child for part in lists for child in part))


@contextmanager
def layers_watched(model: nn.Module, enter: Callable[..., None], leave: Callable[..., None]) -> Iterator[None]:
    """Within it, `enter` and `leave` are hooks of every module that stands in a list of modules."""
    modules = layers_in(model)
    handles = [module.register_forward_pre_hook(enter, with_kwargs=True) for module in modules]
    handles += [module.register_forward_hook(leave) for module in modules]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()

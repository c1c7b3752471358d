"""Random numbers of torch from a generator of our own, for code that asks for none and so draws from the global one."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from assay.errors import Unanswerable


class OwnDraws(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Within it, what this thread draws comes from a generator of its own: the global one is left alone.

    Models and their initialisers draw from the global generator, which other threads use too; the same numbers come
    from any generator with the same seed.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.generator = torch.Generator().manual_seed(seed)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if _draws(func, args, kwargs):
            if not _takes_generator(func):  # randn and its kin: the overload that does
                func = getattr(func.overloadpacket, "generator", func)
            if not _takes_generator(func):
                raise Unanswerable(f"nothing can be drawn by {func} from a seed of its own: it takes no generator.")
            kwargs["generator"] = self.generator
        return func(*args, **kwargs)


def _draws(func: Any, args: Any, kwargs: Any) -> bool:
    """Whether this call draws: recurrent layers of a card are marked so for their dropout, which they may not have."""
    if torch.Tag.nondeterministic_seeded not in func.tags:
        return False
    given = {**dict(zip((one.name for one in func._schema.arguments), args, strict=False)), **kwargs}
    return given.get("train") is not False and given.get("dropout") != 0.0


def _takes_generator(func: Any) -> bool:
    return any(argument.name == "generator" for argument in func._schema.arguments)

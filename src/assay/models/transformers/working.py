"""The model that Assay runs: a twin of the user's, so that the user's own is never touched, not even for a moment.

Hooks are hung on the twin, its attention is switched, its mode is evaluation; the weights are the user's own, without
a copy. What the user changes later is followed: a weight changed in place is the twin's too, and when anything was
replaced (a weight, a layer, a hook, a setting) the twin is made anew. A model that cannot have a twin, because a part
of it cannot be copied or a forward was put in the place of its own, is worked on itself, by one thread at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from operator import is_
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from assay.models.transformers.twin import frozen_twin
from assay.models.turn import Turn

_PLAIN = (nn.Parameter, Tensor)  # others, such as quantised ones, may have no address
_KINDS = ("_modules", "_parameters", "_buffers", "_forward_hooks", "_forward_pre_hooks")  # what a module holds by name

_turns: WeakKeyDictionary[nn.Module, Turn] = WeakKeyDictionary()
_guard = Lock()


class Working:
    """Of one model of a user: its twin, and the turn of the threads that want to use it."""

    def __init__(self, own: Any) -> None:
        self.own = own
        with _guard:  # a model that was loaded twice has one turn, as it may have to be worked on itself
            self.turn = _turns.setdefault(own, Turn())
        self._model: Any = None
        self._seen: _Seen | None = None

    @property
    def model(self) -> Any:
        """What to run; whoever runs it has the turn."""
        if self._model is None:
            self.follow()
        return self._model

    @property
    def apart(self) -> bool:
        """Whether it is another than the user's own."""
        return self.model is not self.own

    def follow(self) -> None:
        """Make the twin anew if anything in the user's model was replaced since it was made."""
        if self._seen is None or self._seen.changed():
            self._seen = _Seen(self.own)
            self._model = _made(self.own)

    @contextmanager
    def itself(self) -> Iterator[None]:
        """Within it the user's own is run: for whoever trains it, as a twin's weights take no gradients."""
        with self.turn:
            before, self._model = self._model, self.own
            try:
                yield
            finally:
                self._model = before

    def renew(self) -> None:
        """Make the twin anew: for models that a forward pass changes for good."""
        self._seen = None
        self.follow()


class _Seen:
    """What a model held when it was looked at: the very objects, so that none of them can come back as another."""

    def __init__(self, model: Any) -> None:
        self._modules = [module.__dict__ for module in model.modules()]
        configs = (module.get("config") for module in self._modules)
        self._configs = [config.__dict__ for config in {id(c): c for c in configs if c is not None}.values()]
        self._parts = self._held()
        self._tensors = [part for part in self._parts if type(part) in _PLAIN]
        self._places = self._lie()

    def changed(self) -> bool:
        """Whether anything was replaced; what was changed in its place is the twin's too."""
        parts = self._held()
        if len(parts) != len(self._parts) or not all(map(is_, parts, self._parts)):
            return True
        return self._lie() != self._places

    def _held(self) -> list[Any]:
        parts: list[Any] = []
        for held in self._modules:
            parts += held.values()
            for kind in _KINDS:
                if held[kind]:
                    parts += held[kind].values()
        for config in self._configs:
            parts += config.values()
        return parts

    def _lie(self) -> list[int]:
        """Where the tensors lie: half() and to() give a weight other numbers, elsewhere."""
        return [tensor.data_ptr() for tensor in self._tensors]


def _made(own: Any) -> Any:
    if any("forward" in module.__dict__ for module in own.modules()):
        return own  # put there by somebody (accelerate does), and it may call what no copy knows
    try:
        with torch.inference_mode(False):
            copy = frozen_twin(own)
    except Exception:  # whatever says that it cannot be copied
        return own
    if hasattr(copy, "config"):
        copy.config.return_dict = True  # the user's may answer with a tuple, in which nothing has a name
    return copy

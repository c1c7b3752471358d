"""A transformers model and its tokenizer, as tensors go in and come out.

The user's model is only read: hooks are hung on a twin of it and removed when the batch is done, the attention and the
mode of the twin are switched (working.py), and padding is added here and never by changing the tokenizer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import blake2b
from inspect import signature
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from assay.errors import ModelNotLoaded
from assay.models.base import Spelling
from assay.models.transformers.attending import ATTENTION, CUT, register
from assay.models.transformers.devices import to_device
from assay.models.transformers.tokens import Encoder
from assay.models.transformers.twin import CAPTURING, sendable
from assay.models.transformers.working import Working
from assay.models.turn import Turn
from assay.statistics.arrays import Ints
from assay.text.text import Masks
from assay.text.variants import Symbol

# Entries of a configuration that say where a model was saved and by what, not what it computes.
_ELSEWHERE = {"_name_or_path", "architectures", "transformers_version", "dtype", "torch_dtype"}


class Network:
    """Runs a model on rows of token ids; it knows nothing of what the outputs mean."""

    def __init__(self, model: Any, tokenizer: Any, name: str | None = None) -> None:
        self.own, self.tokenizer = model, tokenizer
        self.working = Working(model)
        self.name = name or getattr(model.config, "_name_or_path", "") or type(model).__name__
        self.encoder = Encoder(tokenizer, window(model, tokenizer))
        self.spelling = Spelling(self.name, _spelling(tokenizer))
        self.takes = set(signature(model.forward).parameters)
        # The model's own padding token comes first: decoders look for it to find the end of a row.
        own = getattr(model.config, "pad_token_id", None)
        self._pad = int(own if own is not None else tokenizer.pad_token_id or 0)
        self._step = 1  # rows are padded to a multiple of it

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "own": sendable(self.own), "working": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.working = Working(self.own)
        if self.cut:
            register()  # it may be another process than the one it was made in

    @property
    def model(self) -> Any:
        """What is run: a twin of the user's own model, whose weights it has."""
        return self.working.model

    @property
    def turn(self) -> Turn:
        """Held by the thread that runs the model."""
        return self.working.turn

    @property
    def device(self) -> torch.device:
        device: torch.device = next(self.own.parameters()).device
        return device

    @property
    def cut(self) -> bool:
        """Whether no gradient flows through its attention, by our attention function."""
        return getattr(self.own.config, "_attn_implementation", None) == CUT

    def fingerprint(self) -> str:
        """A digest of all weights and of the tokenizer."""
        about = {name: value for name, value in self.own.config.to_dict().items() if name not in _ELSEWHERE}
        digest = blake2b(repr(sorted(about.items())).encode(), digest_size=16)
        for name, held in self.own.state_dict().items():
            digest.update(name.encode())
            for part in _bytes_of(held):
                digest.update(part)
        if self.encoder.has_offsets:
            digest.update(self.tokenizer.backend_tokenizer.to_str().encode())
        return digest.hexdigest()

    def inputs(self, ids: Sequence[Sequence[int]], types: Sequence[Sequence[int] | None]) -> dict[str, Tensor]:
        """Right-padded tensors; a padding token inside a row (an erased word) is attended to like any other."""
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        mask = np.arange(self.width(int(lengths.max()), self._step)) < lengths[:, None]
        batch = {"input_ids": _padded(ids, mask, self._pad), "attention_mask": mask.astype(np.int64)}
        if "token_type_ids" in self.takes and any(types):
            batch["token_type_ids"] = _padded([t or [0] * len(i) for i, t in zip(ids, types, strict=True)], mask, 0)
        return {name: to_device(table, self.device) for name, table in batch.items()}

    def width(self, length: int, step: int) -> int:
        """The next multiple of the step; no more than the model sees."""
        return max(length, min(-(-length // step) * step, self.encoder.window))

    @contextmanager
    def padded_to(self, step: int) -> Iterator[None]:
        """Within it rows are padded to a multiple of so many tokens; for whoever has the turn."""
        before, self._step = self._step, step
        try:
            yield
        finally:
            self._step = before

    def quiet(self) -> AbstractContextManager[None]:
        """Evaluation mode: a twin is always in it, the user's own model only within."""
        return nullcontext() if self.working.apart else self._switched()

    @contextmanager
    def _switched(self) -> Iterator[None]:
        """The user's own model in evaluation mode, for this thread alone; afterwards each module as it was."""
        with self.turn:
            training = [module for module in self.own.modules() if module.training]
            try:
                for module in training:
                    module.training = False
                yield
            finally:
                for module in training:
                    module.training = True

    @contextmanager
    def attending_by(self, name: str) -> Iterator[None]:
        """Within it attention is computed by the implementation of this name; afterwards as the user had it."""
        if name == ATTENTION:
            register()
        before = self.model.config._attn_implementation
        self.model.set_attn_implementation(name)
        try:
            yield
        finally:
            self.model.set_attn_implementation(before)

    @contextmanager
    def without_cache(self) -> Iterator[None]:
        """Within it the model keeps no keys and values of what it has read: its layers can be run again.

        By its settings, as a head may pass the argument `use_cache` on without naming it.
        """
        config = self.model.config
        before = getattr(config, "use_cache", None)
        if before:
            config.use_cache = False
        try:
            yield
        finally:
            if before:
                config.use_cache = before

    @contextmanager
    def hooks_as_before(self) -> Iterator[None]:
        """Removes the hooks that transformers puts on a model to capture its states, and its note that it did."""
        hooks = {module: set(module._forward_hooks) for module in self.model.modules()}
        noted = {module for module in hooks if getattr(module, CAPTURING, False)}
        try:
            yield
        finally:
            for module, before in hooks.items():
                for new in set(module._forward_hooks) - before:
                    del module._forward_hooks[new]
                if module not in noted and hasattr(module, CAPTURING):
                    delattr(module, CAPTURING)


def _bytes_of(held: Any) -> Iterator[bytes]:
    """Of a weight, or of what a quantised layer has in its place: packed weights in tuples, and their type."""
    if isinstance(held, Tensor):
        plain = held.dequantize() if held.is_quantized else held
        yield plain.detach().cpu().reshape(-1).view(torch.uint8).numpy().tobytes()
    elif isinstance(held, tuple | list):
        for part in held:
            yield from _bytes_of(part)
    else:
        yield repr(held).encode()


@contextmanager
def output_changed(layer: nn.Module, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Within it, the output of the layer is what `change` makes of it."""
    handle = layer.register_forward_hook(lambda module, args, output: change(output))
    try:
        yield
    finally:
        handle.remove()


def window(model: Any, tokenizer: Any) -> int:
    """How many tokens the model can see, by its own positions and by what its tokenizer says."""
    config = model.config
    named = (getattr(config, name, None) for name in ("max_position_embeddings", "n_positions"))
    positions = next((n for n in named if n and n > 0), 10**9)  # some have -1 for: as many as you like
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding) and module.padding_idx is not None:
            positions = module.num_embeddings - module.padding_idx - 1  # RoBERTa and its kin count from there
    return int(min(positions, _longest_text(tokenizer)))


def _longest_text(tokenizer: Any) -> float:
    """What the tokenizer says of the window; nonsense is not taken for "as many as you like"."""
    longest = 10**9 if tokenizer.model_max_length is None else tokenizer.model_max_length
    if isinstance(longest, int | float) and longest > 1:
        return longest
    raise ModelNotLoaded(
        f"the tokenizer says model_max_length={longest!r}, a window into which no word fits; is that meant? Set it to "
        "the number of tokens that the model can read."
    )


def _spelling(tokenizer: Any) -> dict[Symbol, str | None]:
    return {
        Symbol.MASK: getattr(tokenizer, "mask_token", None),
        Symbol.UNKNOWN: getattr(tokenizer, "unk_token", None),
        Symbol.PAD: getattr(tokenizer, "pad_token", None),
    }


def _padded(rows: Sequence[Sequence[int]], mask: Masks, value: int) -> Ints:
    """In numpy: for tables this small, starting torch's threads takes longer than filling the table."""
    table = np.full(mask.shape, value, dtype=np.int64)
    table[mask] = np.fromiter(chain.from_iterable(rows), np.int64, int(mask.sum()))
    return table

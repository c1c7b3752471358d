"""Hugging Face models: what is common to classifiers and masked language models.

The user's model is only read: gradients are taken at the output of its embedding layer through a hook that is gone when
the batch is done, padding is added here and never by changing the tokenizer, and training mode comes back as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from inspect import signature
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from assay.ask import Attention, AttentionMaps, Hidden, HiddenStates, PieceWords, Question, Symbol
from assay.models.base import Spelling, TextModel
from assay.models.pieces import Encoder, Pieces
from assay.text import Text

_CAPTURING = "_output_capturing_hooks_installed"
# Padded tokens a batch: on a CPU small batches are best (measured in benchmarks/), a GPU wants to be filled.
_CPU_TOKENS, _CPU_ENOUGH, _GPU_TOKENS = 768, 192, 65_536


class HuggingFace(TextModel):
    """A transformers model and its tokenizer."""

    def __init__(
        self, model: Any, tokenizer: Any, *, name: str | None = None, fields: Sequence[str] = ("text",)
    ) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.name = name or getattr(model.config, "_name_or_path", "") or type(model).__name__
        self.fields = tuple(fields)
        self.encoder = Encoder(tokenizer, window(model, tokenizer))
        self.answers = frozenset({Attention, Hidden}) if self.encoder.has_offsets else frozenset()
        self.spelling = Spelling(self.name, _spelling(tokenizer))
        on_cpu = self.device.type == "cpu"
        self.preferred_tokens = _CPU_TOKENS if on_cpu else _GPU_TOKENS
        self.enough = _CPU_ENOUGH if on_cpu else _GPU_TOKENS
        self._takes = set(signature(model.forward).parameters)
        # The model's own padding token comes first: decoders look for it to find the end of a row.
        own = getattr(model.config, "pad_token_id", None)
        self._pad = int(own if own is not None else tokenizer.pad_token_id or 0)

    @property
    def device(self) -> torch.device:
        device: torch.device = next(self.model.parameters()).device
        return device

    def clip(self, text: Text) -> Text:
        return self.encoder.clip(text)

    def fingerprint(self) -> str:
        """A digest of all weights and of the tokenizer."""
        digest = blake2b(repr(self.model.config.to_dict()).encode(), digest_size=16)
        for name, tensor in self.model.state_dict().items():
            digest.update(name.encode())
            digest.update(tensor.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
        if self.encoder.has_offsets:
            digest.update(self.tokenizer.backend_tokenizer.to_str().encode())
        return digest.hexdigest()

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Evaluation mode; afterwards every module is in the mode it was in."""
        training = [module for module in self.model.modules() if module.training]
        try:
            for module in training:
                module.training = False
            yield
        finally:
            for module in training:
                module.training = True

    def encode(self, kind: type[Question], rows: Sequence[Any]) -> Sequence[Any]:
        return [Inside(len(text), self.pieces(text)) for text in rows]

    def pieces(self, text: Text) -> Pieces:
        """The text as the model sees it."""
        return self.encoder.pieces(text)

    def answer(self, kind: type[Question], batch: Sequence[Any]) -> Any:
        """Looks inside: hidden states, or attention weights (which only the eager implementation gives)."""
        inputs = self.inputs([row.pieces.ids for row in batch], [row.pieces.types for row in batch])
        if kind is Hidden:
            with torch.no_grad(), self._hooks_as_before():
                return batch, self.model(**inputs, output_hidden_states=True).hidden_states
        with torch.no_grad(), self._hooks_as_before(), self._eager():
            return batch, self.model(**inputs, output_attentions=True).attentions

    def collect(self, kind: type[Question], outputs: Sequence[Any]) -> list[Any]:
        view = _hidden if kind is Hidden else _attention
        return [view(row, [layer[i] for layer in layers]) for batch, layers in outputs for i, row in enumerate(batch)]

    @contextmanager
    def _eager(self) -> Iterator[None]:
        """Within it attention is computed in the open; afterwards as the user had it."""
        before = self.model.config._attn_implementation
        self.model.set_attn_implementation("eager")
        try:
            yield
        finally:
            self.model.set_attn_implementation(before)

    @contextmanager
    def _hooks_as_before(self) -> Iterator[None]:
        """Takes off what transformers hangs on a model to capture its states, and its note that it did."""
        hooks = {module: set(module._forward_hooks) for module in self.model.modules()}
        noted = {module for module in hooks if getattr(module, _CAPTURING, False)}
        try:
            yield
        finally:
            for module, before in hooks.items():
                for new in set(module._forward_hooks) - before:
                    del module._forward_hooks[new]
                if module not in noted and hasattr(module, _CAPTURING):
                    delattr(module, _CAPTURING)

    def inputs(self, ids: Sequence[Sequence[int]], types: Sequence[Sequence[int] | None]) -> dict[str, Tensor]:
        """Right-padded tensors; a padding token inside a row (an erased word) is attended to like any other."""
        lengths = torch.tensor([len(row) for row in ids])
        mask = torch.arange(int(lengths.max())) < lengths[:, None]
        batch = {"input_ids": _padded(ids, mask, self._pad), "attention_mask": mask.long()}
        if "token_type_ids" in self._takes and any(types):
            batch["token_type_ids"] = _padded([t or [0] * len(i) for i, t in zip(ids, types, strict=True)], mask, 0)
        return {name: tensor.to(self.device, non_blocking=True) for name, tensor in batch.items()}

    @contextmanager
    def embeddings(self, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
        """Within it, the output of the embedding layer is what `change` makes of it."""
        layer: nn.Module = self.model.get_input_embeddings()
        handle = layer.register_forward_hook(lambda module, args, output: change(output))
        try:
            yield
        finally:
            handle.remove()

    def vector(self, symbol: Symbol) -> Tensor:
        """The embedding of the token that stands for an erased word."""
        token = self.tokenizer.convert_tokens_to_ids(self.spelling[symbol])
        weight: Tensor = self.model.get_input_embeddings().weight
        return weight[token].detach()


@dataclass(frozen=True)
class Inside:
    """A text to look into."""

    words: int
    pieces: Pieces

    def __len__(self) -> int:
        return len(self.pieces)

    @property
    def owners(self) -> PieceWords:
        return PieceWords(len(self.pieces), self.words, self.pieces.piece, self.pieces.word, self.pieces.share)


def _attention(row: Inside, layers: Sequence[Tensor]) -> AttentionMaps:
    n = len(row)
    return AttentionMaps(torch.stack([layer[:, :n, :n] for layer in layers]).float().cpu().numpy(), row.owners)


def _hidden(row: Inside, layers: Sequence[Tensor]) -> HiddenStates:
    return HiddenStates(torch.stack([layer[: len(row)] for layer in layers]).float().cpu().numpy(), row.owners)


def window(model: Any, tokenizer: Any) -> int:
    """How many tokens the model can see, by its own positions and by what its tokenizer says."""
    config = model.config
    positions = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None) or 10**9
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding) and module.padding_idx is not None:
            positions = module.num_embeddings - module.padding_idx - 1  # RoBERTa and its kin count from there
    return int(min(positions, tokenizer.model_max_length or 10**9))


def _spelling(tokenizer: Any) -> dict[Symbol, str | None]:
    return {
        Symbol.MASK: getattr(tokenizer, "mask_token", None),
        Symbol.UNKNOWN: getattr(tokenizer, "unk_token", None),
        Symbol.PAD: getattr(tokenizer, "pad_token", None),
    }


def _padded(rows: Sequence[Sequence[int]], mask: Tensor, value: int) -> Tensor:
    table = torch.full(mask.shape, value)
    flat = np.fromiter(chain.from_iterable(rows), np.int64, int(mask.sum()))
    table[mask] = torch.from_numpy(flat)
    return table

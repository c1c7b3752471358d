"""Hugging Face models: what is common to classifiers and masked language models.

The user's model is only read: gradients are taken at the output of its embedding layer through a hook that is gone when
the batch is done, padding is added here and never by changing the tokenizer, and training mode comes back as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from inspect import signature
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from assay.errors import AssayError, Unanswerable
from assay.models.base import Spelling, TextModel
from assay.models.transformers.devices import to_device
from assay.models.transformers.handlers.attending import ATTENTION, CUT, register, watchable
from assay.models.transformers.handlers.zeroing import turned
from assay.models.transformers.randomized import layers_of, randomized
from assay.models.transformers.tokens import Encoder, Pieces
from assay.models.transformers.twin import CAPTURING, sendable, twin
from assay.questions.answers import AttentionMaps, HiddenStates, PieceWords
from assay.questions.base import Question
from assay.questions.inside import Attention, Depth, Hidden, Relevance, ValueZeroing
from assay.statistics.arrays import Ints
from assay.text.text import Masks, Text
from assay.text.variants import Symbol

CUT_ATTENTION = "cut_attention"  # the model derived by this name lets no gradient flow through its attention

# What a configuration says of where it lies and who wrote it.
_ELSEWHERE = {"_name_or_path", "architectures", "transformers_version", "dtype", "torch_dtype"}
# Padded tokens a batch: on a CPU small batches are best (measured in benchmarks/), a GPU wants to be filled.
_CPU_TOKENS, _CPU_ENOUGH, _CPU_LINE = 768, 192, 384
_GPU_TOKENS, _GPU_LINE = 65_536, 4096


class HuggingFace(TextModel):
    """A transformers model and its tokenizer."""

    def __init__(
        self, model: Any, tokenizer: Any, *, name: str | None = None, fields: Sequence[str] = ("text",)
    ) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.name = name or getattr(model.config, "_name_or_path", "") or type(model).__name__
        self.fields = tuple(fields)
        self.encoder = Encoder(tokenizer, window(model, tokenizer))
        self.answers = frozenset({Attention, Hidden, Depth} if self.encoder.has_offsets else {Depth})
        if self.encoder.has_offsets and watchable(model):
            self.answers |= {ValueZeroing}
        self.spelling = Spelling(self.name, _spelling(tokenizer))
        on_cpu = self.device.type == "cpu"
        self.preferred_tokens = _CPU_TOKENS if on_cpu else _GPU_TOKENS
        self.enough = _CPU_ENOUGH if on_cpu else _GPU_TOKENS
        self.line_tokens = _CPU_LINE if on_cpu else _GPU_LINE
        self._takes = set(signature(model.forward).parameters)
        if "attention_mask" not in self._takes:  # it reads padding as text, so only rows of one length go together
            self.enough = 0
        # The model's own padding token comes first: decoders look for it to find the end of a row.
        own = getattr(model.config, "pad_token_id", None)
        self._pad = int(own if own is not None else tokenizer.pad_token_id or 0)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "model": sendable(self.model)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if getattr(self.model.config, "_attn_implementation", None) == CUT:
            register()  # it may be another process than the one it was made in

    @property
    def device(self) -> torch.device:
        device: torch.device = next(self.model.parameters()).device
        return device

    @property
    def bytes(self) -> int:
        return sum(tensor.numel() * tensor.element_size() for tensor in self.model.state_dict().values())

    def clip(self, text: Text) -> Text:
        return self.encoder.clip(text)

    def fingerprint(self) -> str:
        """A digest of all weights and of the tokenizer."""
        about = {name: value for name, value in self.model.config.to_dict().items() if name not in _ELSEWHERE}
        digest = blake2b(repr(sorted(about.items())).encode(), digest_size=16)
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

    def derived(self, spec: str) -> HuggingFace:
        if spec != CUT_ATTENTION:
            return self._with(randomized(self.model, spec), f"{self.name}@{spec}")
        cut = self._with(self._cut(), f"{self.name}@{spec}")
        cut.answers -= {Relevance}  # it follows the attention by rules of its own
        return cut

    def _cut(self) -> Any:
        """The same weights in a model whose attention is a constant to gradients."""
        if not watchable(self.model):
            raise Unanswerable(
                f"the attention of {self.name} is not done by a function that can be replaced, so there is no "
                f"{CUT_ATTENTION!r} of it; BERT and most other models of transformers have one."
            )
        register()
        model = twin(self.model)
        model.set_attn_implementation(CUT)
        return model

    def _with(self, model: Any, name: str) -> HuggingFace:
        """The same adapter around another model of the same kind."""
        return type(self)(model, self.tokenizer, name=name, fields=self.fields)

    def encode(self, kind: type[Question], rows: Sequence[Any]) -> Sequence[Any]:
        if kind is Depth:
            return rows
        return [self._looked_at(Zeroed if kind is ValueZeroing else Inside, text) for text in rows]

    def _looked_at(self, look: type[Inside], text: Text) -> Inside | AssayError:
        """An error is the answer of its row alone."""
        try:
            return look(len(text), self.pieces(text), self.reader(text))
        except AssayError as error:
            return error

    def pieces(self, text: Text) -> Pieces:
        """The text as the model sees it."""
        return self.encoder.pieces(text)

    def reader(self, text: Text) -> int | None:
        """The piece whose state becomes the answer, where it is not the first or the last."""
        return None

    @property
    def embedding(self) -> Any:
        """The layer that embeds the pieces of a text."""
        return self.model.get_input_embeddings()

    def answer(self, kind: type[Question], batch: Sequence[Any]) -> Any:
        """Looks inside: hidden states, or attention weights (which only the eager implementation gives)."""
        if kind is Depth:
            return [np.array([len(layers_of(self.model))], dtype=np.float64)] * len(batch)
        inputs = self.inputs([row.pieces.ids for row in batch], [row.pieces.types for row in batch])
        if kind is ValueZeroing:
            return batch, self._turned(batch, inputs)
        if kind is Hidden:
            with torch.no_grad(), self._hooks_as_before():
                return batch, self.model(**inputs, output_hidden_states=True).hidden_states
        with torch.no_grad(), self._hooks_as_before(), self._eager():
            return batch, self.model(**inputs, output_attentions=True).attentions

    def collect(self, kind: type[Question], outputs: Sequence[Any]) -> list[Any]:
        if kind is Depth:
            return [row for output in outputs for row in output]
        view = _hidden if kind is Hidden else _attention
        return [view(row, [layer[i] for layer in layers]) for batch, layers in outputs for i, row in enumerate(batch)]

    def _turned(self, batch: Sequence[Zeroed], inputs: Mapping[str, Any]) -> list[Tensor]:
        register()
        fresh = {"use_cache": False} if "use_cache" in self._takes else {}  # layers that remember cannot be run again
        with torch.no_grad(), self._eager(ATTENTION):
            lengths = [len(row.pieces) for row in batch]
            return turned(self.model, {**inputs, **fresh}, lengths, self.preferred_tokens)

    @contextmanager
    def _eager(self, name: str = "eager") -> Iterator[None]:
        """Within it attention is computed in the open; afterwards as the user had it."""
        before = self.model.config._attn_implementation
        self.model.set_attn_implementation(name)
        try:
            yield
        finally:
            self.model.set_attn_implementation(before)

    @contextmanager
    def _hooks_as_before(self) -> Iterator[None]:
        """Takes off what transformers hangs on a model to capture its states, and its note that it did."""
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

    def inputs(self, ids: Sequence[Sequence[int]], types: Sequence[Sequence[int] | None]) -> dict[str, Tensor]:
        """Right-padded tensors; a padding token inside a row (an erased word) is attended to like any other."""
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        mask = np.arange(lengths.max()) < lengths[:, None]
        batch = {"input_ids": _padded(ids, mask, self._pad), "attention_mask": mask.astype(np.int64)}
        if "token_type_ids" in self._takes and any(types):
            batch["token_type_ids"] = _padded([t or [0] * len(i) for i, t in zip(ids, types, strict=True)], mask, 0)
        return {name: to_device(table, self.device) for name, table in batch.items()}

    @contextmanager
    def embeddings(self, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
        """Within it, the output of the embedding layer is what `change` makes of it."""
        layer: nn.Module = self.embedding
        handle = layer.register_forward_hook(lambda module, args, output: change(output))
        try:
            yield
        finally:
            handle.remove()


@dataclass(frozen=True)
class Inside:
    """A text to look into."""

    words: int
    pieces: Pieces
    reader: int | None = None

    def __len__(self) -> int:
        return len(self.pieces)

    @property
    def owners(self) -> PieceWords:
        return PieceWords(len(self.pieces), self.words, self.pieces.piece, self.pieces.word, self.pieces.share)


@dataclass(frozen=True)
class Zeroed(Inside):
    """A text of which each piece loses its value vector in turn: as costly as that many texts."""

    def __len__(self) -> int:
        return len(self.pieces) * (len(self.pieces) + 1)


def _attention(row: Inside, layers: Sequence[Tensor]) -> AttentionMaps:
    n = len(row.pieces)
    weights = torch.stack([layer[:, :n, :n] for layer in layers]).float().cpu().numpy()
    return AttentionMaps(weights, row.owners, row.reader)


def _hidden(row: Inside, layers: Sequence[Tensor]) -> HiddenStates:
    return HiddenStates(torch.stack([layer[: len(row)] for layer in layers]).float().cpu().numpy(), row.owners)


def window(model: Any, tokenizer: Any) -> int:
    """How many tokens the model can see, by its own positions and by what its tokenizer says."""
    config = model.config
    named = (getattr(config, name, None) for name in ("max_position_embeddings", "n_positions"))
    positions = next((n for n in named if n and n > 0), 10**9)  # some say -1 for: as many as you like
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


def _padded(rows: Sequence[Sequence[int]], mask: Masks, value: int) -> Ints:
    """In numpy: tables this small take torch's threads longer to begin than to fill."""
    table = np.full(mask.shape, value, dtype=np.int64)
    table[mask] = np.fromiter(chain.from_iterable(rows), np.int64, int(mask.sum()))
    return table

"""Hugging Face masked language models: Fill.

Only the holes are projected to the vocabulary: a hook on the encoder hands the head the hidden states of the masked
positions alone, which is most of the cost of a masked language model on short texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from assay.ask import Fill, FillRow, Fills, Question, Symbol
from assay.errors import ModelNotLoaded, Unanswerable
from assay.models.hugging_face import HuggingFace
from assay.models.pieces import Pieces


@dataclass(frozen=True)
class Holes:
    """A text with masks in its holes: its pieces, and where the masks are."""

    row: FillRow
    pieces: Pieces
    at: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.pieces)


class MaskedLM(HuggingFace):
    """Answers with the likeliest words for the holes of a text."""

    def __init__(self, model: Any, tokenizer: Any, **settings: Any) -> None:
        super().__init__(model, tokenizer, **settings)
        if tokenizer.mask_token is None or not self.encoder.has_offsets:
            raise ModelNotLoaded(f"{self.name} has no mask token (or a slow tokenizer), so it cannot fill holes.")
        self.answers |= {Fill}

    def encode(self, kind: type[Question], rows: Sequence[Any]) -> Sequence[Any]:
        return [self._holes(row) for row in rows] if kind is Fill else super().encode(kind, rows)

    def answer(self, kind: type[Question], batch: Sequence[Any]) -> Any:
        return self._top(batch) if kind is Fill else super().answer(kind, batch)

    def collect(self, kind: type[Question], outputs: Sequence[Any]) -> list[Any]:
        if kind is not Fill:
            return super().collect(kind, outputs)
        return [
            fill for ids, chances, batch in outputs for fill in self._fills(ids.cpu(), chances.double().cpu(), batch)
        ]

    def _top(self, batch: Sequence[Holes]) -> tuple[Tensor, Tensor, Sequence[Holes]]:
        """The likeliest tokens for every hole of the batch, hole after hole."""
        inputs = self.inputs([row.pieces.ids for row in batch], [row.pieces.types for row in batch])
        index = [(i, at) for i, row in enumerate(batch) for at in row.at]
        if not index:
            return torch.zeros(0, 0), torch.zeros(0, 0), batch
        k = min(max(row.row.k for row in batch), int(self._whole.sum()))
        with torch.no_grad(), self._only_at(index):
            logits: Tensor = self.model(**inputs).logits[:, 0]
        chances = logits.float().softmax(-1)
        whole = torch.tensor([row.row.whole_words for row in batch for _ in row.at], device=logits.device)[:, None]
        allowed = torch.where(whole, self._whole, self._plain)
        top = chances.masked_fill(~allowed, -1.0).topk(k)
        return top.indices, top.values.clamp_min(0), batch

    def _fills(self, ids: Tensor, chances: Tensor, batch: Sequence[Holes]) -> Iterator[Fills]:
        start = 0
        for row in batch:
            part = slice(start, start + len(row.at))
            words = tuple(tuple(self._word(int(i)) for i in hole[: row.row.k]) for hole in ids[part])
            yield Fills(words, chances[part, : row.row.k].numpy())
            start = part.stop

    def _holes(self, row: FillRow) -> Holes | Unanswerable:
        mask = self.spelling[Symbol.MASK]
        text = row.text.with_words([w if kept else mask for w, kept in zip(row.text.words, row.keep, strict=True)])
        pieces = self.encoder.pieces(text)
        first = {int(w): int(p) for p, w in zip(pieces.piece[::-1], pieces.word[::-1], strict=True)}
        holes = [w for w, kept in enumerate(row.keep) if not kept]
        if beyond := [row.text.words[w] for w in holes if w not in first]:
            return Unanswerable(f"{beyond[0]!r} stands beyond the window of the masked language model {self.name}.")
        return Holes(row, pieces, tuple(first[w] for w in holes))

    @contextmanager
    def _only_at(self, index: Sequence[tuple[int, int]]) -> Iterator[None]:
        """Within it, the head sees the hidden states at these (row, position) pairs and nothing else."""
        rows, positions = (
            torch.tensor(part, device=self.device, dtype=torch.long) for part in zip(*index, strict=True)
        )

        def gather(module: Any, args: Any, output: Any) -> Any:
            output["last_hidden_state"] = output.last_hidden_state[rows, positions][:, None]
            return output

        handle = self.model.base_model.register_forward_hook(gather)
        try:
            yield
        finally:
            handle.remove()

    def _word(self, token: int) -> str:
        return str(self.tokenizer.decode([token])).removeprefix("##").strip()

    @cached_property
    def _tokens(self) -> list[str]:
        size = self.model.get_output_embeddings().weight.shape[0]
        return [token or "" for token in self.tokenizer.convert_ids_to_tokens(list(range(size)))]

    @cached_property
    def _plain(self) -> Tensor:
        """Tokens that are text at all: no special tokens, no unused places."""
        special = set(self.tokenizer.all_special_tokens)
        usable = [t not in special and bool(t) and not t.startswith("[unused") for t in self._tokens]
        return torch.tensor(usable, device=self.device)

    @cached_property
    def _whole(self) -> Tensor:
        """Tokens that are a whole word: not a continuation, in the tokenizer's own way of marking."""
        starts = next(
            (mark for mark in "Ġ▁" if sum(t.startswith(mark) for t in self._tokens) > 0.01 * len(self._tokens)), ""
        )
        whole = [t.startswith(starts) and len(t) > len(starts) and not t.startswith("##") for t in self._tokens]
        if starts == "Ġ":  # a byte-level token may be a part of a character
            whole = [w and "\ufffd" not in self._word(i) and bool(self._word(i)) for i, w in enumerate(whole)]
        return torch.tensor(whole, device=self.device) & self._plain

"""Hugging Face encoder-decoder models (T5, BART): the probability of an output text (continued.py).

    ("translate to German: The film is good.", "Der Film ist gut.")        or the text alone, for the model's own output

The words of the text that the encoder reads are explained, the decoder's tokens are fixed. The decoder begins as when
the model generates: its start token, then the token that its settings or its tokenizer put before every text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from assay.errors import AssayError, ModelNotLoaded
from assay.models.transformers.tasks.continued import Continued
from assay.models.transformers.tasks.worded import Index, Wanted
from assay.questions.base import Question
from assay.questions.inside import Attention, Hidden, ValueZeroing


class Seq2Seq(Continued):
    """Turns one text into another."""

    kind = "sequence-to-sequence model"

    def __init__(self, model: Any, tokenizer: Any, **settings: Any) -> None:
        super().__init__(model, tokenizer, **settings)
        self.answers -= {Attention, ValueZeroing}  # no piece of the encoder is the one that becomes the answer
        self._start = self._prefix()

    @property
    def embedding(self) -> Any:
        """The encoder's own; the decoder's has the same weights but reads another text."""
        return self.model.get_encoder().get_input_embeddings()

    def answer(self, kind: type[Question], batch: Sequence[Any]) -> Any:
        if kind is not Hidden:
            return super().answer(kind, batch)
        inputs = self.inputs([row.pieces.ids for row in batch], [row.pieces.types for row in batch])
        with torch.no_grad(), self._hooks_as_before():
            return batch, self.model.get_encoder()(**inputs, output_hidden_states=True).hidden_states

    def _prefix(self) -> tuple[int, ...]:
        """What the decoder is given before the first token of the output."""
        start = self._setting("decoder_start_token_id")
        if start is None:
            raise ModelNotLoaded(f"{self.name} does not say with which token its decoder starts; set it in its config.")
        forced = self._setting("forced_bos_token_id")
        return (start, *(self.encoder.template(1).specials[0] if forced is None else (forced,)))

    def _setting(self, name: str) -> Any:
        sources = (getattr(self.model, "generation_config", None), self.model.config)
        return next((value for source in sources if (value := getattr(source, name, None)) is not None), None)

    def _pieces_of(self, string: str) -> Sequence[int]:
        return list(self.encoder.tokenizer(text_target=string, add_special_tokens=False)["input_ids"])

    def _heads(self, strings: Sequence[str]) -> Sequence[list[int] | AssayError]:
        return [ids or [self._start[0]] for ids, _ in self.encoder.rows([(string,) for string in strings])]

    def _room(self, head: Sequence[int]) -> int:
        return self.window - len(self._start) + 1

    def _wanted(self, head: list[int], ids: Sequence[int], first: int, last: int) -> Wanted:
        at = tuple(len(self._start) - 1 + j for j in range(first, last))
        return Wanted(head, None, at, tuple(ids[first:last]), (*self._start, *ids[: last - 1]))

    def _projected(self, batch: Sequence[Any], index: Index) -> Tensor:
        inputs = self.inputs([row.ids for row in batch], [row.types for row in batch])
        before = self.inputs([row.before for row in batch], [None] * len(batch))["input_ids"]
        logits: Tensor = self.model(**inputs, decoder_input_ids=before, use_cache=False).logits[self._places(index)]
        return logits if logits.dtype == torch.float64 else logits.float()

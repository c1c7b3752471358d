"""Hugging Face encoder-decoder models (T5, BART): the probability of an output text (continued.py).

    ("translate to German: The film is good.", "Der Film ist gut.")        or the text alone, for the model's own output

The words of the text that the encoder reads are explained, the decoder's tokens are fixed. The decoder begins as when
the model generates: its start token, then the token that its settings or its tokenizer put before every text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from assay.errors import AssayError, BadInput, ModelNotLoaded
from assay.models.transformers.admission.sameness import same
from assay.models.transformers.network import Network
from assay.models.transformers.tasks.continued import Continued, Learned
from assay.models.transformers.tasks.projection import Index, Wanted, tensors
from assay.text.text import Row


class Seq2Seq(Continued):
    """Turns one text into another."""

    kind = "sequence-to-sequence model"
    no_reader = "no piece of its encoder is the one that becomes the answer"

    def __init__(self, network: Network, fields: Sequence[str] = ("text",)) -> None:
        super().__init__(network, fields)
        self.start = self._prefix()

    @property
    def embedding(self) -> Any:
        """The encoder's own; the decoder's has the same weights but reads another text."""
        found = getattr(self.body, "get_input_embeddings", None)  # FSMT's encoder does not say
        return found() if found else None

    @property
    def body(self) -> Any:
        return self.network.model.get_encoder()

    def _prefix(self) -> tuple[int, ...]:
        """What the decoder is given before the first token of the output."""
        start = self._setting("decoder_start_token_id")
        if start is None:
            raise ModelNotLoaded(
                f"{self.network.name} does not say with which token its decoder starts; set it in its config."
            )
        forced = self._setting("forced_bos_token_id")
        return (start, *(self.network.encoder.template(1).specials[0] if forced is None else (forced,)))

    def _setting(self, name: str) -> Any:
        sources = (getattr(self.network.model, "generation_config", None), self.network.model.config)
        return next((value for source in sources if (value := getattr(source, name, None)) is not None), None)

    def _pieces_of(self, string: str) -> Sequence[int]:
        return list(self.network.encoder.tokenizer(text_target=string, add_special_tokens=False)["input_ids"])

    def continuation_of(self, ids: Sequence[int]) -> str:
        return self.decoded(ids)  # an output is a text of its own

    def _heads(self, strings: Sequence[str]) -> Sequence[list[int] | AssayError]:
        return [ids or [self.start[0]] for ids, _ in self.network.encoder.rows([(string,) for string in strings])]

    def _room(self, head: Sequence[int]) -> int:
        return self.window - len(self.start) + 1

    def _wanted(self, head: list[int], ids: Sequence[int], first: int, last: int) -> Wanted:
        at = tuple(len(self.start) - 1 + j for j in range(first, last))
        return Wanted(head, None, at, tuple(ids[first:last]), (*self.start, *ids[: last - 1]))

    def learned(self, row: Row) -> Learned | AssayError:
        """With the token that ends the output, as in training."""
        if len(row) == 1:
            return BadInput(f"a {self.kind} learns from pairs, a text and its output: there is {row[0]!r:.40} alone.")
        head = self._heads(row[:1])[0]
        if isinstance(head, AssayError):
            return head
        ids = [*self._pieces_of(row[1]), *sorted(self.stops())[:1]]
        kept = ids[: self._room(head)]
        return Learned(self._wanted(head, kept, 0, len(kept)), len(ids) - len(kept))

    def said(self, model: Any, inputs: dict[str, Tensor]) -> Tensor:
        start = torch.full((len(inputs["input_ids"]), 1), self.start[0], device=self.network.device)
        logits: Tensor = model(**inputs, decoder_input_ids=start, use_cache=False).logits[:, 0]
        return logits

    def projected(self, batch: Sequence[Wanted], index: Index) -> Tensor:
        inputs = self.network.inputs([row.ids for row in batch], [row.types for row in batch])
        before = self.network.inputs([row.before for row in batch], [None] * len(batch))["input_ids"]
        output = self.network.model(**inputs, decoder_input_ids=before, use_cache=False)
        logits: Tensor = output.logits[tensors(index, self.network.device)]
        return logits if logits.dtype == torch.float64 else logits.float()

    def vocabulary_places(self, rows: Iterable[Wanted]) -> list[int]:
        return [len(row.before) for row in rows]  # its head is given all places of the output

    @property
    def places_to_settle(self) -> int:
        return len(self.start) + self.max_new_tokens - 1

    @cached_property
    def bears_padding(self) -> bool:
        """ProphetNet's decoder looks at several tokens to come at once, and at padding with them; tried once."""
        head = self._heads(["a"])[0]
        if isinstance(head, AssayError):
            return False
        short, long = (Wanted(head, None, (0, 1), (), self.start[:1] * n) for n in (2, 5))
        with torch.no_grad():
            alone = self.projected([short], [(0, 0), (0, 1)])
            return same(alone, self.projected([long, short], [(1, 0), (1, 1)]))

"""Sequence classifiers, for one text and for pairs: logits [n, labels].

Some tokenizers put nothing around a text (those of most decoders), so a text without words has no token at all, and no
model answers that. It is read as one neutral token: the one that begins a text, or else that ends one, or pads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from torch import Tensor

from assay.errors import AssayError, Unanswerable
from assay.models.base import Spelling
from assay.models.transformers.network import Network
from assay.models.transformers.tasks.base import Task, at_least_two
from assay.models.transformers.tokens import Encoded, Pieces
from assay.text.text import Row, Text
from assay.text.variants import Symbol


class Classifier(Task):
    """Chooses among labels; one single logit becomes two labels, as in a pipeline."""

    kind = "classifier"
    plain = True

    def __init__(self, network: Network, fields: Sequence[str] = ("text",)) -> None:
        super().__init__(network, fields)
        tokenizer = network.tokenizer
        named = (getattr(tokenizer, f"{kind}_token", None) for kind in ("bos", "eos", "pad", "unk"))
        self._neutral: str | None = next((token for token in named if token), None)
        self._may_be_empty = network.encoder.template(len(self.fields)).size == 0
        self.nothing = self._neutral if self._may_be_empty else None
        if self.nothing:  # decoders without a padding token: as `CausalLM` has it
            pad = network.spelling.get(Symbol.PAD) or self.nothing
            network.spelling = Spelling(network.name, {**network.spelling, Symbol.PAD: pad})

    def facts(self) -> Iterator[str]:
        yield from super().facts()
        if self.nothing:
            yield f"A text without words is read as the token {self.nothing}: its tokenizer puts none around a text."

    def rows(self, rows: Sequence[Row]) -> Sequence[Encoded | AssayError]:
        encoded = self.network.encoder.rows(rows)
        return [row if row[0] else self._nothing() for row in encoded] if self._may_be_empty else encoded

    def pieces(self, text: Text) -> Pieces:
        pieces = super().pieces(text)
        nothing = None if pieces.ids else self._nothing()
        if isinstance(nothing, AssayError):
            raise nothing
        return pieces if nothing is None else replace(pieces, ids=nothing[0])

    def _nothing(self) -> Encoded | AssayError:
        if self._neutral is not None:
            return [int(self.network.tokenizer.convert_tokens_to_ids(self._neutral))], None
        return Unanswerable(f"a text without words has no token in the tokenizer of {self.network.name}.")

    def row(self, text: Text, pieces: Pieces) -> Any:
        return pieces.ids, pieces.types

    def logits(self, batch: Sequence[Encoded]) -> Tensor:
        inputs = self.network.inputs([ids for ids, _ in batch], [types for _, types in batch])
        return at_least_two(self.network.model(**inputs).logits)

"""Language models asked for the probability of given tokens.

    log p = sum_j log p(token_j at its place | the text)

The tokens are fixed when it is settled what is explained and stand in the text as a note: their string, or where its
pieces would be others, `#ids string`. Only the places that are asked are projected to the vocabulary: a hook on the
base model hands the head the hidden states there, as projecting is most of the cost of a language model on short texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor

from assay.errors import BadInput
from assay.models.transformers.tasks.settled import Settled, remembered, two_way
from assay.text.text import Field

_SPELLED = re.compile(r"#(\d+(?:,\d+)*) ")

Index = Sequence[tuple[int, int]]


class Wanted(NamedTuple):
    """A row, the places where it is read off, the tokens that are wanted there, and what a decoder is given before."""

    ids: list[int]
    types: list[int] | None
    at: tuple[int, ...]
    tokens: tuple[int, ...] = ()
    before: tuple[int, ...] = ()


class Worded(Settled):
    """Answers with the logits of "other" and of the wanted tokens."""

    optional = 1

    def __init__(self, model: Any, tokenizer: Any, **settings: Any) -> None:
        super().__init__(model, tokenizer, **settings)
        self.multi_label = False
        self.labels, self.target = ("other", self.notes[0]), 1
        self.most_rows = None  # padding is masked, and no token is looked for to find the end of a row
        self.fields = (*self.fields[:1], self.notes[0])
        self._noted: dict[str, tuple[int, ...]] = {}

    def tokens(self, note: str) -> tuple[int, ...]:
        """The tokens of a note."""
        return remembered(self._noted, note, self._tokens_of)

    def _tokens_of(self, note: str) -> tuple[int, ...]:
        match = _SPELLED.match(note)
        return tuple(map(int, match[1].split(","))) if match else tuple(self._pieces_of(note))

    def _said(self, note: Field) -> str:
        return _SPELLED.sub("", note.string, count=1) if _SPELLED.match(note.string) else note.string

    def note(self, ids: Sequence[int], *strings: str) -> str:
        """How tokens stand in a text: the first of these strings that has these tokens, or else with their numbers."""
        fitting = (string for string in strings if self.tokens(string) == tuple(ids))
        return next(fitting, f"#{','.join(map(str, ids))} {strings[0]}")

    def known(self, string: str) -> tuple[int, ...]:
        """The tokens of a string that the user gives; an error where the vocabulary has none for a part of it."""
        ids = tuple(self._pieces_of(string))
        unknown = self.tokenizer.unk_token_id
        if unknown in ids and unknown != self.tokenizer.eos_token_id:
            raise BadInput(f"the vocabulary of {self.name} has no tokens for {string.strip()[:40]!r}.")
        return ids

    def _pieces_of(self, string: str) -> Sequence[int]:
        return self.encoder.following(string)

    def _logits(self, batch: Sequence[Any]) -> Tensor:
        index = [(i, at) for i, row in enumerate(batch) for at in row.at]
        logits = self._projected(batch, index)
        wanted = torch.tensor([token for row in batch for token in row.tokens], device=logits.device)
        chances = logits.log_softmax(-1).gather(1, wanted[:, None])[:, 0]
        rows = torch.tensor([i for i, _ in index], device=logits.device)
        return two_way(chances.new_zeros(len(batch)).index_add(0, rows, chances))

    def _projected(self, batch: Sequence[Any], index: Index) -> Tensor:
        """The logits at these (row, place) pairs [n, vocabulary], at least in float32."""
        inputs = self.inputs([row.ids for row in batch], [row.types for row in batch])
        with self._only_at(index):
            logits: Tensor = self.model(**inputs).logits
        if logits.shape[:2] != (len(index), 1):  # a head that does not take its states from the base model
            logits = logits[self._places(index)][:, None]
        return logits[:, 0] if logits.dtype == torch.float64 else logits[:, 0].float()

    @contextmanager
    def _only_at(self, index: Index) -> Iterator[None]:
        """Within it, the head sees the hidden states at these (row, place) pairs and nothing else."""
        places = self._places(index)

        def gather(module: Any, args: Any, output: Any) -> Any:
            output["last_hidden_state"] = output.last_hidden_state[places][:, None]
            return output

        handle = self.model.base_model.register_forward_hook(gather)
        try:
            yield
        finally:
            handle.remove()

    def _places(self, index: Index) -> tuple[Tensor, ...]:
        return tuple(torch.tensor(part, device=self.device, dtype=torch.long) for part in zip(*index, strict=True))

"""A language model one token after the other: the logits at the last place of every row, with a key-value cache.

Prompts of a decoder are padded on the left, so that all rows end at one place; those of an encoder-decoder on the
right, as its encoder reads them. Rows with the same prompt read it once, and prompts that begin alike (one text, told
another answer) read their beginning once: what follows stands behind it, with padding between where lengths differ.
On a CPU prompts of several lengths are read in several passes (caches.py).
Padded rows are told their places, counted from 0; a model that counts otherwise (RoBERTa begins at 2) counts itself.
Whether a model gives a padded row the same answers as alone, goes on from its cache as from the whole text, and from a
beginning that several rows share, is tried when it first writes: where it does not, rows of one length go together, the
whole text is read for every token, or every prompt by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from assay.models.transformers.admission.sameness import same
from assay.models.transformers.caches import A_PASS, joined, padded_left, passes
from assay.models.transformers.network import Network
from assay.models.transformers.tasks.continued import Continued
from assay.models.transformers.tasks.projection import Index, Wanted, logits_at
from assay.models.transformers.tasks.seq2seq import Seq2Seq

_WORTH = 0.75  # beginnings are read by themselves if no more than this share of the tokens is left to read


class Decoder(Protocol):
    """Rows that are being written."""

    logits: Tensor  # [rows, vocabulary], for the next token of each row

    def go_on(self, rows: Sequence[int], tokens: Sequence[int]) -> None:
        """Of the rows take these, in this order, and put a token behind each."""


@dataclass(frozen=True)
class Ways:
    """How a model can be run."""

    padded: bool
    cached: bool
    shared: bool = False
    a_pass: int = 0  # what a pass costs in tokens where prompts of several lengths are read in several; 0, together


class LeftToRight:
    """The rows of a decoder."""

    logits: Tensor

    def __init__(self, network: Network, heads: Sequence[Sequence[int]], ways: Ways) -> None:
        self._network, self._ways = network, ways
        unique = list(dict.fromkeys(map(tuple, heads)))
        place = {head: i for i, head in enumerate(unique)}
        self._cache: Any = None
        stems = beginnings(unique) if ways.shared else None
        self._start(stems or unique)
        if stems is not None:
            self.logits = self._read([head[len(stem) :] for head, stem in zip(unique, stems, strict=True)])
        self._take([place[tuple(head)] for head in heads])

    def go_on(self, rows: Sequence[int], tokens: Sequence[int]) -> None:
        self._take(rows)
        self.logits = self._read([[token] for token in tokens])

    @classmethod
    def behind(cls, network: Network, stems: Sequence[tuple[int, ...]], ways: Ways) -> LeftToRight:
        """Rows that have read these beginnings, of which several may be the same."""
        made = cls.__new__(cls)
        made._network, made._ways, made._cache = network, ways, None
        made._start(stems)
        return made

    def logits_at(self, more: Sequence[Sequence[int]], index: Index) -> Tensor:
        """Put tokens behind each row; the logits at these (row, place) pairs, where places count these tokens."""
        width = max(map(len, more))
        return self._read(more, [(i, width - len(more[i]) + place) for i, place in index])

    def _start(self, heads: Sequence[tuple[int, ...]]) -> None:
        """Read every different row once."""
        unique = list(dict.fromkeys(heads))
        apart = passes(list(map(len, unique)), self._ways.a_pass) if self._ways.a_pass else [list(range(len(unique)))]
        read: list[tuple[Any, Tensor, Tensor]] = []
        for rows in apart:
            self._ids: list[list[int]] = [[] for _ in rows]
            self._mask, self._cache = torch.zeros(len(rows), 0, dtype=torch.long), None
            self.logits = self._read([unique[i] for i in rows])
            read.append((self._cache, self._mask, self.logits))
        order = [i for rows in apart for i in rows]
        if len(apart) > 1:
            caches, masks, logits = zip(*read, strict=True)
            self._cache, self._mask, self.logits = joined(caches), padded_left(masks, 1), torch.cat(logits)
            self._ids = [list(unique[i]) for i in order]
        place = {unique[i]: k for k, i in enumerate(order)}
        self._take([place[head] for head in heads])

    def _take(self, rows: Sequence[int]) -> None:
        """Rows by their numbers, some perhaps several times."""
        if list(rows) == list(range(len(self._ids))):
            return
        chosen = torch.tensor(rows, device=self._network.device)
        if self._ways.cached:
            self._cache.batch_select_indices(chosen)
        self._mask, self.logits = self._mask[chosen.cpu()], self.logits[chosen]
        self._ids = [list(self._ids[i]) for i in rows]

    def _read(self, more: Sequence[Sequence[int]], index: Index | None = None) -> Tensor:
        """Put tokens behind each row, run the model over what its cache does not hold: the last logits, or these."""
        self._ids = [[*own, *new] for own, new in zip(self._ids, more, strict=True)]
        wanted = more if self._ways.cached else self._ids
        width = max(map(len, wanted))
        ids = torch.tensor([[row[0]] * (width - len(row)) + list(row) for row in wanted])
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in wanted])
        self._mask = torch.cat([self._mask, mask], 1) if self._ways.cached else mask
        inputs = {"input_ids": ids, "attention_mask": self._mask}
        if self._ways.padded and "position_ids" in self._network.takes:
            inputs["position_ids"] = (self._mask.cumsum(1) - 1).clamp_min(0)[:, -width:]
        on_device = {name: tensor.to(self._network.device) for name, tensor in inputs.items()}
        cache = {"past_key_values": self._cache, "use_cache": True} if self._ways.cached else {}
        index = [(i, width - 1) for i in range(len(self._ids))] if index is None else index
        logits, output = logits_at(self._network, index, on_device | cache)
        self._cache = output.past_key_values if self._ways.cached else None
        return logits


def beginnings(heads: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]] | None:
    """For each prompt the beginning that it shares with others, a proper one; None where too little would be saved."""
    stems: dict[tuple[int, ...], tuple[int, ...]] = {}
    together: list[tuple[int, ...]] = []
    stem: tuple[int, ...] = ()
    for head in sorted(heads):
        common = _common(stem, head[:-1])
        if not together or 2 * len(common) < len(head):
            stems |= dict.fromkeys(together, stem)
            together, common = [], head[:-1]
        together, stem = [*together, head], common
    stems |= dict.fromkeys(together, stem)
    read = sum(map(len, set(stems.values()))) + sum(len(head) - len(stems[head]) for head in heads)
    if not all(stems.values()) or read > _WORTH * sum(map(len, heads)):
        return None
    return [stems[head] for head in heads]


def _common(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    size = min(len(one), len(other))
    return one[: next((i for i in range(size) if one[i] != other[i]), size)]


class AfterEncoder:
    """The rows of an encoder-decoder: with a cache the encoder reads the prompts once, without it again and again."""

    logits: Tensor

    def __init__(self, task: Seq2Seq, heads: Sequence[Sequence[int]], ways: Ways) -> None:
        self._task, self._network, self._ways = task, task.network, ways
        self._heads, self._ids = [list(head) for head in heads], [list(task.start) for _ in heads]
        self._cache: Any = None
        if ways.cached:
            inputs = self._network.inputs(heads, [None] * len(heads))
            self._states = task.body(**inputs).last_hidden_state
            self._mask = inputs["attention_mask"]
        self._read()

    def go_on(self, rows: Sequence[int], tokens: Sequence[int]) -> None:
        if self._ways.cached and list(rows) != list(range(len(self._ids))):
            chosen = torch.tensor(rows, device=self._network.device)
            self._states, self._mask = self._states[chosen], self._mask[chosen]
            self._cache.batch_select_indices(chosen)
        self._heads = [self._heads[i] for i in rows]
        self._ids = [[*self._ids[i], token] for i, token in zip(rows, tokens, strict=True)]
        self._read(new=1)

    def _read(self, new: int | None = None) -> None:
        if not self._ways.cached:  # FSMT forgets to mask what follows where it is given the encoder's states
            rows = [Wanted(head, None, (), (), tuple(ids)) for head, ids in zip(self._heads, self._ids, strict=True)]
            self.logits = self._task.projected(rows, [(i, len(ids) - 1) for i, ids in enumerate(self._ids)])
            return
        from transformers.modeling_outputs import BaseModelOutput

        before = torch.tensor([row[-(new or len(row)) :] for row in self._ids], device=self._network.device)
        output = self._network.model(
            encoder_outputs=BaseModelOutput(last_hidden_state=self._states),
            attention_mask=self._mask,
            decoder_input_ids=before,
            use_cache=True,
            past_key_values=self._cache,
        )
        self.logits = output.logits[:, -1].float()
        self._cache = output.past_key_values


def decoder(task: Continued, heads: Sequence[Sequence[int]], ways: Ways) -> Decoder:
    """Prompts, as tokens, ready to be gone on with."""
    if isinstance(task, Seq2Seq):
        return AfterEncoder(task, heads, ways)
    return LeftToRight(task.network, heads, ways)


def tried(task: Continued) -> Ways:
    """Whether rows may be padded, and whether the cache may be used: compared with a row alone, read as a whole."""
    heads = [head for head in task.probes() if head]
    short, long = heads[0], heads[1]
    plain = Ways(padded=False, cached=False)

    def after(rows: Sequence[Sequence[int]], ways: Ways) -> Tensor:
        """The logits of the last row, behind a token more when the rows are swapped, and one more when it is alone."""
        written = decoder(task, rows, ways)
        first = written.logits[-1:]
        order = list(range(len(rows)))[::-1]
        written.go_on(order, [short[-1]] * len(rows))
        second = written.logits[:1]
        written.go_on([0], [short[-1]])
        return torch.cat([first, second, written.logits])

    alone = after([short], plain)
    padded = _agrees(alone, lambda: after([long, short], Ways(padded=True, cached=False)))
    cached = _agrees(alone, lambda: after([long, short] if padded else [short], Ways(padded, cached=True)))
    if not (padded and cached):
        return Ways(padded, cached)
    apart = task.network.device.type == "cpu" and not isinstance(task, Seq2Seq)
    apart = apart and _agrees(alone, lambda: after([long, short], Ways(padded, cached, a_pass=1)))
    a_pass = A_PASS if apart else 0
    alike = [[*long, *long, *long[:2]], [*long, *long, long[0]]]  # the last one has padding behind what they share
    if beginnings([tuple(long), *map(tuple, alike)]) is None:
        return Ways(padded, cached, a_pass=a_pass)
    behind = after(alike[1:], plain)
    shared = _agrees(behind, lambda: after([long, *alike], Ways(padded, cached, shared=True)))
    return Ways(padded, cached, shared, a_pass)


def _agrees(alone: Tensor, other: Any) -> bool:
    try:
        return same(alone, other())
    except Exception:  # whatever a model says to a cache it does not know
        return False

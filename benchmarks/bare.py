"""The floor: the rows that a method needed, with nothing around them.

    with Recorder(model) as needed: ...explain...
    Floor(model.model, needed).run(budget)

Rows of the same lengths, made beforehand, sorted by length over the whole run, packed to a token budget, forward (and
backward) only. No explanation that needs these rows can be faster on the same machine with the same budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

import numpy as np
import torch

from assay.questions.base import Question


class Recorder:
    """Listens which rows a model is asked, and how long they are: forward only, and with a backward."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.forward: list[int] = []
        self.backward: list[int] = []

    def __enter__(self) -> Recorder:
        encode = self.model.encode

        def listening(kind: type[Question], rows: Sequence[Any]) -> Sequence[Any]:
            encoded = encode(kind, rows)
            lengths, counts = list(self.model.lengths(kind, encoded)), self.model.sequences(kind, encoded)
            each = np.repeat(lengths, 1 if counts is None else list(counts)).tolist()
            (self.backward if kind.backward else self.forward).extend(each)
            return encoded

        self.model.encode = listening
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        del self.model.encode


class Floor:
    """The same rows, bare."""

    def __init__(self, model: Any, needed: Recorder, every: int = 1) -> None:
        self.model = model
        self.device = next(model.parameters()).device
        self.forward = sorted(needed.forward, reverse=True)[::every]
        self.backward = sorted(needed.backward, reverse=True)[::every]
        self.ids = torch.randint(1000, 2000, (1, 600), device=self.device)

    def run(self, budget: int) -> None:
        for lengths, backward in ((self.forward, False), (self.backward, True)):
            at = 0
            while at < len(lengths):
                batch = lengths[at : at + max(1, budget // lengths[at])]
                self._batch(batch, backward)
                at += len(batch)

    def _batch(self, lengths: Sequence[int], backward: bool) -> None:
        ids = self.ids[:, : lengths[0]].expand(len(lengths), -1)
        sizes = torch.tensor(lengths).to(self.device, non_blocking=True)[:, None]
        mask = (torch.arange(lengths[0], device=self.device) < sizes).long()
        if not backward:
            with torch.no_grad():
                self.model(input_ids=ids, attention_mask=mask)
            return
        with torch.no_grad():
            embedded = self.model.get_input_embeddings()(ids)
        embedded.requires_grad_()
        output = self.model(inputs_embeds=embedded, attention_mask=mask)
        torch.autograd.grad(output.logits[:, 0].sum(), embedded)

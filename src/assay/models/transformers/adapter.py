"""Hugging Face models as the engine sees them: a network, a task, and a table of handlers.

    network    the model and its tokenizer: tensors in, tensors out                                   network.py
    task       what goes in and what the logits mean: a label, a tag, a span, a word, a continuation  tasks/
    answers    who answers which question, the same handlers for every task                           handlers/

Which handlers a model gets is decided in one place, handlers/table.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

import torch

from assay.models.base import Handler, TextModel
from assay.models.transformers.derived import derived
from assay.models.transformers.network import Network
from assay.models.transformers.side_by_side import prepare, stateless
from assay.models.transformers.tasks.base import Task
from assay.models.transformers.tokens import Encoder
from assay.models.turn import Turn
from assay.questions.base import Question
from assay.questions.predict import Predict
from assay.text.text import Text

Table: TypeAlias = Callable[[Network, Task], Mapping[type[Question], Handler[Any]]]

# Padded tokens a batch: on a CPU small batches are best (measured in benchmarks/), a GPU wants to be filled.
_CPU_TOKENS, _CPU_ENOUGH, _CPU_LINE = 768, 192, 384
_GPU_TOKENS, _GPU_LINE = 65_536, 4096


class HuggingFace(TextModel):
    """A transformers model and its tokenizer, at a task; `table` says who answers which question."""

    def __init__(self, network: Network, task: Task, table: Table) -> None:
        self.network, self.task, self.table = network, task, table
        self.answers = table(network, task)
        self.name, self.spelling = network.name, network.spelling
        self.labels, self.fields, self.multi_label = task.labels, task.fields, task.multi_label
        self.optional, self.focus, self.target = task.optional, task.focus, task.target
        self.most_rows = task.most_rows
        on_cpu = self.device.type == "cpu"
        self.preferred_tokens = _CPU_TOKENS if on_cpu else _GPU_TOKENS
        self.enough = _CPU_ENOUGH if on_cpu else _GPU_TOKENS
        if "attention_mask" not in network.takes:  # it reads padding as text, so only rows of one length go together
            self.enough = 0
        if on_cpu and task.plain:
            prepare()
        if network.knows_padding and task.shares_rows:
            self.line_tokens = _CPU_LINE if on_cpu else _GPU_LINE

    @property
    def model(self) -> Any:
        """The user's own model."""
        return self.network.own

    @property
    def tokenizer(self) -> Any:
        """The user's own tokenizer."""
        return self.network.tokenizer

    @property
    def encoder(self) -> Encoder:
        """Between strings and token ids."""
        return self.network.encoder

    @property
    def device(self) -> torch.device:
        return self.network.device

    @property
    def max_new_tokens(self) -> int:
        """How many tokens a continuation by the model itself has at most."""
        return self.task.max_new_tokens

    @max_new_tokens.setter
    def max_new_tokens(self, most: int) -> None:
        self.task.max_new_tokens = most

    @property
    def side_by_side(self) -> frozenset[type[Question]]:
        """Plain forward passes alone: gradients, and tasks that look at one place, put hooks on the model."""
        return frozenset({Predict}) if self.task.plain and stateless(self.model) else frozenset()

    @property
    def bytes(self) -> int:
        return sum(tensor.numel() * tensor.element_size() for tensor in self.model.state_dict().values())

    @property
    def evens(self) -> bool:
        """Whether gradients are taken in batches that make no difference to a row: of one length, and never small.

        On a CPU sums then run in one order, alone or in company. A GPU wants full batches and promises no order.
        """
        return self.device.type == "cpu" and self.most_rows != 1

    def enough_for(self, kind: type[Question]) -> int:
        return 0 if self.evens and self.answers[kind].even else self.enough

    def clip(self, text: Text) -> Text:
        return self.task.clip(text)

    def names(self, text: Text) -> tuple[str, ...]:
        return self.task.names(text)

    def fingerprint(self) -> str:
        return self.task.fingerprint(self.network.fingerprint())

    @property
    def turn(self) -> Turn:
        return self.network.turn

    def encode(self, kind: type[Question], rows: Sequence[Any]) -> Sequence[Any]:
        """The first step of every answer: from here on the model is the user's as it is now."""
        self.network.working.follow()
        return super().encode(kind, rows)

    def quiet(self) -> AbstractContextManager[None]:
        return self.network.quiet()

    def derived(self, spec: str) -> HuggingFace:
        return self.around(derived(self.model, spec, self.name), f"{self.name}@{spec}")

    def on_device(self, device: str) -> HuggingFace:
        return self.around(self.model.to(device))

    def around(self, model: Any, name: str | None = None) -> HuggingFace:
        """The same task and handlers around another model of the same kind."""
        network = Network(model, self.tokenizer, name or self.name)
        return HuggingFace(network, self.task.on(network), self.table)

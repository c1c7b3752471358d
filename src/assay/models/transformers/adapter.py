"""Hugging Face models as the engine sees them: a network, a task, and a table of handlers.

    network    the model and its tokenizer: tensors in, tensors out                                   network.py
    task       what goes in and what the logits mean: a label, a tag, a span, a word, a continuation  tasks/
    answers    who answers which question, the same handlers for every task                           handlers/

Which handlers a model gets is decided in one place, handlers/table.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any, TypeAlias

import torch

from assay.models.base import Handler, TextModel
from assay.models.transformers.admission.admit import admitted
from assay.models.transformers.admission.findings import Admission
from assay.models.transformers.derived import derived
from assay.models.transformers.inside import Inside
from assay.models.transformers.network import Network
from assay.models.transformers.obstacles import obstacles
from assay.models.transformers.side_by_side import prepare, stateless
from assay.models.transformers.tasks.base import Task
from assay.models.transformers.tokens import Encoder, Pieces
from assay.models.turn import Turn
from assay.questions.answers import PieceWords
from assay.questions.base import Question
from assay.questions.predict import Predict
from assay.text.text import Text

Table: TypeAlias = Callable[[Network, Task], Mapping[type[Question], Handler[Any]]]

# Padded tokens a batch: on a CPU small batches are best (measured in benchmarks/), a GPU wants to be filled.
_CPU_TOKENS, _CPU_ENOUGH, _CPU_LINE = 768, 192, 384
_GPU_TOKENS, _GPU_LINE = 65_536, 4096
_LOGITS = 1 << 27  # over a vocabulary, at all places of a batch: half a gigabyte
_STEP = 8  # tokens: with 4 there are twice as many batches, with 16 twice as much padding


class HuggingFace(TextModel):
    """A transformers model and its tokenizer, at a task; `table` says who answers which question."""

    def __init__(self, network: Network, task: Task, table: Table) -> None:
        self.network, self.task, self.table = network, task, table
        self._handlers = table(network, task)
        self.name, self.spelling = network.name, network.spelling
        self.labels, self.fields, self.warnings = task.labels, task.fields, task.warnings
        self.nothing, self.question = task.nothing, task.question
        self.chats = bool(getattr(network.tokenizer, "chat_template", None))
        self.multi_label, self.one_logit = task.multi_label, task.one_logit
        self.optional, self.focus, self.target = task.optional, task.focus, task.target
        self.preferred_tokens = _CPU_TOKENS if self._on_cpu else _GPU_TOKENS
        if self._on_cpu and task.plain:
            prepare()

    @cached_property
    def found(self) -> Admission:
        """What was found out about the model when it was first used."""
        found = admitted(self.network, self.task, self._handlers)
        if found.changes:
            self.network.working.renew()  # as it was before it was tried
        return found

    # What others store when they are made is found out here when it is first wanted.

    @cached_property
    def answers(self) -> Mapping[type[Question], Handler[Any]]:  # type: ignore[override]
        return {kind: handler for kind, handler in self._handlers.items() if kind not in self.found.problems}

    @cached_property
    def most_rows(self) -> int | None:  # type: ignore[override]
        return 1 if self.found.company == "alone" or not self.task.bears_padding else None

    @cached_property
    def most_places(self) -> int:  # type: ignore[override]
        vocabulary = getattr(self.network.model.config.get_text_config(decoder=True), "vocab_size", None)
        return max(1, _LOGITS // vocabulary) if vocabulary else super().most_places

    @cached_property
    def enough(self) -> int:  # type: ignore[override]
        if self.found.company != "padded":
            return 0
        return _CPU_ENOUGH if self._on_cpu else _GPU_TOKENS

    @cached_property
    def line_tokens(self) -> int:  # type: ignore[override]
        if not self.task.shares_rows or self.found.company == "alone":
            return 0
        return _CPU_LINE if self._on_cpu else _GPU_LINE

    @property
    def missing(self) -> Mapping[type[Question], str]:
        known = {**obstacles(self.network, self.task), **self.found.problems}
        return {question: why for question, why in known.items() if question not in self.answers}

    @property
    def facts(self) -> tuple[str, ...]:
        return (*self.task.facts(), *self.found.sentences())

    def readers(self, text: Text, pieces: Pieces) -> tuple[int, ...] | None:
        """The pieces whose states become the answer, where the text or the model says it."""
        at = self.task.reader(text)
        if at is not None:
            return (at,)
        return self.found.readers.of(len(pieces)) if self.found.readers else None

    def answer(self, kind: type[Question], batch: Sequence[Any]) -> Any:
        if self.found.changes:
            self.network.working.renew()
        return super().answer(kind, batch)

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
    def _on_cpu(self) -> bool:
        return self.device.type == "cpu"

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

    @property
    def step(self) -> int:
        """Rows of even batches are padded to a multiple of this, so that there are fewer lengths; 1 is not at all.

        A row has the same padding alone and in company, and so the same sums; where padding reaches the answer, none.
        """
        return _STEP if self.evens and self.task.plain and self.found.company == "padded" else 1

    def enough_for(self, kind: type[Question]) -> int:
        handler = self.answers[kind]
        if self.evens and handler.even:
            return 0
        return TextModel.enough if handler.mixed and self.enough else self.enough

    def clip(self, text: Text) -> Text:
        return self.task.clip(text)

    def pieces_of(self, text: Text) -> PieceWords | None:
        return Inside(len(text), self.task.pieces(text)).owners if self.encoder.has_offsets else None

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
        other = self.around(derived(self.model, spec, self.name), f"{self.name}@{spec}")
        other.__dict__["found"] = self.found  # other weights, built alike: it need not be tried again
        return other

    def beside(self, other: TextModel) -> TextModel:
        return other if self._on_cpu else other.on_device(str(self.device))

    def on_device(self, device: str) -> HuggingFace:
        return self.around(self.model.to(device))

    def around(self, model: Any, name: str | None = None) -> HuggingFace:
        """The same task and handlers around another model of the same kind."""
        network = Network(model, self.tokenizer, name or self.name)
        return HuggingFace(network, self.task.on(network), self.table)

"""Causal language models asked as a classifier: a question about a text, and which of some labels they would answer.

    p(label | text) = softmax over the labels of  log p(first token of the label | question, text, "Answer:")

which is how the model answers when it may write nothing but one of the labels: the first tokens must differ, so the
first decides. What all labels begin with is part of the prompt. A chat model is asked within its own template, any
other in plain text. The words of the text are explained; the question stands around them as special tokens do around
a text for other classifiers, so every method for classifiers works, and one can ask the model about its own answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

import torch
from torch import Tensor

from assay.errors import AssayError, BadInput, ModelNotLoaded
from assay.models.label_names import distinct
from assay.models.transformers.chat import chat_string
from assay.models.transformers.network import Network
from assay.models.transformers.tasks.base import Task
from assay.models.transformers.tasks.causal_lm import CausalLM
from assay.models.transformers.tasks.projection import Wanted, places_of
from assay.models.transformers.template import Template
from assay.models.transformers.tokens import Pieces
from assay.questions.generation import Prompt
from assay.text.text import Row, Text

_TEXT = "\ufdd0"  # stands for the text in a prompt: a character that no text has
_BEGUN = "Answer:"


class Chooser(Task):
    """Answers a question about a text with one of the labels; what else it is asked, its `speaker` answers."""

    kind = "language model that chooses among labels"

    def __init__(self, network: Network, labels: Sequence[str], question: str) -> None:
        super().__init__(network)
        self.speaker: CausalLM = CausalLM(network)
        self.question = question
        self.multi_label = self.one_logit = False
        self.labels, self.warnings = distinct([str(label) for label in labels])
        before, after = self._around()
        shared, self._choices = self._label_tokens()
        specials = tuple(before), (*after, *shared)
        template = Template(specials, ((0,) * len(before), (0,) * len(specials[1])), (0,))
        if template.size >= (window := self.speaker.window):
            raise BadInput(f"the question has {template.size} tokens, and {network.name} reads {window}.")
        network.encoder = network.encoder.framed(template, window)

    def on(self, network: Network) -> Chooser:
        return type(self)(network, self.labels, self.question)

    def fingerprint(self, of_network: str) -> str:
        asked = repr((of_network, self.labels, self.question)).encode()
        return blake2b(asked, digest_size=16).hexdigest()

    def asked(self, text: str) -> str:
        """The question as it is put to the model."""
        *most, last = (f'"{label}"' for label in self.labels)
        return f"{self.question} Answer only {', '.join(most)} or {last}. Do not explain the answer.\n\nText:\n{text}"

    def _around(self) -> tuple[list[int], list[int]]:
        """The tokens before and behind the text."""
        prompts, asked = self.speaker.prompts, self.asked(_TEXT)
        if getattr(prompts.tokenizer, "chat_template", None):
            string = chat_string(self.network, Prompt(asked, _BEGUN, chat=True))
            before, _, after = string.partition(_TEXT)
            parts = [list(prompts.tokenizer(part, add_special_tokens=False)["input_ids"]) for part in (before, after)]
            return parts[0], parts[1]
        before, _, after = f"{asked}\n\n{_BEGUN}".partition(_TEXT)
        head = self.speaker.head(Prompt(before))
        if isinstance(head, AssayError):
            raise head
        return head, prompts.following(after)

    def _label_tokens(self) -> tuple[list[int], list[int]]:
        """What all labels begin with, and the token after that, by which they are told apart."""
        spelled = [self.speaker.prompts.following(f" {label}") for label in self.labels]
        alike = [len(set(column)) == 1 for column in zip(*spelled, strict=False)]
        shared = spelled[0][: alike.index(False) if False in alike else len(alike)]
        rest = [ids[len(shared) :] for ids in spelled]
        first = [ids[0] if ids else None for ids in rest]
        if len(set(first)) < len(first) or None in first:
            raise ModelNotLoaded(
                f"the labels {', '.join(map(repr, self.labels))} cannot be told apart by the tokens they begin with, "
                f"for {self.network.name}; give them other names."
            )
        return shared, [token for token in first if token is not None]

    def row(self, text: Text, pieces: Pieces) -> Any:
        return self._read(pieces.ids)

    def rows(self, rows: Sequence[Row]) -> Sequence[Wanted | AssayError]:
        return [self._read(ids) for ids, _ in self.network.encoder.rows(rows)]

    def _read(self, ids: list[int]) -> Wanted:
        return Wanted(ids, None, (len(ids) - 1,))

    def vocabulary_places(self, rows: Iterable[Wanted]) -> list[int]:
        return [len(row.at) for row in rows]

    def logits(self, batch: Sequence[Wanted]) -> Tensor:
        return self.speaker.projected(batch, places_of(batch))[:, self._choices]

    def said(self, model: Any, inputs: dict[str, Tensor]) -> Tensor:
        logits: Tensor = model(**inputs).logits
        rows = torch.arange(len(logits), device=logits.device)
        return logits[rows, inputs["attention_mask"].sum(1) - 1][:, self._choices]

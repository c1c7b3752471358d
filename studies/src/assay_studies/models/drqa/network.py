"""The network: a paragraph read with the question in mind, and two bilinear looks at it.

    aligned    f_i = sum_j a_ij E(q_j)          a_ij = softmax_j(g(E(p_i)) . g(E(q_j))),   g one layer with ReLU
    paragraph  p = BiLSTM([E(p_i), f_i, is p_i a word of the question?])
    question   q = sum_j b_j h_j,               h = BiLSTM(E(q)),   b = softmax(w . h)
    answer     P(start = i) ~ exp(p_i W_s q)    P(end = i) ~ exp(p_i W_e q)

Chen, Fisch, Weston and Bordes (2017), Reading Wikipedia to Answer Open-Domain Questions, arXiv:1704.00051, section 3.2.
Without parts of speech, entities, frequencies and lemmas. Where there are several layers, the states of all of them
stand side by side, as there. Whether a word stands in the question is a fact about words, not about vectors: erasing
the word changes it, moving along its gradient does not.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers.modeling_outputs import QuestionAnsweringModelOutput

from assay.models.own.attentive.encoders import Lstm
from assay.models.own.masked_softmax import masked_softmax
from assay.models.own.small import Small
from assay_studies.models.drqa.config import DrqaConfig
from assay_studies.models.stretches import Stretch, stretches


class Stack(nn.Module):
    """Layers of bidirectional LSTMs, the states of all of them side by side."""

    def __init__(self, size: int, hidden: int, layers: int, dropout: float) -> None:
        super().__init__()
        sizes = [size, *[2 * hidden] * (layers - 1)]
        self.layers = nn.ModuleList(Lstm(own, hidden) for own in sizes)
        self.dropout = nn.Dropout(dropout)
        self.width = 2 * hidden * layers

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        states = []
        for layer in self.layers:
            vectors, _ = layer(self.dropout(vectors), lengths)
            states.append(vectors)
        return self.dropout(torch.cat(states, dim=-1))  # type: ignore[no-any-return]


class DrqaForQuestionAnswering(Small):
    """A reader under the names that transformers gives to span readers; the question comes first."""

    config_class = DrqaConfig
    base_model_prefix = "drqa"

    def __init__(self, config: DrqaConfig) -> None:
        super().__init__(config)
        size, deep = config.embedding_size, (config.hidden_size, config.layers, config.dropout)
        self.dropout = nn.Dropout(config.dropout)
        self.align = nn.Linear(size, size)
        self.paragraph = Stack(2 * size + 1, *deep)
        self.question = Stack(size, *deep)
        self.important = nn.Linear(self.question.width, 1, bias=False)
        self.start = nn.Linear(self.question.width, self.paragraph.width, bias=False)
        self.end = nn.Linear(self.question.width, self.paragraph.width, bias=False)
        self.post_init()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        **more: Any,
    ) -> QuestionAnsweringModelOutput:
        """Logits [n, length], zero where the row is not its paragraph."""
        asked, paragraph_words = stretches(input_ids, attention_mask, token_type_ids)
        vectors = self.dropout(self.embedding(input_ids))
        questions, paragraphs = asked.take(vectors), paragraph_words.take(vectors)
        known = self._known(paragraph_words.take(input_ids), asked.take(input_ids))
        seen = torch.cat([paragraphs, self._aligned(paragraphs, questions, asked), known[:, :, None]], dim=-1)
        states, question = self.paragraph(seen, paragraph_words.size.clamp_min(1)), self._asked(questions, asked)
        looks = [(states @ look(question)[:, :, None])[..., 0] for look in (self.start, self.end)]
        start, end = (paragraph_words.put(look, input_ids.shape[1]) for look in looks)
        return QuestionAnsweringModelOutput(start_logits=start, end_logits=end)

    def _known(self, paragraph: Tensor, question: Tensor) -> Tensor:
        """1 at every word of the paragraph that the question has too."""
        same = (paragraph[:, :, None] == question[:, None]) & (paragraph >= self.config.special_tokens)[:, :, None]
        return same.any(dim=-1).to(self.dtype)  # type: ignore[no-any-return]

    def _aligned(self, paragraphs: Tensor, questions: Tensor, asked: Stretch) -> Tensor:
        scores = self.align(paragraphs).relu() @ self.align(questions).relu().transpose(1, 2)
        return masked_softmax(scores, asked.there[:, None].expand_as(scores)) @ questions

    def _asked(self, questions: Tensor, asked: Stretch) -> Tensor:
        states: Tensor = self.question(questions, asked.size.clamp_min(1))
        return (masked_softmax(self.important(states)[..., 0], asked.there)[:, None] @ states)[:, 0]

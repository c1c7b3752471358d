"""The network: attend, compare, aggregate.

    attend       e_ij = F(a_i) . F(b_j)      beta_i = sum_j softmax_j(e_ij) b_j      alpha_j = sum_i softmax_i(e_ij) a_i
    compare      v_1i = G([a_i, beta_i])     v_2j = G([b_j, alpha_j])
    aggregate    y = H([sum_i v_1i, sum_j v_2j])

a and b are projected word vectors, F, G and H are networks of two layers with ReLU. Parikh, Täckström, Das and
Uszkoreit (2016), A Decomposable Attention Model for Natural Language Inference, arXiv:1606.01933; without the optional
attention within a sentence. The start of each text is the paper's NULL, to which a word without a partner can be
aligned; its end is not read. Word vectors are not divided by their length, and an unknown word has one vector.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers.modeling_outputs import SequenceClassifierOutput

from assay.models.own.masked_softmax import masked_softmax
from assay.models.own.small import Small
from assay_studies.models.decomposable.config import DecomposableConfig
from assay_studies.models.stretches import Stretch, stretches


def _layers(size: int, hidden: int, dropout: float) -> nn.Sequential:
    first, second = nn.Linear(size, hidden), nn.Linear(hidden, hidden)
    return nn.Sequential(nn.Dropout(dropout), first, nn.ReLU(), nn.Dropout(dropout), second, nn.ReLU())


class DecomposableForSequenceClassification(Small):
    """Decomposable attention under the names that transformers gives to classifiers."""

    config_class = DecomposableConfig
    base_model_prefix = "decomposable"

    def __init__(self, config: DecomposableConfig) -> None:
        super().__init__(config)
        hidden, dropout = config.hidden_size, config.dropout
        self.projection = nn.Linear(config.embedding_size, hidden, bias=False)
        self.attend = _layers(hidden, hidden, dropout)
        self.compare = _layers(2 * hidden, hidden, dropout)
        self.aggregate = _layers(2 * hidden, hidden, dropout)
        self.answer = nn.Linear(hidden, config.num_labels)
        self.post_init()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        **more: Any,
    ) -> SequenceClassifierOutput:
        vectors = self.projection(self.embedding(input_ids))
        premise, hypothesis = map(_without_end, stretches(input_ids, attention_mask, token_type_ids))
        a, b = premise.take(vectors), hypothesis.take(vectors)
        scores = self.attend(a) @ self.attend(b).transpose(1, 2)
        beta = masked_softmax(scores, hypothesis.there[:, None].expand_as(scores)) @ b
        alpha = masked_softmax(scores.transpose(1, 2), premise.there[:, None].expand_as(scores.transpose(1, 2))) @ a
        compared = [self._compared(a, beta, premise), self._compared(b, alpha, hypothesis)]
        return SequenceClassifierOutput(logits=self.answer(self.aggregate(torch.cat(compared, dim=-1))))

    def _compared(self, own: Tensor, aligned: Tensor, text: Stretch) -> Tensor:
        compared: Tensor = self.compare(torch.cat([own, aligned], dim=-1))
        return (compared * text.there[:, :, None]).sum(dim=1)


def _without_end(text: Stretch) -> Stretch:
    return Stretch(text.start, (text.size - 1).clamp_min(0))

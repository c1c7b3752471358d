"""Bag of words: logistic regression on the counts of words, as a transformers model.

    y = W x + b,  x the counts of the words of the vocabulary

It is convex, so everything that Assay says of training sets can be compared with what training really does. The
embedding is the identity, so explanations of single words work with it as with any other model.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import PretrainedConfig
from transformers.modeling_outputs import SequenceClassifierOutput

from assay.models.architecture import Architecture
from assay.models.own.small import Small
from assay.models.transformers.handlers.parameters import LastLayerHandler
from assay.models.transformers.tasks.classifier import Classifier
from assay.questions.parameters import LastLayer

SPECIAL = 4  # padding, unknown and edges: they count for nothing


class WordCountConfig(PretrainedConfig):  # type: ignore[misc]
    """The size of the vocabulary, and the labels."""

    model_type = "word_counts"

    def __init__(self, vocab_size: int = SPECIAL, pad_token_id: int = 0, **more: Any) -> None:
        self.vocab_size, self.embedding_size = vocab_size, vocab_size
        super().__init__(pad_token_id=pad_token_id, **more)


class WordCountForSequenceClassification(Small):
    """Counts words, and weighs them for each label."""

    config_class = WordCountConfig
    base_model_prefix = "word_counts"

    def __init__(self, config: WordCountConfig) -> None:
        super().__init__(config)
        self.answer = nn.Linear(config.vocab_size, config.num_labels)
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        super()._init_weights(module)
        if module is self.embedding:
            counted = torch.ones(self.config.vocab_size)
            counted[:SPECIAL] = 0
            with torch.no_grad():
                self.embedding.weight.copy_(torch.diag(counted))

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None, **more: Any) -> SequenceClassifierOutput:
        there = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        counts = (self.embedding(input_ids) * there[:, :, None]).sum(dim=1)
        return SequenceClassifierOutput(logits=self.answer(counts))


WORD_COUNTS = Architecture(
    config=WordCountConfig,
    network=WordCountForSequenceClassification,
    purpose="SequenceClassification",
    task=Classifier,
    handlers={LastLayer: LastLayerHandler},
)

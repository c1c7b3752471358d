"""A small network for questions about scenes: what each patch of the image says to the question, summed.

    y = D(sum_i G([W x_i, q]))            x_i a patch of the image,  q = BiLSTM(words of the question)

The sum over places is that of Deep Sets (Zaheer et al. 2017, arXiv:1703.06114) with a question beside every element, as
relation networks have it for pairs (Santoro et al. 2017, arXiv:1706.01427): it can count, which a mean cannot.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers.modeling_outputs import SequenceClassifierOutput

from assay.models.own.attentive.encoders import Lstm
from assay.models.own.small import Small
from assay_studies.models.scenes.config import SceneConfig


class SceneForVisualQuestionAnswering(Small):
    """Takes what the visual models of transformers take; pixels are numbers from 0 to 1 [n, 3, size, size]."""

    config_class = SceneConfig
    base_model_prefix = "scene"

    def __init__(self, config: SceneConfig) -> None:
        super().__init__(config)
        hidden, patch = config.hidden_size, config.patch_size
        self.patches = nn.Conv2d(3, hidden, patch, stride=patch)
        self.question = Lstm(config.embedding_size, hidden)
        self.meet = nn.Sequential(
            nn.Linear(hidden + self.question.width, 2 * hidden), nn.ReLU(), nn.Linear(2 * hidden, hidden), nn.ReLU()
        )
        self.answer = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, config.num_labels))
        self.post_init()

    def forward(
        self, input_ids: Tensor, pixel_values: Tensor, attention_mask: Tensor | None = None, **more: Any
    ) -> SequenceClassifierOutput:
        there = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        _, asked = self.question(self.embedding(input_ids), there.sum(dim=1).clamp_min(1))
        seen = self.patches(pixel_values - 0.5).relu().flatten(2).transpose(1, 2)
        beside = asked[:, None].expand(-1, seen.shape[1], -1)
        return SequenceClassifierOutput(logits=self.answer(self.meet(torch.cat([seen, beside], dim=-1)).sum(dim=1)))

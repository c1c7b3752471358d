"""The network: embedding, encoder, attention and decoder as one transformers model.

    y = D(sum_i a_i P h_i)

P is the first linear map of the decoder. It commutes with the weighted sum, so it is applied to the states first: to
try other weights for the same text, which is what the tests of attention do, only this small sum is computed again.

    one text     D(c) = c + b
    a pair       D(c) = V tanh(c + b + W q) + d          q the question (or hypothesis), by an encoder of its own

Two labels are one number, z for the second and -z for the first, halved: the softmax is then the sigmoid of the papers.
The first and the last token of a text (its edges) are read by the encoder and never attended to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers.modeling_outputs import SequenceClassifierOutput

from assay.models.own.attentive.attention import ATTENTIONS
from assay.models.own.attentive.config import AttentiveConfig
from assay.models.own.attentive.encoders import ENCODERS
from assay.models.own.masked_softmax import masked_softmax
from assay.models.own.small import Small

_NEVER = -1e4  # the logit of an answer that is not among the candidates


@dataclass(frozen=True)
class EncodedTexts:
    """Texts after the encoder: all that the answer depends on but the attention."""

    values: Tensor  # P h [n, length, p]
    own: Tensor  # the model's own weights [n, length]
    mask: Tensor  # where there is a word to attend to [n, length]
    question: Tensor | None  # W q [n, p]
    never: Tensor | None  # labels that cannot be the answer [n, labels]


class AttentiveForSequenceClassification(Small):
    """An attentive model under the names that transformers gives to classifiers."""

    config_class = AttentiveConfig
    base_model_prefix = "attentive"

    def __init__(self, config: AttentiveConfig) -> None:
        super().__init__(config)
        kind = ENCODERS[config.encoder]
        self.encoder = kind(config.embedding_size, config.hidden_size)
        self.asker = kind(config.embedding_size, config.hidden_size) if config.pair else None
        width = self.encoder.width
        self.attention = ATTENTIONS[config.attention](width, config.pair)
        inner = width // 2 if config.pair else self.outputs
        self.projection = nn.Linear(width, inner)
        self.question = nn.Linear(width, inner, bias=False) if config.pair else None
        self.answer = nn.Linear(inner, config.num_labels) if config.pair else None
        self.cut = False  # whether gradients stop at the attention
        self.post_init()

    @property
    def outputs(self) -> int:
        return 1 if self.config.num_labels == 2 else int(self.config.num_labels)

    @property
    def one_logit(self) -> bool:
        """Whether its two logits are both sides of one output."""
        return self.answer is None and self.outputs == 1

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        attention_weights: Tensor | None = None,
        output_attentions: bool | None = None,
        **more: Any,
    ) -> SequenceClassifierOutput:
        """`attention_weights` [n, length] stand in the place of the model's own."""
        read = self.read(input_ids, attention_mask, token_type_ids)
        used = read.own if attention_weights is None else attention_weights
        logits = self.decide(read, used[:, None])[:, 0]
        return SequenceClassifierOutput(logits=logits, attentions=(used,) if output_attentions else None)

    def read(self, ids: Tensor, mask: Tensor | None = None, types: Tensor | None = None) -> EncodedTexts:
        """Everything up to the attention, and the model's own attention."""
        there = torch.ones_like(ids) if mask is None else mask
        first = (1 - types) * there if self.config.pair and types is not None else there
        sizes = first.sum(dim=1)
        embedded = self.embedding(ids)
        states, _ = self.encoder(embedded, sizes.clamp_min(1))
        seen = _between_edges(ids, sizes)
        asked = self._asked(embedded, sizes, there.sum(dim=1) - sizes) if self.asker is not None else None
        own = masked_softmax(self.attention(states, asked), seen)
        return EncodedTexts(
            nn.functional.linear(states, self.projection.weight),
            own.detach() if self.cut else own,
            seen,
            None if self.question is None or asked is None else self.question(asked),
            self._never(ids, seen),
        )

    def decide(self, read: EncodedTexts, used: Tensor) -> Tensor:
        """Logits [n, k, labels] under k attentions for each text [n, k, length]."""
        summed = used @ read.values + self.projection.bias
        if self.answer is not None:
            assert read.question is not None
            logits: Tensor = self.answer((summed + read.question[:, None]).tanh())
            return logits if read.never is None else logits.masked_fill(read.never[:, None], _NEVER)
        return torch.cat([-summed, summed], dim=-1) / 2 if self.outputs == 1 else summed

    def _asked(self, embedded: Tensor, start: Tensor, size: Tensor) -> Tensor:
        """The vector of the question, which stands behind the text; without one, that of nothing."""
        assert self.asker is not None
        places = torch.arange(int(size.max().clamp_min(1)), device=embedded.device)
        at = (start[:, None] + places).clamp_max(embedded.shape[1] - 1)
        vectors = embedded.gather(1, at[:, :, None].expand(-1, -1, embedded.shape[2]))
        vectors = vectors * (places < size[:, None])[:, :, None]
        _, summary = self.asker(vectors, size.clamp_min(1))
        return summary  # type: ignore[no-any-return]

    def _never(self, ids: Tensor, seen: Tensor) -> Tensor | None:
        if self.config.candidates is None:
            return None
        there = torch.zeros(len(ids), self.config.vocab_size, dtype=torch.bool, device=ids.device)
        there.scatter_(1, ids.masked_fill(~seen, self.config.pad_token_id), True)
        absent = ~there[:, torch.tensor(self.config.candidates, device=ids.device)]
        return absent & ~absent.all(dim=1, keepdim=True)  # a text without any candidate leaves all of them


def _between_edges(ids: Tensor, sizes: Tensor) -> Tensor:
    """The tokens of each text but its first and its last."""
    places = torch.arange(ids.shape[1], device=ids.device)
    return (places > 0) & (places < sizes[:, None] - 1)

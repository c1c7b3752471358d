"""Attentive models as classifiers of one text, or of a text and a question that asks."""

from __future__ import annotations

from collections.abc import Sequence

from assay.models.transformers.network import Network
from assay.models.transformers.tasks.classifier import Classifier


class AttentiveClassifier(Classifier):
    """With a pair the question asks; attention is over the other text, and so are explanations, as in the papers."""

    def __init__(self, network: Network, fields: Sequence[str] = ("text",)) -> None:
        pair = bool(network.model.config.pair)
        super().__init__(network, ("paragraph", "question") if pair and len(fields) != 2 else fields)
        self.focus = self.fields[:1] if pair else None
        self.one_logit = network.model.one_logit

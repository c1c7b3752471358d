"""A causal language model as a classifier: the same model, asked a question that it answers with a label."""

from __future__ import annotations

from collections.abc import Sequence

from assay.errors import BadInput, Unanswerable
from assay.models.base import TextModel
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.handlers.table import handlers_of
from assay.models.transformers.network import Network
from assay.models.transformers.tasks.causal_lm import CausalLM
from assay.models.transformers.tasks.chooser import Chooser


def choosing(model: TextModel, labels: Sequence[str], question: str) -> HuggingFace:
    """The model with these labels for answers to the question about a text."""
    if isinstance(labels, str) or len(labels) < 2 or not question.strip():
        raise BadInput(
            "a language model that answers a question needs its answers: labels=['no', 'yes'], question='...'."
        )
    if not isinstance(model, HuggingFace) or not isinstance(model.task, CausalLM):
        raise Unanswerable(
            f"only a causal language model can be asked a question with labels, and {model.name} is not one; "
            "leave the question out."
        )
    network = Network(model.model, model.tokenizer, model.name)
    return HuggingFace(network, Chooser(network, labels, question.strip()), handlers_of)

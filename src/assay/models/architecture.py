"""Architectures that transformers does not know: Assay's own, and those of other distributions.

A distribution names such an object in the entry-point group `assay.models`, under the `model_type` of its config:

    [project.entry-points."assay.models"]
    drqa = "assay_studies.models.drqa:DRQA"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from assay.models.base import Handler
from assay.models.transformers.handlers.table import Handlers, handlers_of
from assay.models.transformers.network import Network
from assay.models.transformers.tasks.base import Task
from assay.questions.base import Question

_OWN = {
    "attentive": "assay.models.own.attentive:ATTENTIVE",
    "word_counts": "assay.models.own.bag:WORD_COUNTS",
}


@dataclass(frozen=True)
class Architecture:
    """A network of one's own: its classes, its task, and handlers in the place of, or besides, the general ones."""

    config: type[Any]
    network: type[Any]
    purpose: str  # as the Auto classes of transformers call it: SequenceClassification
    task: type[Task]
    handlers: Mapping[type[Question], type[Handler[Any]]] = field(default_factory=dict)

    def register(self) -> None:
        """Make it known to the Auto classes of transformers."""
        import transformers as hf  # slow to import, and known by now

        hf.AutoConfig.register(self.config.model_type, self.config, exist_ok=True)
        getattr(hf, f"AutoModelFor{self.purpose}").register(self.config, self.network, exist_ok=True)

    def table(self, network: Network, task: Task) -> Handlers:
        """Who answers which question."""
        return {**handlers_of(network, task), **{question: make() for question, make in self.handlers.items()}}


@cache
def architecture(model_type: str) -> Architecture | None:
    """The architecture that a config names, ours or one of another distribution."""
    if model_type in _OWN:
        module, _, name = _OWN[model_type].partition(":")
        own: Architecture = getattr(import_module(module), name)
        return own
    found = entry_points(group="assay.models", name=model_type)
    return next((entry.load() for entry in found), None)

"""Decomposable attention as a task: a classifier of a premise and a hypothesis."""

from __future__ import annotations

from collections.abc import Sequence

from assay.models.transformers.network import Network
from assay.models.transformers.tasks.classifier import Classifier


class Entailment(Classifier):
    """Reads pairs."""

    def __init__(self, network: Network, fields: Sequence[str] = ("text",)) -> None:
        super().__init__(network, fields if len(fields) == 2 else ("premise", "hypothesis"))

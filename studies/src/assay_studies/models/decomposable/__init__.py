"""Decomposable attention: natural language inference from the words of two texts, without their order.

Parikh et al. (2016), arXiv:1606.01933. A transformers model with a tokenizer of whole words, so everything that Assay
does with a classifier of pairs it does with it.
"""

from __future__ import annotations

from assay.models.architecture import Architecture
from assay_studies.models.decomposable.config import DecomposableConfig as DecomposableConfig
from assay_studies.models.decomposable.network import (
    DecomposableForSequenceClassification as DecomposableForSequenceClassification,
)
from assay_studies.models.decomposable.task import Entailment

DECOMPOSABLE = Architecture(
    config=DecomposableConfig,
    network=DecomposableForSequenceClassification,
    purpose="SequenceClassification",
    task=Entailment,
)

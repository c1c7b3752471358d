"""Decomposable attention: natural language inference from the words of two texts, without their order.

Parikh et al. (2016), arXiv:1606.01933. A transformers model with a tokenizer of whole words, so everything that Assay
does with a classifier of pairs it does with it.
"""

from __future__ import annotations

from assay.models.own.decomposable.adapter import Decomposable as Decomposable
from assay.models.own.decomposable.config import DecomposableConfig as DecomposableConfig
from assay.models.own.decomposable.network import (
    DecomposableForSequenceClassification as DecomposableForSequenceClassification,
)

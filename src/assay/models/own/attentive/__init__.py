"""Attentive models: an encoder, one attention over its states, a decoder.

    h = encoder(words)      a = softmax(score(h, q))      y = decoder(sum_i a_i h_i)

The models of Jain and Wallace (2019), arXiv:1902.10186, and Wiegreffe and Pinter (2019), arXiv:1908.04626. They are
transformers models with a tokenizer of whole words, so everything that Assay does with a classifier it does with them;
besides, their attention can be taken out and put back changed, the states staying as they are.
"""

from __future__ import annotations

from assay.models.architecture import Architecture
from assay.models.own.attentive.config import AttentiveConfig as AttentiveConfig
from assay.models.own.attentive.handlers import OneAdversaryHandler, OneAttentionHandler, OneInterventionHandler
from assay.models.own.attentive.network import AttentiveForSequenceClassification as AttentiveForSequenceClassification
from assay.models.own.attentive.task import AttentiveClassifier
from assay.models.own.attentive.words import words as words
from assay.questions.inside import Attention
from assay.questions.interventions import Adversary, InterveneAttention

ATTENTIVE = Architecture(
    config=AttentiveConfig,
    network=AttentiveForSequenceClassification,
    purpose="SequenceClassification",
    task=AttentiveClassifier,
    handlers={
        Attention: OneAttentionHandler,
        InterveneAttention: OneInterventionHandler,
        Adversary: OneAdversaryHandler,
    },
)

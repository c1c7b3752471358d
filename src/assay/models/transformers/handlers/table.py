"""Which questions a transformers model answers, and who answers them: decided here, from facts of the model.

A new question of ours is a file in `questions/`, a file with its handler beside this one, and a line in this table.
Questions of other packages come in through the entry-point group `assay.questions`: an entry point names a module whose
handler is registered by `@answers(MyQuestion)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any, TypeVar

from torch import nn

from assay.models.base import Handler
from assay.models.own.small import Small
from assay.models.transformers.attending import watchable
from assay.models.transformers.handlers.attention import AttentionHandler
from assay.models.transformers.handlers.depth import DepthHandler
from assay.models.transformers.handlers.each_token import EachTokenHandler
from assay.models.transformers.handlers.embeddings import EmbeddingsHandler
from assay.models.transformers.handlers.fill import FillHandler
from assay.models.transformers.handlers.generate import GenerateHandler
from assay.models.transformers.handlers.gradients import GradientVectorsHandler, InputGradientHandler
from assay.models.transformers.handlers.hidden import HiddenHandler
from assay.models.transformers.handlers.intervene import ActivationsHandler, InterveneHandler, UnitCountsHandler
from assay.models.transformers.handlers.interventions import InterventionHandler
from assay.models.transformers.handlers.likelihood import LikelihoodHandler
from assay.models.transformers.handlers.parameters import LastLayerHandler, ParameterGradientHandler
from assay.models.transformers.handlers.predict import PredictHandler
from assay.models.transformers.handlers.products import GradientProductsHandler
from assay.models.transformers.handlers.relevance import RelevanceHandler
from assay.models.transformers.handlers.replacements import ReplacementsHandler, VocabularyWordsHandler
from assay.models.transformers.handlers.settle import SettleHandler
from assay.models.transformers.handlers.value_zeroing import ValueZeroingHandler
from assay.models.transformers.network import Network
from assay.models.transformers.tasks.base import Task
from assay.models.transformers.tasks.classifier import Classifier
from assay.models.transformers.tasks.continued import Continued
from assay.models.transformers.tasks.masked_lm import MaskedLM
from assay.questions.base import Question
from assay.questions.each_token import EachToken
from assay.questions.embeddings import Embeddings
from assay.questions.fill import Fill
from assay.questions.generation import Generate, Likelihood
from assay.questions.gradients import GradientVectors, InputGradient
from assay.questions.inside import Attention, Depth, Hidden, Relevance, ValueZeroing
from assay.questions.intervene import Activations, Intervene, UnitCounts
from assay.questions.interventions import Adversary, InterveneAttention
from assay.questions.parameters import GradientProducts, LastLayer, ParameterGradient
from assay.questions.predict import Predict, Settle
from assay.questions.replacements import Replacements, VocabularyWords

Handlers = Mapping[type[Question], Handler[Any]]
Possible = Callable[[Network, Task], bool]
Entry = tuple[type[Question], bool, Handler[Any]]  # a question, whether it can be answered, and by whom
H = TypeVar("H", bound=type[Handler[Any]])

_ADDED: dict[type[Question], tuple[Possible, type[Handler[Any]]]] = {}


def answers(question: type[Question], *, possible: Possible = lambda network, task: True) -> Callable[[H], H]:
    """Let a handler class answer a question of another package, for models of which `possible` is true."""

    def register(handler: H) -> H:
        _ADDED[question] = (possible, handler)
        return handler

    return register


@cache
def _discover() -> None:
    for entry in entry_points(group="assay.questions"):
        entry.load()


def _of_training(network: Network, task: Task) -> list[Entry]:
    """What is asked of the weights: losses are those of one label out of several, of logits of one forward pass."""
    learns = isinstance(task, Classifier) and type(task).logits is Classifier.logits and not task.multi_label
    return [
        (ParameterGradient, learns, ParameterGradientHandler()),
        (GradientProducts, learns, GradientProductsHandler()),
        (LastLayer, learns and not isinstance(network.model, Small), LastLayerHandler()),
    ]


def handlers_of(network: Network, task: Task) -> Handlers:
    """The table of a model: each question with whether it can be answered, and by whom."""
    gradients = task.differentiable
    # Layers of attention to look into, whose pieces are those of the text; small models of our own have none.
    layers = network.encoder.has_offsets and task.opens and not isinstance(network.model, Small)
    watched = layers and watchable(network.model)  # its attention can be replaced by a function of ours
    settles = bool(task.widths)
    intervention = InterventionHandler()
    table: list[Entry] = [
        (Predict, True, PredictHandler()),
        (Depth, True, DepthHandler()),
        (Embeddings, network.encoder.has_offsets and isinstance(task.embedding, nn.Embedding), EmbeddingsHandler()),
        (Settle, settles, SettleHandler()),
        (EachToken, isinstance(task, Continued), EachTokenHandler()),
        (Fill, isinstance(task, MaskedLM), FillHandler()),
        (Generate, isinstance(task, Continued), GenerateHandler()),
        (Likelihood, isinstance(task, Continued), LikelihoodHandler()),
        (InputGradient, gradients, InputGradientHandler()),
        (GradientVectors, gradients, GradientVectorsHandler()),
        (Replacements, gradients and network.encoder.has_offsets, ReplacementsHandler()),
        (VocabularyWords, True, VocabularyWordsHandler()),
        # Where gradients are cut at the attention, its rules would follow the attention all the same.
        (Relevance, gradients and layers and not network.cut, RelevanceHandler()),
        (Hidden, layers, HiddenHandler()),
        (Attention, layers, AttentionHandler()),
        (ValueZeroing, watched, ValueZeroingHandler()),
        # What an outcome is read off differs from task to task; only labels are read off as the handler expects.
        (InterveneAttention, gradients and watched and not settles, intervention),
        (Adversary, gradients and watched and not settles, intervention),
    ]
    table += _of_training(network, task)
    # Of an encoder-decoder, layers of two kinds and attention of three would be counted together.
    counted = watched and not getattr(network.model.config, "is_encoder_decoder", False)
    sites = ((UnitCounts, UnitCountsHandler()), (Intervene, InterveneHandler()), (Activations, ActivationsHandler()))
    table += [(question, counted, handler) for question, handler in sites]
    _discover()
    table += [(question, possible(network, task), handler()) for question, (possible, handler) in _ADDED.items()]
    return {question: handler for question, possible, handler in table if possible}

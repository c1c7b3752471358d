"""Which questions a transformers model answers, and who answers them; `obstacles` says what it cannot be asked.

A new question of ours is a file in `questions/`, a file with its handler beside this one, and a line in this table.
Questions of other packages come in through the entry-point group `assay.questions`: an entry point names a module whose
handler is registered by `@answers(MyQuestion)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any, TypeVar

from assay.models.base import Handler
from assay.models.transformers.handlers.activations import ActivationsHandler
from assay.models.transformers.handlers.attention import AttentionHandler
from assay.models.transformers.handlers.depth import DepthHandler
from assay.models.transformers.handlers.each_token import EachTokenHandler
from assay.models.transformers.handlers.embeddings import EmbeddingsHandler
from assay.models.transformers.handlers.fill import FillHandler
from assay.models.transformers.handlers.generate import GenerateHandler
from assay.models.transformers.handlers.gradients import GradientVectorsHandler, InputGradientHandler
from assay.models.transformers.handlers.hidden import HiddenHandler
from assay.models.transformers.handlers.intervene import InterveneHandler
from assay.models.transformers.handlers.interventions import InterventionHandler
from assay.models.transformers.handlers.likelihood import LikelihoodHandler
from assay.models.transformers.handlers.parameters import (
    LastLayerHandler,
    LossTokensHandler,
    ParameterGradientHandler,
)
from assay.models.transformers.handlers.predict import PredictHandler
from assay.models.transformers.handlers.products import GradientProductsHandler
from assay.models.transformers.handlers.relevance import RelevanceHandler
from assay.models.transformers.handlers.replacements import ReplacementsHandler, VocabularyWordsHandler
from assay.models.transformers.handlers.self_products import SelfProductsHandler
from assay.models.transformers.handlers.settle import SettleHandler
from assay.models.transformers.handlers.sites import UnitCountsHandler
from assay.models.transformers.handlers.value_zeroing import ValueZeroingHandler
from assay.models.transformers.network import Network
from assay.models.transformers.obstacles import obstacles
from assay.models.transformers.tasks.base import Task
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
from assay.questions.parameters import GradientProducts, LastLayer, LossTokens, ParameterGradient
from assay.questions.predict import Predict, Settle
from assay.questions.replacements import Replacements, VocabularyWords
from assay.questions.self_products import SelfProducts

Handlers = Mapping[type[Question], Handler[Any]]
Possible = Callable[[Network, Task], bool]
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


def handlers_of(network: Network, task: Task) -> Handlers:
    """The table of a model: each question with who answers it, where nothing stands against asking it."""
    intervention = InterventionHandler()
    table: dict[type[Question], Handler[Any]] = {
        Predict: PredictHandler(),
        Depth: DepthHandler(),
        Embeddings: EmbeddingsHandler(),
        VocabularyWords: VocabularyWordsHandler(),
        InputGradient: InputGradientHandler(),
        GradientVectors: GradientVectorsHandler(),
        Replacements: ReplacementsHandler(),
        Relevance: RelevanceHandler(),
        Hidden: HiddenHandler(),
        Attention: AttentionHandler(),
        ValueZeroing: ValueZeroingHandler(),
        InterveneAttention: intervention,
        Adversary: intervention,
        UnitCounts: UnitCountsHandler(),
        Intervene: InterveneHandler(),
        Activations: ActivationsHandler(),
        ParameterGradient: ParameterGradientHandler(),
        GradientProducts: GradientProductsHandler(),
        SelfProducts: SelfProductsHandler(),
        LastLayer: LastLayerHandler(),
        **_of_task(task),
    }
    _discover()
    table |= {question: handler() for question, (possible, handler) in _ADDED.items() if possible(network, task)}
    without = obstacles(network, task)
    return {question: handler for question, handler in table.items() if question not in without}


def _of_task(task: Task) -> dict[type[Question], Handler[Any]]:
    """What only models of some tasks are asked."""
    table: dict[type[Question], Handler[Any]] = {Settle: SettleHandler()} if task.widths else {}
    if isinstance(task, MaskedLM):
        table[Fill] = FillHandler()
    if task.speaker is not None:
        table |= {Generate: GenerateHandler(), Likelihood: LikelihoodHandler()}
    if isinstance(task, Continued):
        table |= {EachToken: EachTokenHandler(), LossTokens: LossTokensHandler()}
    return table

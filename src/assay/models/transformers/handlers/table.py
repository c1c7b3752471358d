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
from assay.models.transformers.handlers.attention import AttentionHandler
from assay.models.transformers.handlers.depth import DepthHandler
from assay.models.transformers.handlers.fill import FillHandler
from assay.models.transformers.handlers.gradients import GradientVectorsHandler, InputGradientHandler
from assay.models.transformers.handlers.hidden import HiddenHandler
from assay.models.transformers.handlers.interventions import InterventionHandler
from assay.models.transformers.handlers.predict import PredictHandler
from assay.models.transformers.handlers.relevance import RelevanceHandler
from assay.models.transformers.handlers.settle import SettleHandler
from assay.models.transformers.handlers.value_zeroing import ValueZeroingHandler
from assay.models.transformers.network import Network
from assay.models.transformers.obstacles import obstacles
from assay.models.transformers.tasks.base import Task
from assay.models.transformers.tasks.masked_lm import MaskedLM
from assay.questions.base import Question
from assay.questions.fill import Fill
from assay.questions.gradients import GradientVectors, InputGradient
from assay.questions.inside import Attention, Depth, Hidden, Relevance, ValueZeroing
from assay.questions.interventions import Adversary, Intervene
from assay.questions.predict import Predict, Settle

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
    """The table of a model: each question with whether it can be answered, and by whom."""
    intervention = InterventionHandler()
    table: dict[type[Question], Handler[Any]] = {
        Predict: PredictHandler(),
        Depth: DepthHandler(),
        InputGradient: InputGradientHandler(),
        GradientVectors: GradientVectorsHandler(),
        Relevance: RelevanceHandler(),
        Hidden: HiddenHandler(),
        Attention: AttentionHandler(),
        ValueZeroing: ValueZeroingHandler(),
        Intervene: intervention,
        Adversary: intervention,
    }
    if task.widths:
        table[Settle] = SettleHandler()
    if isinstance(task, MaskedLM):
        table[Fill] = FillHandler()
    _discover()
    table |= {question: handler() for question, (possible, handler) in _ADDED.items() if possible(network, task)}
    without = obstacles(network, task)
    return {question: handler for question, handler in table.items() if question not in without}

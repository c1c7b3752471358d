"""Which questions a transformers model answers, and who answers them: decided here, from facts of the model.

A new question is one file with its handler, and one line in this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.models.base import Handler
from assay.models.own.small import Small
from assay.models.transformers.attending import watchable
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
from assay.models.transformers.tasks.base import Task
from assay.models.transformers.tasks.masked_lm import MaskedLM
from assay.questions.base import Question
from assay.questions.fill import Fill
from assay.questions.gradients import GradientVectors, InputGradient
from assay.questions.inside import Attention, Depth, Hidden, Relevance, ValueZeroing
from assay.questions.interventions import Adversary, Intervene
from assay.questions.predict import Predict, Settle

Handlers = Mapping[type[Question], Handler[Any]]


def handlers_of(network: Network, task: Task) -> Handlers:
    """The table of a model: each question with whether it can be answered, and by whom."""
    gradients = task.differentiable
    # Layers of attention to look into, whose pieces are those of the text; small models of our own have none.
    layers = network.encoder.has_offsets and task.opens and not isinstance(network.model, Small)
    watched = layers and watchable(network.model)  # its attention can be replaced by a function of ours
    settles = bool(task.widths)
    intervention = InterventionHandler()
    table: list[tuple[type[Question], bool, Handler[Any]]] = [
        (Predict, True, PredictHandler()),
        (Depth, True, DepthHandler()),
        (Settle, settles, SettleHandler()),
        (Fill, isinstance(task, MaskedLM), FillHandler()),
        (InputGradient, gradients, InputGradientHandler()),
        (GradientVectors, gradients, GradientVectorsHandler()),
        # Where gradients are cut at the attention, its rules would follow the attention all the same.
        (Relevance, gradients and layers and not network.cut, RelevanceHandler()),
        (Hidden, layers, HiddenHandler()),
        (Attention, layers and task.has_reader, AttentionHandler()),
        (ValueZeroing, watched and task.has_reader, ValueZeroingHandler()),
        # What an outcome is read off differs from task to task; only labels are read off as the handler expects.
        (Intervene, gradients and watched and not settles, intervention),
        (Adversary, gradients and watched and not settles, intervention),
    ]
    return {question: handler for question, possible, handler in table if possible}

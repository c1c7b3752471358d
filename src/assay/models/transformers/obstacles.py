"""Why a model cannot be asked a question although models of its kind can: a sentence for every question it lacks.

What shows only when a model is tried is found by `admission`; this is what its class, tokenizer and task say before.
"""

from __future__ import annotations

from assay.models.own.small import Small
from assay.models.transformers.attending import watchable
from assay.models.transformers.network import Network
from assay.models.transformers.tasks.base import Task
from assay.questions.base import Question
from assay.questions.gradients import GradientVectors, InputGradient
from assay.questions.inside import Attention, Hidden, Relevance, ValueZeroing
from assay.questions.interventions import Adversary, Intervene


def obstacles(network: Network, task: Task) -> dict[type[Question], str]:
    """The questions that cannot be asked, and why."""
    gradients, layers = _no_gradients(network, task), _no_layers(network, task)
    watched, outcome = _not_watched(network), _no_labels(task)
    changed = gradients or layers or watched or outcome
    found: dict[type[Question], str] = {
        InputGradient: gradients,
        GradientVectors: gradients,
        Hidden: layers,
        Attention: layers,
        ValueZeroing: layers or watched,
        Relevance: gradients or layers or _cut(network),
        Intervene: changed,
        Adversary: changed,
    }
    return {question: why for question, why in found.items() if why}


def _no_gradients(network: Network, task: Task) -> str:
    if task.differentiable:
        return ""
    if network.encoder.has_offsets:
        return f"{type(network.model).__name__} names no layer by which the words of a {task.kind} come in"
    return f"{_tokenizer(network)}, so the gradients of a {task.kind} cannot be summed over the pieces of a word"


def _no_layers(network: Network, task: Task) -> str:
    """Layers of attention to look into, whose pieces are those of the text."""
    if not network.encoder.has_offsets:
        return f"{_tokenizer(network)}, so what the layers of a {task.kind} do belongs to no word"
    if not task.opens:
        return f"the layers of a {task.kind} see more than the pieces of the text"
    if isinstance(network.model, Small):
        return f"{type(network.model).__name__} is a small model without layers of attention between its pieces"
    return ""


def _not_watched(network: Network) -> str:
    """Attention that can be replaced by a function of ours."""
    if watchable(network.model):
        return ""
    kind = type(network.model).__name__
    return f"{kind} has no attention that transformers lets one replace: it has code of its own for it, or none at all"


def _no_labels(task: Task) -> str:
    """What an outcome is read off differs from task to task; only labels are read off as the handler expects."""
    if not task.widths:
        return ""
    return f"a {task.kind} answers with one outcome, and attention is changed for models with labels only"


def _cut(network: Network) -> str:
    """Where gradients are cut at the attention, its rules would follow the attention all the same."""
    return "its gradients are cut at the attention, and relevance would pass it all the same" if network.cut else ""


def _tokenizer(network: Network) -> str:
    return f"{type(network.tokenizer).__name__} does not say where its pieces stand in the text"

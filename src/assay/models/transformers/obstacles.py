"""Why a model cannot be asked a question although models of its kind can: a sentence for every question it lacks.

What shows only when a model is tried is found by `admission`; this is what its class, tokenizer and task say before.
"""

from __future__ import annotations

from torch import nn

from assay.models.own.small import Small
from assay.models.transformers.attending import watchable
from assay.models.transformers.network import Network
from assay.models.transformers.tasks.base import Task
from assay.models.transformers.tasks.classifier import Classifier
from assay.models.transformers.tasks.continued import Continued
from assay.models.transformers.tasks.masked_lm import MaskedLM
from assay.questions.base import Question
from assay.questions.embeddings import Embeddings
from assay.questions.gradients import GradientVectors, InputGradient
from assay.questions.inside import Attention, Hidden, Relevance, ValueZeroing
from assay.questions.intervene import Activations, Intervene, UnitCounts
from assay.questions.interventions import Adversary, InterveneAttention
from assay.questions.parameters import GradientProducts, LastLayer, ParameterGradient
from assay.questions.replacements import Replacements
from assay.questions.self_products import SelfProducts


def obstacles(network: Network, task: Task) -> dict[type[Question], str]:
    """The questions that cannot be asked, and why."""
    gradients, layers = _no_gradients(network, task), _no_layers(network, task)
    watched, outcome = _not_watched(network), _no_labels(task)
    changed, sites = gradients or layers or watched or outcome, layers or watched or _two_stacks(network)
    loss = _no_loss(task)
    found: dict[type[Question], str] = {
        InputGradient: gradients,
        GradientVectors: gradients,
        Replacements: gradients or _no_offsets(network),
        Embeddings: _no_rows(network, task),
        Hidden: layers,
        Attention: layers,
        ValueZeroing: layers or watched,
        Relevance: gradients or layers or _cut(network),
        InterveneAttention: changed,
        Adversary: changed,
        UnitCounts: sites,
        Intervene: sites,
        Activations: sites,
        ParameterGradient: loss,
        GradientProducts: loss,
        SelfProducts: loss,
        LastLayer: _no_state(network, task),
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


def _no_offsets(network: Network) -> str:
    return "" if network.encoder.has_offsets else f"{_tokenizer(network)}, so a piece to replace belongs to no word"


def _no_rows(network: Network, task: Task) -> str:
    """A table of input vectors, one row for each piece."""
    if not network.encoder.has_offsets:
        return f"{_tokenizer(network)}, so its input vectors belong to no word"
    if isinstance(task.embedding, nn.Embedding):
        return ""
    return f"{type(network.model).__name__} has no plain table of input vectors"


def _two_stacks(network: Network) -> str:
    """Of an encoder-decoder, layers of two kinds and attention of three would be counted together."""
    both = getattr(network.model.config, "is_encoder_decoder", False)
    return "it has an encoder and a decoder, whose layers would be counted together" if both else ""


def _no_loss(task: Task) -> str:
    """Losses are those of one label out of several, of logits that one plain forward pass gives, or of tokens."""
    if isinstance(task, Continued):
        return ""
    if isinstance(task, MaskedLM):
        return "it was trained on words masked at random, and a text has no loss without saying which"
    return _no_label_loss(task)


def _no_label_loss(task: Task) -> str:
    if isinstance(task, Classifier) and type(task).logits is Classifier.logits and not task.multi_label:
        return ""
    return "losses are known of classifiers that choose one of several labels, and of models that go on with a text"


def _no_state(network: Network, task: Task) -> str:
    """A last layer that can be fitted again to labels."""
    if isinstance(task, Continued):
        return f"the last layer of a {task.kind} gives one score for each token of its vocabulary, and no label"
    return _no_label_loss(task) or _small(network)


def _small(network: Network) -> str:
    kind = type(network.model).__name__
    return f"{kind} is a small model whose last layer is not a plain one" if isinstance(network.model, Small) else ""


def _tokenizer(network: Network) -> str:
    return f"{type(network.tokenizer).__name__} does not say where its pieces stand in the text"

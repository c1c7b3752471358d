"""What is compared: each method, or what methods ask the model, with its slow loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tiny

from assay.explanations.case import Case
from assay.questions.base import Conversation
from sweep import (
    slow_edits,
    slow_fills,
    slow_games,
    slow_gradients,
    slow_inside,
    slow_parameters,
    slow_sites,
    slow_vectors,
    slow_writing,
)
from sweep.made_tiny import TASKS
from sweep.slow_rows import SlowTask

REFERENCES = ("two dogs run", "a slow sad story")

Loop = Callable[[SlowTask, Any], Any]


@dataclass(frozen=True)
class Compared:
    """The slow loop, and a method with its settings; `scores` takes what is compared from it.

    With `ask` no method is run: what several methods ask the model of a text is compared by itself. `tasks` are those
    at which there is anything to compare; `terms` is how large the numbers are that a score is the sum of.
    """

    loop: Loop
    settings: Mapping[str, Any] = field(default_factory=dict)
    scores: Callable[[Any], Any] = lambda e: e.scores
    ask: Callable[[Case], Conversation[Any]] | None = None
    tasks: tuple[str, ...] = tuple(TASKS)
    terms: Callable[[SlowTask], float] = lambda task: 0.0
    method: str | None = None  # where the column has another name than it


def _asked(ask: Callable[[Case], Conversation[Any]], loop: Loop, tasks: tuple[str, ...] = tuple(TASKS)) -> Compared:
    return Compared(loop, scores=lambda found: found, ask=ask, tasks=tasks)


_TRAIN: dict[str, Any] = {"train": slow_parameters.TRAIN}
_LABELS, _WRITERS = ("classification",), ("causal", "seq2seq")
METHODS: Mapping[str, Compared] = {
    "leave_one_out": Compared(lambda task, e: slow_games.leave_one_out(task), {}),
    "kernel_shap": Compared(lambda task, e: slow_games.shapley(task), {}),
    "partition_shap": Compared(lambda task, e: slow_games.owen(task), {}),
    "lime": Compared(lambda task, e: slow_games.lime(task, generator(e), 50), {"samples": 50}),
    "input_marginalization": Compared(
        lambda task, e: slow_fills.input_marginalization(task, filler(task), 3), {"k": 3}
    ),
    "gradient": Compared(lambda task, e: slow_gradients.gradient(task), {}),
    "input_x_gradient": Compared(
        lambda task, e: slow_gradients.input_x_gradient(task), terms=slow_gradients.terms_of_input_x_gradient
    ),
    "integrated_gradients": Compared(lambda task, e: slow_gradients.integrated_gradients(task, 3), {"steps": 3}),
    "smooth_grad": Compared(lambda task, e: slow_gradients.smooth_grad(task, generator(e), 2), {"samples": 2}),
    "expected_gradients": Compared(
        lambda task, e: slow_gradients.expected_gradients(task, generator(e), REFERENCES, 2),
        {"samples": 2, "corpus": REFERENCES},
    ),
    "attention": Compared(lambda task, e: slow_inside.attention(task), {}),
    "attention_rollout": Compared(lambda task, e: slow_inside.attention_rollout(task), {}),
    "value_zeroing": Compared(lambda task, e: slow_inside.value_zeroing(task), {}),
    "attn_lrp": Compared(lambda task, e: None, {}),
    "input_reduction": Compared(
        lambda task, e: slow_gradients.greedy_reduction(task),
        {"beam": 1},
        lambda e: list(e.edits[-1].kept),
        tasks=_LABELS,
    ),
    "hotflip": Compared(
        slow_edits.versions, {"flips": 2, "beam": 2, "candidates": 4, "versions": 2}, slow_edits.told, tasks=_LABELS
    ),
    "mice": Compared(
        slow_edits.versions, {"levels": 1, "rounds": 1, "beam": 2, "top": 4, "versions": 2}, slow_edits.told,
        tasks=_LABELS,
    ),
    "replacements": Compared(
        slow_edits.replacements, scores=lambda found: found.changes, ask=slow_edits.ask_replacements
    ),
    "tracin": Compared(lambda task, e: slow_parameters.tracin(task), _TRAIN, tasks=_LABELS),
    "tracin_all_layers": Compared(
        lambda task, e: slow_parameters.tracin(task, everything=True),
        _TRAIN | {"layers": "all"},
        tasks=_LABELS,
        method="tracin",
    ),
    "influence_functions": Compared(
        lambda task, e: slow_parameters.influence(task), _TRAIN | {"damping": slow_parameters.DAMPING}, tasks=_LABELS
    ),
    "lissa": Compared(
        lambda task, e: slow_parameters.lissa(task),
        _TRAIN | {"damping": slow_parameters.DAMPING, "solver": "lissa"} | slow_parameters.LISSA,
        tasks=_LABELS,
        method="influence_functions",
    ),
    "projections": _asked(
        slow_parameters.ask_projections, lambda task, e: slow_parameters.projections(task), _LABELS
    ),
    "last_layer": _asked(slow_parameters.ask_last_layer, lambda task, e: slow_parameters.last_layer(task), _LABELS),
    "states": _asked(slow_vectors.ask_states, lambda task, e: slow_vectors.states(task)),
    "embeddings": _asked(slow_vectors.ask_embeddings, lambda task, e: slow_vectors.embeddings(task)),
    "heads": _asked(slow_sites.ask_heads, lambda task, e: slow_sites.heads(task)),
    "neurons": _asked(slow_sites.ask_neurons, lambda task, e: slow_sites.neurons(task)),
    "written": _asked(slow_writing.ask_written, lambda task, e: slow_writing.written(task), _WRITERS),
    "sampled": _asked(slow_writing.ask_sampled, slow_writing.sampled, _WRITERS),
    "likelihood": _asked(slow_writing.ask_likelihood, lambda task, e: slow_writing.likelihood(task), _WRITERS),
}  # fmt: skip


def generator(e: Any) -> np.random.Generator:
    """The chance of the explanation's text; of any, where there is no explanation."""
    return np.random.default_rng(0) if e is None else e.case.generator()


def filler(task: SlowTask) -> tuple[Any, Any]:
    """The masked language model that proposes words: the architecture itself where it is one, else a tiny BERT."""
    return (task.model, task.tokenizer) if type(task).__name__ == "Masked" else tiny.masked_lm()


def wanted(task: str, name: str) -> bool:
    """Whether there is anything to compare: input_reduction keeps a label, and only language models write."""
    return task in METHODS[name].tasks

"""Probes a model when it is first used: a few forward passes of tiny rows, of the twin that Assay works with.

What is found stays with the model object for as long as it lives and its weights are the same. It is not kept on disk:
to know a model again by its fingerprint, all its weights must be hashed, which takes longer than to probe it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from assay.models.own.small import Small
from assay.models.transformers.admission.changes import snapshot, version
from assay.models.transformers.admission.company import Company, company
from assay.models.transformers.admission.embedding import EmbeddingWatch, gradient_problem
from assay.models.transformers.admission.findings import Admission, Problems
from assay.models.transformers.admission.layers import maps_problem, states_problem
from assay.models.transformers.admission.reading import Readers, readers
from assay.models.transformers.admission.rows import ProbeRows
from assay.models.transformers.admission.sameness import same
from assay.models.transformers.network import Network
from assay.models.transformers.tasks.base import Task
from assay.models.transformers.tasks.causal_lm import CausalLM
from assay.models.transformers.tokens import Encoded
from assay.questions.base import Question
from assay.questions.gradients import InputGradient
from assay.questions.inside import Attention, Hidden

_NO_READER = "no piece, nor the mean of all, is what it answers from"
_KNOWN: WeakKeyDictionary[Any, tuple[Any, Admission]] = WeakKeyDictionary()


def admitted(network: Network, task: Task, asked: Mapping[type[Question], object]) -> Admission:
    """What is known of the model, found out if it is not; `asked` are the questions that there are handlers for."""
    if isinstance(network.own, Small) or not task.probed:
        return Admission()
    key = type(task), task.fields, _state(network.own), frozenset(asked)
    known = _KNOWN.get(network.own)
    if known is None or known[0] != key:
        known = _KNOWN[network.own] = key, _found(network, task, asked)
    return known[1]


def _state(model: nn.Module) -> tuple[Any, ...]:
    """Changes with the parts and the weights: torch counts how often a tensor was written to."""
    weights = [(id(weight), version(weight)) for weight in model.parameters()]
    parts = hash((*map(id, model.modules()), *weights))
    return parts, next(model.parameters()).device, getattr(model.config, "_attn_implementation", None)


def _found(network: Network, task: Task, asked: Mapping[type[Question], object]) -> Admission:
    drawn = torch.random.fork_rng(devices=[])  # some models draw numbers
    with network.turn, network.quiet(), torch.inference_mode(False), drawn:
        try:
            return _Probe(network, task).findings(asked)
        except Exception as error:  # whatever a model says to the rows that it is probed with
            why = f"it fails on the few words it is tried with ({type(error).__name__}: {' '.join(str(error).split())})"
            found = Problems(maps=why, states=why, embedding=why, reading=why).by_question(asked)
            return Admission(company="alone", problems=found)


class _Probe:
    """A model, and the rows it is asked; it is the twin that Assay works with, which this thread has its turn with."""

    def __init__(self, network: Network, task: Task) -> None:
        self.network, self.task = network, task
        self.rows = ProbeRows.of(network, task.reads if task.widths else len(task.fields))
        self.watch = EmbeddingWatch()
        self.changes = False

    def _fresh(self) -> Any:
        """The model; a new twin for every forward pass, where they change it."""
        if self.changes:
            self.network.working.renew()
        return self.network.model

    def findings(self, asked: Mapping[type[Question], object]) -> Admission:
        before = snapshot(self.network.model)
        found, (short, long) = self._answers()
        if snapshot(self.network.model) != before:
            self.changes = True
            found, (short, long) = self._answers()
        layout, twice = self.watch.layout(self.rows.long[0]), self.watch.twice(self.rows.long[0])
        together = company(self._ask, self.rows, short, long)
        whole = self._whole(short, long, together)
        if self.changes and together == "padded":  # what it does to long rows cannot be known from short ones
            together = "equal"
        maps, states = self._layers(asked, long)
        problems = Problems(
            whole=whole,
            maps=maps,
            states=states,
            embedding=layout.problem or self._gradient(asked),
            reading=self.task.no_reader or (None if found or self.task.widths else _NO_READER),
            mean=None if found is None or found.single else "it answers from the mean of its pieces, not from one",
            twice="its decoder reads the text a second time" if twice else None,
            turned="its layers work on [pieces, rows]" if layout.pieces_first else None,
        )
        return Admission(together, found, layout.pieces_first, self.changes, problems.by_question(asked))

    def _answers(self) -> tuple[Readers | None, list[Tensor]]:
        """Who reads, where the model itself decides that, and what it says of the short and the long row alone."""
        pair = self.rows.short, self.rows.long
        if self.task.widths:
            return None, [self._ask([row]) for row in pair]
        return readers(self._fresh, self._said, pair)

    def _ask(self, rows: Sequence[Encoded]) -> Tensor:
        self._fresh()
        with torch.no_grad():
            return self._said(rows)

    def _said(self, rows: Sequence[Encoded]) -> Tensor:
        inputs = self.network.inputs([ids for ids, _ in rows], [types for _, types in rows])
        with self.watch.watching(self.network.model, self.task.embedding):
            return self.task.said(self.network.model, inputs)

    def _whole(self, short: Tensor, long: Tensor, together: Company) -> str | None:
        """Why the model cannot be asked anything."""
        if isinstance(self.task, CausalLM):
            alike = [a == b for a, b in zip(self.rows.short[0], self.rows.long[0], strict=False)]
            before = alike.index(False) if False in alike else len(alike)
            if not same(short[:, :before], long[:, :before]):
                return "it looks at the words that follow too, so it gives no probability of a continuation"
        if together != "padded" and not same(long, self._ask([self.rows.long])):  # beside others it was the same
            return "it answers the same row differently each time, so no explanation of it could be repeated"
        return None

    def _gradient(self, asked: Mapping[type[Question], object]) -> str | None:
        """What is wrong with the gradient at its embeddings."""
        if InputGradient not in asked:
            return None
        self._fresh()
        return gradient_problem(self.task.embedding, lambda: self._said([self.rows.long]))

    def _layers(self, asked: Mapping[type[Question], object], long: Tensor) -> tuple[str | None, str | None]:
        """What is wrong with its attention maps, and with its hidden states."""
        n, output, maps, states = len(self.rows.long[0]), None, None, None
        if Attention in asked:
            output = self._shown(lambda: self.network.model, output_attentions=True, output_hidden_states=True)
            maps = maps_problem(output, n, getattr(self.network.model.config, "num_hidden_layers", None), long)
        if Hidden in asked:
            if self.task.body is not self.network.model or output is None or isinstance(output, Exception):
                output = self._shown(lambda: self.task.body, output_hidden_states=True)
            states = states_problem(output, n)
        return maps, states

    def _shown(self, part: Callable[[], Any], **wanted: bool) -> Any:
        """What a part of the model returns for the long row, or the error that it raises."""
        self._fresh()
        ids, types = self.rows.long
        looked = self.network.attending_by("eager") if "output_attentions" in wanted else nullcontext()
        try:
            with torch.no_grad(), self.network.hooks_as_before(), looked:
                return part()(**self.network.inputs([ids], [types]), **wanted)
        except Exception as error:  # whatever a model says to that
            return error

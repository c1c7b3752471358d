"""The parameters that gradients are taken of, and the gradients of single rows.

The gradient of a row is J' u: J the derivative of its logits, u that of the wanted number with respect to the logits.
So one function of the parameters, <logits, u>, serves every number. One backward pass gives the gradients of many rows
where all parameters lie in layers that row_parts.py knows; in any other model (an LSTM) they are taken one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call

from assay.errors import BadInput, Unanswerable
from assay.models.batching import out_of_memory
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.randomized import head, layers_of
from assay.models.transformers.row_parts import NotByRow, RowParts
from assay.models.transformers.row_reductions import Reduction, Whole
from assay.models.transformers.scalars import explained
from assay.models.transformers.tasks.base import at_least_two
from assay.questions.base import Aim
from assay.questions.parameters import Loss
from assay.statistics.arrays import Ints

_MOST = 1 << 25  # numbers of the gradients that are held at once
_CLOSE = 1e-4  # how far, beside their size, gradients may be from those of a row alone
_LAST = re.compile(r"last:(\d+)")


def last_linear(model: Any) -> nn.Linear:
    """The layer that gives the logits."""
    outputs = getattr(model.config, "num_labels", 0)
    found = [m for part in head(model) for m in part.modules() if isinstance(m, nn.Linear)]
    fitting = [m for m in found if m.out_features in (outputs, 1 if outputs == 2 else outputs)]
    if not fitting:
        raise Unanswerable(f"{type(model).__name__} has no linear layer that gives its logits; name layers=REGEX.")
    return fitting[-1]


def chosen(model: Any, layers: str) -> dict[str, nn.Parameter]:
    """The parameters that `layers` names."""
    named = dict(model.named_parameters())
    if layers == "all":
        found = named
    elif layers == "head":
        found = _of(named, [last_linear(model)])
    elif last := _LAST.fullmatch(layers):
        found = _of(named, _uppermost(model, int(last[1])))
    else:
        found = {name: weight for name, weight in named.items() if _matches(layers, name)}
    if not found:
        shown = ", ".join(list(named)[-4:])
        raise BadInput(f"no parameter fits layers={layers!r}: say head, last:N, all, or a pattern of names as {shown}.")
    for name, weight in found.items():
        if type(weight) is not nn.Parameter or not weight.is_floating_point():
            kind = str(weight.dtype).removeprefix("torch.")
            raise Unanswerable(
                f"the weight {name} is quantised ({kind}): it has no gradient; load the model in float32."
            )
    return found


def _matches(layers: str, name: str) -> bool:
    try:
        return re.search(layers, name) is not None
    except re.error as error:
        raise BadInput(f"layers={layers!r} is no regular expression: {error}.") from None


def _of(named: dict[str, nn.Parameter], parts: Sequence[nn.Module]) -> dict[str, nn.Parameter]:
    wanted = {id(weight) for part in parts for weight in part.parameters()}
    return {name: weight for name, weight in named.items() if id(weight) in wanted}


def _uppermost(model: Any, count: int) -> list[nn.Module]:
    stack = layers_of(model)
    if count > len(stack):
        raise BadInput(f"the model has {len(stack)} layers; layers=last:{count} asks for more.")
    return [*head(model), last_linear(model), *stack[len(stack) - count :]]


# Of every model, for which layers the gradients of many rows can be had at once.
_TOGETHER: WeakKeyDictionary[HuggingFace, dict[str, bool]] = WeakKeyDictionary()


@dataclass(frozen=True)
class EncodedTarget:
    """A row as the model reads it, and the number whose gradient is wanted."""

    ids: Sequence[int]
    types: Sequence[int] | None
    of: Loss | Aim

    def __len__(self) -> int:
        return len(self.ids)


class RowGradients:
    """Gradients of rows with respect to the chosen parameters of a model, [rows, parameters] in one order."""

    def __init__(self, model: HuggingFace, layers: str) -> None:
        self.model, self.network, self.layers = model, model.network, layers
        self._known = _TOGETHER.setdefault(model, {})
        frozen = chosen(self.network.model, layers)
        self.parameters = {name: weight.detach() for name, weight in frozen.items()}
        self.size = sum(weight.numel() for weight in self.parameters.values())

    def gradients(self, batch: Sequence[EncodedTarget]) -> Iterator[Tensor]:
        """Those of as many rows at a time as memory allows."""
        return self.reduced(batch, Whole())

    def reduced(self, batch: Sequence[EncodedTarget], how: Reduction) -> Iterator[Tensor]:
        """What is left of them, of as many rows at a time as memory allows."""
        step = max(1, _MOST // max(1, how.held(self.size)))
        for at in range(0, len(batch), step):
            yield self._some(batch[at : at + step], how)

    def of_every_label(self, batch: Sequence[EncodedTarget]) -> Iterator[tuple[Tensor, Tensor]]:
        """For every label, the model's probabilities of it and the gradients of its loss; some rows at a time."""
        step = max(1, _MOST // self.size)
        for at in range(0, len(batch), step):
            some = batch[at : at + step]
            with torch.inference_mode(False):
                yield from self._labels_together(some) if self._known.get(self.layers) else self._label_by_label(some)

    def _labels_together(self, batch: Sequence[EncodedTarget]) -> Iterator[tuple[Tensor, Tensor]]:
        """From one pass."""
        with RowParts(self.network.model, self.parameters, len(batch)) as parts, torch.enable_grad():
            logits = at_least_two(self.network.model(**self.inputs(batch)).logits)
            chances = logits.detach().softmax(dim=-1)
            for label, own in enumerate(torch.eye(chances.shape[1], device=chances.device)):
                terms = parts.terms((logits * (chances - own)).sum(), again=True)
                yield chances[:, label], Whole().of_terms(terms, logits)

    def _label_by_label(self, batch: Sequence[EncodedTarget]) -> Iterator[tuple[Tensor, Tensor]]:
        with torch.no_grad():
            chances = self.logits(self.parameters, self.inputs(batch)).softmax(dim=-1)
        for label in range(chances.shape[1]):
            yield chances[:, label], self._some([replace(row, of=Loss(label)) for row in batch], Whole())

    def _some(self, batch: Sequence[EncodedTarget], how: Reduction) -> Tensor:
        with torch.inference_mode(False):
            known = self._known.get(self.layers)
            if known is False or (len(batch) == 1 and known is None):
                return self._one_by_one(batch, how)
            return self._together(batch, how) if known else self._tried(batch, how)

    def _tried(self, batch: Sequence[EncodedTarget], how: Reduction) -> Tensor:
        """The first time, the first and the last row are looked at alone too: only if they agree, rows go together."""
        ends = [0, len(batch) - 1]
        alone = self._one_by_one([batch[i] for i in ends], how)
        try:
            found = self._together(batch, how)
        except (NotByRow, RuntimeError) as error:  # some layers want one vector for all rows
            if out_of_memory(error):
                raise
            found = alone.new_full((len(batch), alone.shape[1]), torch.nan)
        gap = (found[ends] - alone).abs().max() if torch.isfinite(found).all() else torch.inf
        self._known[self.layers] = bool(gap <= _CLOSE * alone.abs().max())
        return found if self._known[self.layers] else self._one_by_one(batch, how)

    def inputs(self, batch: Sequence[EncodedTarget]) -> dict[str, Tensor]:
        return self.network.inputs([row.ids for row in batch], [row.types for row in batch])

    def logits(self, parameters: dict[str, Tensor], inputs: dict[str, Tensor]) -> Tensor:
        return at_least_two(functional_call(self.network.model, parameters, (), inputs).logits)

    def directions(self, logits: Tensor, batch: Sequence[EncodedTarget]) -> Tensor:
        """The derivative of each wanted number with respect to the logits [rows, labels]."""
        with torch.enable_grad():
            point = logits.detach().clone().requires_grad_()
            (u,) = torch.autograd.grad(self.values(point, batch).sum(), point)
        return u

    def values(self, logits: Tensor, batch: Sequence[EncodedTarget]) -> Tensor:
        """The wanted number of each row."""
        task = self.model.task
        labels = torch.tensor([row.of.label if isinstance(row.of, Loss) else 0 for row in batch], device=logits.device)
        losses = nn.functional.cross_entropy(logits, labels, reduction="none")
        aims = [Aim(0) if isinstance(row.of, Loss) else row.of for row in batch]
        is_loss = torch.tensor([isinstance(row.of, Loss) for row in batch], device=logits.device)
        return torch.where(is_loss, losses, explained(logits, aims, task.multi_label, task.one_logit))

    def _together(self, batch: Sequence[EncodedTarget], how: Reduction) -> Tensor:
        with RowParts(self.network.model, self.parameters, len(batch)) as parts, torch.enable_grad():
            logits = at_least_two(self.network.model(**self.inputs(batch)).logits)
            return how.of_terms(parts.terms((logits * self.directions(logits, batch)).sum()), logits.detach())

    def _one_by_one(self, batch: Sequence[EncodedTarget], how: Reduction) -> Tensor:
        return torch.cat([how.of_whole(*self._alone(row)) for row in batch])

    def _alone(self, row: EncodedTarget) -> tuple[Tensor, Tensor]:
        """Its gradient and its logits, each as one row."""
        leaves = {name: weight.clone().requires_grad_() for name, weight in self.parameters.items()}
        with torch.enable_grad():
            logits = self.logits(leaves, self.inputs([row]))
            value = (logits * self.directions(logits, [row])).sum()
            found = torch.autograd.grad(value, list(leaves.values()), allow_unused=True)
        if all(g is None for g in found):
            raise Unanswerable(
                f"no gradient gets back to the weights of layers={self.layers!r} in {self.network.name}: what stands "
                "above them is quantised, or does not read them."
            )
        parts = zip(found, leaves.values(), strict=True)
        whole = torch.cat([(torch.zeros_like(w) if g is None else g).flatten() for g, w in parts])
        return whole[None], logits.detach()


def batched(model: HuggingFace, rows: Sequence[EncodedTarget]) -> Iterator[Ints]:
    """The places of rows that go together: alone where the model wants it, of one length where padding counts."""
    lengths = np.array([len(row) for row in rows])
    order = np.argsort(lengths, kind="stable")
    padded = model.found.company == "padded" and not model.evens
    groups = [order] if padded else np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1)
    for group in groups:
        longest = int(lengths[group].max())
        size = 1 if model.found.company == "alone" else max(1, model.preferred_tokens // max(1, longest))
        yield from (group[i : i + size] for i in range(0, len(group), size))

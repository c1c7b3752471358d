"""The parameters that gradients are taken of, and the gradients of single rows.

The gradient of a row is J' u: J the derivative of its logits, u that of the wanted number with respect to the logits.
So one function of the parameters, <logits, u>, serves every number. One backward pass gives the gradients of many rows
where all parameters lie in layers that row_parts.py knows; in any other model (an LSTM) they are taken one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
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
from assay.models.transformers.row_outputs import EncodedTarget, outputs_of
from assay.models.transformers.row_parts import NotByRow, Passes, RowParts
from assay.models.transformers.row_reductions import ByPiece, Dotted, Reduction, Whole
from assay.questions.base import Aim
from assay.questions.parameters import DRAWS, DrawnTokenLoss, Loss, TokenLoss
from assay.statistics.arrays import Ints

_MOST = 1 << 25  # numbers of the gradients that are held at once
_OUTPUTS = 1 << 26  # numbers of the outputs that gradients are taken through at once
_CLOSE = 1e-4  # how far, beside their size, gradients may be from those of a row alone
_LAST = re.compile(r"last:(\d+)")


def last_linear(model: Any) -> nn.Linear:
    """The layer that gives the logits."""
    own = getattr(model, "get_output_embeddings", lambda: None)()  # of a language model, and None of others
    if isinstance(own, nn.Linear):
        return own
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
    if not stack:
        kind = type(model).__name__
        raise BadInput(f"{kind} has no one stack of layers to count from: say layers=all, or a pattern of names.")
    if count > len(stack):
        raise BadInput(f"the model has {len(stack)} layers; layers=last:{count} asks for more.")
    return [*head(model), last_linear(model), *stack[len(stack) - count :]]


# Of every model, for which layers the gradients of one row, and of several, can be had from what the layers add.
_TOGETHER: WeakKeyDictionary[HuggingFace, dict[tuple[str, bool], bool]] = WeakKeyDictionary()


class RowGradients:
    """Gradients of rows with respect to the chosen parameters of a model, [rows, parameters] in one order."""

    def __init__(self, model: HuggingFace, layers: str) -> None:
        self.model, self.network, self.layers = model, model.network, layers
        self.outputs = outputs_of(model)
        self._known, self._passes = _TOGETHER.setdefault(model, {}), Passes()
        frozen = chosen(self.network.model, layers)
        self.parameters = {name: weight.detach() for name, weight in frozen.items()}
        self.sizes = [weight.numel() for weight in self.parameters.values()]
        self.size = sum(self.sizes)

    def gradients(self, batch: Sequence[EncodedTarget]) -> Iterator[Tensor]:
        """Those of as many rows at a time as memory allows."""
        return self.reduced(batch, Whole())

    def reduced(self, batch: Sequence[EncodedTarget], how: Reduction) -> Iterator[Tensor]:
        """What is left of them, of as many rows at a time as memory allows."""
        step = min(_MOST // max(1, how.held(self.sizes)), _OUTPUTS // self.outputs.numbers(batch))
        for at in range(0, len(batch), max(1, step)):
            yield self._some(batch[at : at + max(1, step)], how)

    def by_piece(self, batch: Sequence[EncodedTarget], directions: Tensor, whose: Sequence[int]) -> list[Tensor] | None:
        """Of each row the product of its gradient with its vector, piece by piece, and what belongs to no piece.

        None where the gradients of rows are known only as a whole, or where the model reads two texts apart.
        """
        if self.outputs.two_texts or not self._by_parts(batch):
            return None
        found: list[Tensor] = []
        step = max(1, _OUTPUTS // self.outputs.numbers(batch))
        with torch.inference_mode(False):
            for at in range(0, len(batch), step):
                some = batch[at : at + step]
                own = torch.tensor(whose[at : at + step], device=directions.device)
                rows = self._together(some, ByPiece(directions, own, max(map(len, some))))
                found += [torch.cat([row[: len(one)], row[-1:]]) for one, row in zip(some, rows, strict=True)]
        return found

    def of_the_curvature(
        self, batch: Sequence[EncodedTarget], how: Reduction | None = None
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Gradients whose weighted outer products are the Gauss-Newton matrix; weights [rows], some rows at a time.

        Of labels those of `label_directions`; of tokens those of the losses of some that the model draws.
        """
        how = how or Whole()
        if isinstance(batch[0].of, TokenLoss):
            for found in self.reduced([row for some in drawn(batch) for row in some], how):
                yield found.new_full((len(found),), 1 / DRAWS), found
            return
        step = max(1, _MOST // max(1, how.held(self.sizes)))
        for at in range(0, len(batch), step):
            some = batch[at : at + step]
            with torch.inference_mode(False):
                yield from (self._labels_together if self._by_parts(some) else self._label_by_label)(some, how)

    def pseudo_losses(self, outputs: Tensor, batch: Sequence[EncodedTarget]) -> Iterator[tuple[Tensor, Tensor]]:
        """What those are the gradients of, summed over rows, and the weights."""
        if isinstance(batch[0].of, TokenLoss):
            for some in drawn(batch):
                yield self.values(outputs, some).sum(), outputs.new_full((len(batch),), 1 / DRAWS)
        else:
            for weights, direction, _ in label_directions(outputs.detach().softmax(dim=-1)):
                yield (outputs * direction).sum(), weights

    def _labels_together(self, batch: Sequence[EncodedTarget], how: Reduction) -> Iterator[tuple[Tensor, Tensor]]:
        """From one pass."""
        parts, logits, _ = self._passed(batch)
        with torch.enable_grad():
            for weights, direction, _ in label_directions(logits.detach().softmax(dim=-1)):
                terms = parts.terms((logits * direction).sum(), again=True)
                yield weights, how.of_terms(terms, logits.detach())

    def _label_by_label(self, batch: Sequence[EncodedTarget], how: Reduction) -> Iterator[tuple[Tensor, Tensor]]:
        with torch.no_grad():
            chances = self.logits(self.parameters, batch).softmax(dim=-1)
        for weights, _, number in label_directions(chances):
            yield weights, self._some([replace(row, of=number) for row in batch], how)

    def _some(self, batch: Sequence[EncodedTarget], how: Reduction) -> Tensor:
        with torch.inference_mode(False):
            return self._together(batch, how) if self._by_parts(batch) else self._one_by_one(batch, how)

    def _by_parts(self, batch: Sequence[EncodedTarget]) -> bool:
        """Whether the gradients of such a batch can be had from what the layers add.

        That is tried on the first batch of one row and on the first of several: where the first and the last row
        have the gradients that they have alone. What is compared is all of them, whatever shall be left; of very
        many parameters a random product.
        """
        kind = self.layers, len(batch) > 1
        if kind not in self._known:
            ends = [batch[0], batch[-1]][: len(batch)]
            probe: Reduction = Whole() if self.size <= _MOST else Dotted(self._random())
            with torch.inference_mode(False):
                alone, found = self._one_by_one(ends, probe), self._tried(ends, probe)
            gap = torch.inf if found is None else float((found - alone).abs().max())
            self._known[kind] = gap <= _CLOSE * float(alone.abs().max())  # a gap that is no number is none
        return self._known[kind]

    def _tried(self, batch: Sequence[EncodedTarget], how: Reduction) -> Tensor | None:
        try:
            return self._together(batch, how)
        except (NotByRow, RuntimeError) as error:  # some layers want one vector for all rows
            if out_of_memory(error):
                raise
            return None

    def _random(self) -> Tensor:
        generator = torch.Generator().manual_seed(0)
        return torch.randn(1, self.size, generator=generator).to(self.network.device)

    def inputs(self, batch: Sequence[EncodedTarget]) -> dict[str, Tensor]:
        return self.outputs.inputs(batch)

    def logits(self, parameters: dict[str, Tensor], batch: Sequence[EncodedTarget]) -> Tensor:
        found = functional_call(self.network.model, parameters, (), self.inputs(batch))
        return self.outputs.of(found, batch)

    def directions(self, logits: Tensor, batch: Sequence[EncodedTarget]) -> Tensor:
        """The derivative of each wanted number with respect to the outputs that it is made of."""
        with torch.enable_grad():
            point = logits.detach().clone().requires_grad_()
            (u,) = torch.autograd.grad(self.values(point, batch).sum(), point)
        return u

    def values(self, logits: Tensor, batch: Sequence[EncodedTarget]) -> Tensor:
        """The wanted number of each row."""
        return self.outputs.values(logits, batch)

    def _together(self, batch: Sequence[EncodedTarget], how: Reduction) -> Tensor:
        parts, logits, again = self._passed(batch)
        with torch.enable_grad():
            value = (logits * self.directions(logits, batch)).sum()
            return how.of_terms(parts.terms(value, again=again), logits.detach())

    def _passed(self, batch: Sequence[EncodedTarget]) -> tuple[RowParts, Tensor, bool]:
        def make() -> tuple[RowParts, Tensor]:
            with RowParts(self.network.model, self.parameters, len(batch)) as parts, torch.enable_grad():
                return parts, self.outputs.of(self.network.model(**self.inputs(batch)), batch)

        return self._passes.of([row.row for row in batch], make)

    def _one_by_one(self, batch: Sequence[EncodedTarget], how: Reduction) -> Tensor:
        return torch.cat([how.of_whole(*self._alone(row)) for row in batch])

    def _alone(self, row: EncodedTarget) -> tuple[Tensor, Tensor]:
        """Its gradient and its logits, each as one row."""
        leaves = {name: weight.clone().requires_grad_() for name, weight in self.parameters.items()}
        with torch.enable_grad():
            logits = self.logits(leaves, [row])
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


def label_directions(chances: Tensor) -> Iterator[tuple[Tensor, Tensor, Loss | Aim]]:
    """Weights w [rows] and directions u [rows, labels] with sum w u u' = diag(p) - p p'; u is the derivative of what.

    That is the curvature of the loss by the logits: the losses of all labels, each with its probability. Of two labels
    one direction is enough, that of the log-odds: p (1 - p) times its square.
    """
    if chances.shape[1] == 2:
        yield chances.prod(dim=1), chances.new_tensor([1.0, -1.0]).expand_as(chances), Aim(0)
        return
    for label, own in enumerate(torch.eye(chances.shape[1], device=chances.device, dtype=chances.dtype)):
        yield chances[:, label], chances - own, Loss(label)


def drawn(batch: Sequence[EncodedTarget]) -> list[list[EncodedTarget]]:
    """The same rows with tokens that the model draws, several times."""
    means = [(row, isinstance(row.of, TokenLoss) and row.of.mean) for row in batch]
    return [[replace(row, of=DrawnTokenLoss(mean, draw)) for row, mean in means] for draw in range(DRAWS)]


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

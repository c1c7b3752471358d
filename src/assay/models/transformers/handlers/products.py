"""GradientProducts: what the gradients of a training set have in common with that of a text, batch by batch.

The gradients of the texts, multiplied with the inverse curvature where that is wanted, stay on the device; the training
set passes by once for all texts of a batch, and only the products of its gradients are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from assay.errors import AssayError, Unanswerable
from assay.models.base import Handler
from assay.models.transformers.adapter import HuggingFace
from assay.models.transformers.curvature import inverse_products
from assay.models.transformers.handlers.parameters import EncodedRow, encoded_targets
from assay.models.transformers.parameters import RowGradients, batched
from assay.models.transformers.row_outputs import EncodedTarget
from assay.models.transformers.row_reductions import Dotted
from assay.models.transformers.tasks.base import result_or_error
from assay.models.transformers.word_parts import by_word
from assay.questions.parameters import Inverse, ProductsRow, TrainingRows
from assay.statistics.arrays import Floats, Ints

_COARSE = {torch.float16, torch.bfloat16}  # conjugate gradients lose their way: half of a score was off
_HELD = 1 << 27  # numbers of the gradients of texts that are held while the training set passes by


class GradientProductsHandler(Handler[HuggingFace]):
    """Texts that ask about the same training set and the same parameters share one pass over it."""

    def lengths(self, model: HuggingFace, encoded: Sequence[EncodedRow[ProductsRow]]) -> list[int]:
        """All alike: what they have in common, the training set, is what takes time, so many go together."""
        return [1] * len(encoded)

    def encode(self, model: HuggingFace, rows: Sequence[ProductsRow]) -> list[Any]:
        alike = {(row.layers, row.inverse is not None) for row in rows}
        known = {how: result_or_error(require_fine, model, *how) for how in alike}
        encoded = encoded_targets(model, [row.target for row in rows])
        pairs = zip(rows, encoded, strict=True)
        return [
            known[row.layers, row.inverse is not None] or (one if isinstance(one, AssayError) else EncodedRow(row, one))
            for row, one in pairs
        ]

    def answer(self, model: HuggingFace, batch: Sequence[EncodedRow[ProductsRow]]) -> list[Floats]:
        found: dict[int, Floats] = {}
        for how in dict.fromkeys(one.row[1:] for one in batch):
            places = [i for i, one in enumerate(batch) if one.row[1:] == how]
            step = max(1, _HELD // RowGradients(model, how[1]).size)
            for at in range(0, len(places), step):
                some = places[at : at + step]
                texts = [batch[i].encoded for i in some]
                found |= dict(zip(some, _Products(model, how[0], how[1]).of(texts, *how[2:]), strict=True))
        return [found[i] for i in range(len(batch))]


def require_fine(model: HuggingFace, layers: str, inverse: bool) -> None:
    coarse = {weight.dtype for weight in RowGradients(model, layers).parameters.values()} & _COARSE
    if inverse and coarse:
        kind = str(coarse.pop()).removeprefix("torch.")
        raise Unanswerable(
            f"the weights of {model.name} are {kind}, too coarse for products with their curvature: load the model in "
            "float32, or take solver=exact or tracin."
        )


class _Products:
    """With the gradients of a training set."""

    def __init__(self, model: HuggingFace, training: TrainingRows, layers: str) -> None:
        self.model, self.training, self.gradients = model, training, RowGradients(model, layers)
        self.rows = encoded_targets(model, training.targets)
        if failed := next((row for row in self.rows if isinstance(row, AssayError)), None):
            raise failed

    def of(
        self,
        texts: Sequence[EncodedTarget],
        inverse: Inverse | None,
        among: tuple[int, ...] | None,
        parts: int,
    ) -> list[Floats]:
        """For each text the damping, its product with every training text that is wanted, and the parts of some."""
        directions, damping = _directions(self.model, self.gradients, texts), [0.0] * len(texts)
        if inverse is not None:
            batches = list(batched(self.model, self.rows))
            directions, damping = inverse_products(self.gradients, directions, self.rows, batches, inverse)
        values, wanted = np.zeros((len(texts), len(self.rows))), range(len(self.rows)) if among is None else among
        for part in batched(self.model, [self.rows[i] for i in wanted]):
            places = np.asarray(wanted)[part]
            products = self.gradients.reduced([self.rows[i] for i in places], Dotted(directions))
            values[:, places] = torch.cat(list(products)).T.double().cpu().numpy()
        found: list[list[Any]] = [[[own], row] for own, row in zip(damping, values, strict=True)]
        for text, words in self._parts(values, directions, np.asarray(wanted), parts) if parts else ():
            found[text].append(words)
        return [np.concatenate(one) for one in found]

    def _parts(self, values: Floats, directions: Tensor, among: Ints, count: int) -> Iterator[tuple[int, Floats]]:
        """By text, of the training texts with its lowest and highest products: the row, how many parts, and these.

        Those of all texts go together, in batches of about one length.
        """
        ends = []
        for text, own in enumerate(values):
            order = among[np.argsort(own[among], kind="stable")].tolist()
            ends += [(text, i) for i in dict.fromkeys([*order[:count], *order[::-1][:count]])]
        for some in batched(self.model, [self.rows[i] for _, i in ends]):
            texts, places = zip(*(ends[i] for i in some), strict=True)
            found = self.gradients.by_piece([self.rows[i] for i in places], directions, texts)
            if found is not None and not any(pieces[:-1].any() for pieces in found):
                return  # the layers read one state of a whole text
            for text, i, pieces in zip(texts, places, found or (), strict=False):
                words = by_word(self.model, self.training.targets[i].strings, pieces.double().cpu().numpy())
                if words is not None and words[:-1].any():
                    yield text, np.concatenate([[i, len(words)], words])


def _directions(model: HuggingFace, gradients: RowGradients, texts: Sequence[EncodedTarget]) -> Tensor:
    """The gradients of the texts [texts, parameters], in their order."""
    found: dict[int, Tensor] = {}
    for places in batched(model, texts):
        parts = torch.cat(list(gradients.gradients([texts[i] for i in places])))
        found |= dict(zip(places.tolist(), parts, strict=True))
    return torch.stack([found[i] for i in range(len(texts))])

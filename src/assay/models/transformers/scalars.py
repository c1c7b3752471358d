"""The explained number, in torch: the same definitions as `Predictions.value`, but differentiable."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from assay.models.transformers.devices import to_device
from assay.questions.answers import Scalar, scale
from assay.questions.base import Aim


def explained(logits: Tensor, aims: Sequence[Aim], multi_label: bool, one_logit: bool = False) -> Tensor:
    """One number per row: contrast, probability, logit or log-odds of its target."""
    target = _column(logits, [aim.target for aim in aims])
    kinds = [(aim.scalar, aim.against is not None) for aim in aims]
    values = logits.new_zeros(len(aims))
    for scalar, contrast in set(kinds):
        against = _column(logits, [aim.against or 0 for aim in aims]) if contrast else None
        mine = to_device(np.array([kind == (scalar, contrast) for kind in kinds]), logits.device)
        values = torch.where(mine, _value(logits, target, against, scale(scalar, one_logit), multi_label), values)
    return values


def _column(logits: Tensor, labels: list[int]) -> Tensor:
    return to_device(np.array(labels), logits.device)[:, None]


def _value(logits: Tensor, target: Tensor, against: Tensor | None, scalar: Scalar, multi_label: bool) -> Tensor:
    own = logits.gather(1, target)[:, 0]
    if against is not None:
        return own - logits.gather(1, against)[:, 0]
    if scalar == "probability":
        return own.sigmoid() if multi_label else logits.softmax(-1).gather(1, target)[:, 0]
    if scalar == "logit" or multi_label:
        return own
    others = logits.scatter(1, target, -torch.inf)
    return own - others.logsumexp(-1)

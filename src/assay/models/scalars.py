"""The explained number, in torch: the same definitions as `Predictions.value`, but differentiable."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from assay.ask import Aim, Scalar


def explained(logits: Tensor, aims: Sequence[Aim], multi_label: bool) -> Tensor:
    """One number per row: contrast, probability, logit or log-odds of its target."""
    kinds: dict[tuple[Scalar, bool], list[int]] = {}
    for i, aim in enumerate(aims):
        kinds.setdefault((aim.scalar, aim.against is not None), []).append(i)
    values = logits.new_empty(len(aims))
    for (scalar, contrast), rows in kinds.items():
        part, target = logits[rows], _column(logits, [aims[i].target for i in rows])
        against = _column(logits, [aims[i].against or 0 for i in rows])
        values[rows] = (
            part.gather(1, target).sub(part.gather(1, against))[:, 0]
            if contrast
            else _value(part, target, scalar, multi_label)
        )
    return values


def _column(logits: Tensor, labels: list[int]) -> Tensor:
    return torch.tensor(labels, device=logits.device)[:, None]


def _value(logits: Tensor, target: Tensor, scalar: Scalar, multi_label: bool) -> Tensor:
    own = logits.gather(1, target)[:, 0]
    if scalar == "probability":
        return own.sigmoid() if multi_label else logits.softmax(-1).gather(1, target)[:, 0]
    if scalar == "logit" or multi_label:
        return own
    others = logits.scatter(1, target, -torch.inf)
    return own - others.logsumexp(-1)

"""A softmax over some places: exactly zero at the others, and never NaN."""

from __future__ import annotations

import torch
from torch import Tensor


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """A softmax over what the mask shows; exactly zero elsewhere, and everywhere if it shows nothing."""
    highest = scores.masked_fill(~mask, -torch.inf).amax(dim=-1, keepdim=True)
    raised = (scores - highest.nan_to_num(neginf=0.0)).exp() * mask
    raised = torch.where(mask, raised, torch.zeros_like(raised))
    return raised / raised.sum(dim=-1, keepdim=True).clamp_min(torch.finfo(scores.dtype).tiny)

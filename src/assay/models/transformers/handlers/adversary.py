"""Adversarial attention: weights far from a model's own under which it says the same.

    minimise  sum_k -JSD(a_k, a) + penalty max(0, |y_k - y|_1 - tolerance)  -  mean over pairs JSD(a_k, a_l)

over the logarithms of k attentions per text, by Adam. Jain and Wallace (2019), Algorithm 3 and section 4.2.2; the
settings are those of their released code (see `Search`). Texts do not touch each other: the loss is
a sum over them and Adam moves each number by its own history, so all texts of a batch are optimised together. JSD is
taken with natural logarithms, so it is at most ln 2; a weight of exactly zero adds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from assay.models.own.masked_softmax import masked_softmax
from assay.questions.interventions import Search

Answer = Callable[[Tensor], Tensor]


def attack(answer: Answer, own: Tensor, mask: Tensor, search: Search, seeds: Sequence[int]) -> Tensor:
    """K attentions for each text [n, k, length].

    `answer` gives probabilities [n, k, labels] under attentions [n, k, length]; `own` [n, length] is what to get away
    from; the mask shows the places that may be attended to.
    """
    with torch.inference_mode(False), torch.enable_grad():
        here, target = own.detach().clone()[:, None], answer(own[:, None]).detach()
        shown = mask[:, None].expand(-1, search.k, -1)
        logs = _start(mask, search, seeds).to(own).requires_grad_()
        optimiser = torch.optim.Adam([logs], lr=search.rate, amsgrad=True)
        for _ in range(search.steps):
            loss = _loss(answer, masked_softmax(logs, shown), here, target, search)
            optimiser.zero_grad()
            loss.backward(inputs=[logs])  # type: ignore[no-untyped-call]
            optimiser.step()
        return masked_softmax(logs.detach(), shown)


def _loss(answer: Answer, tried: Tensor, own: Tensor, target: Tensor, search: Search) -> Tensor:
    moved = (answer(tried) - target).abs().sum(dim=-1)
    away = search.penalty * (moved - search.tolerance).relu() - jsd(tried, own)
    one, other = np.triu_indices(search.k, 1)
    return away.sum() - jsd(tried[:, one], tried[:, other]).sum() / max(1, len(one))


def jsd(p: Tensor, q: Tensor) -> Tensor:
    """The Jensen-Shannon divergence over the last dimension, in nats."""
    middle = (p + q) / 2
    return (kl(p, middle) + kl(q, middle)) / 2


def kl(p: Tensor, q: Tensor) -> Tensor:
    """KL(p || q) over the last dimension, in nats; a place where p is zero adds nothing, nor a gradient.

    Where q has underflowed to zero the smallest number stands for it, so that the divergence stays finite.
    """
    tiny = torch.finfo(p.dtype).tiny
    return (p * (p.clamp_min(tiny).log() - q.clamp_min(tiny).log())).sum(dim=-1)


def _start(mask: Tensor, search: Search, seeds: Sequence[int]) -> Tensor:
    """Noise around uniform weights, drawn for each text by itself: the same in any company."""
    counts = mask.sum(dim=1).tolist()
    logs = np.zeros((len(counts), search.k, mask.shape[1]))
    places = mask.cpu().numpy()
    for i, (count, seed) in enumerate(zip(counts, seeds, strict=True)):
        logs[i][:, places[i]] = np.random.default_rng(seed).normal(0.0, search.spread, (search.k, count))
    return torch.tensor(logs)

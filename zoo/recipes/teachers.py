"""Learning from teachers: where labelled pairs are few, larger freedom is taught first and then handed down.

The base encoder knows more about pairs of sentences than the masked language model made from it. So teachers are
trained on it, all weights free, and label further pairs of the same training texts; the adapter then learns their
probabilities (Hinton et al. 2015, arXiv:1503.02531), mixed with the true label wherever there is one. No held-out
text is among the pairs, since they are made of training texts only.
"""

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import base
import encoder
import torch
from data import Labelled
from encoder import Model
from options import Options
from rows import Rows, encode
from torch import Tensor
from torch.nn.functional import log_softmax, one_hot
from train import Loss, Plan, fit, predict

from assay_zoo.loading import ARCHITECTURES

Pair = tuple[str, ...]
PLAN = Plan(epochs=4, batch=64, rate=1e-4, warm_up=0.1, rank=0)
OWN = 0.5


def further_pairs(rows: list[Labelled], seed: int, most: int) -> list[Pair]:
    """Hypotheses of one premise against each other and against it turned round, and pairs of strangers."""
    shared: dict[str, list[str]] = defaultdict(list)
    for (premise, hypothesis), _ in rows:
        shared[premise].append(hypothesis)
    known = {texts for texts, _ in rows}
    rng = random.Random(seed)
    strangers = [(premise, rng.choice(rows)[0][1]) for (premise, _), _ in rows]
    pairs = sorted({*related(shared), *strangers} - known)
    return rng.sample(pairs, min(most, len(pairs)))


def related(shared: dict[str, list[str]]) -> Iterator[Pair]:
    """Pairs that speak of the same thing."""
    for premise, hypotheses in shared.items():
        for one in hypotheses:
            yield one, premise
            yield from ((one, two) for two in hypotheses if one != two)


def teacher(labels: tuple[str, ...], task: str, coded: Rows, loss: Loss, chosen: Options, seed: int) -> Model:
    """The base encoder with a head, all weights trained."""
    settings = encoder.config(chosen.out, labels)
    torch.manual_seed(seed)
    state = base.weights(base.folder(chosen.base)) | encoder.head(task, settings)
    model = encoder.assemble(ARCHITECTURES[task], settings, state).to(chosen.device)
    for tensor in model.parameters():
        tensor.requires_grad_(True)
    plan = replace(PLAN, epochs=1 if chosen.quick else PLAN.epochs)
    fit(model, coded, plan, loss, device=chosen.device, seed=seed)
    return model


def taught(
    task: str,
    labels: tuple[str, ...],
    rows: list[Labelled],
    coded: Rows,
    loss: Loss,
    width: int,
    count: int,
    chosen: Options,
) -> Rows:
    """The training rows and further pairs, with the teachers' probabilities as what is to be predicted."""
    further = further_pairs(rows, chosen.seed, 64 if chosen.quick else 100_000)
    more = encode(encoder.pieces(chosen.out), further, [0] * len(further), width)
    everything = Rows(coded.ids + more.ids, coded.types + more.types, torch.cat([coded.targets, more.targets]))
    chances = torch.zeros(len(everything), len(labels))
    for seed in range(count):
        model = teacher(labels, task, coded, loss, chosen, chosen.seed + seed)
        chances += predict(model, everything, device=chosen.device, size=512).cpu() / count
    own = one_hot(coded.targets, len(labels)).float()
    chances[: len(rows)] = OWN * own + (1 - OWN) * chances[: len(rows)]
    return replace(everything, targets=chances)


def distance(outputs: Any, targets: Tensor) -> Tensor:
    """Cross-entropy between the teachers' probabilities and the pupil's."""
    return -(targets * log_softmax(outputs.logits.float(), dim=-1)).sum(dim=-1).mean()

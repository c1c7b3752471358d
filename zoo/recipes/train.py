"""The training loop of the adapters: AdamW, a short warm-up, then a linear way down to zero."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from rows import Rows, in_order, shuffled
from torch import Tensor, nn

Loss = Callable[[Any, Tensor], Tensor]


@dataclass(frozen=True)
class Plan:
    """How an adapter is trained."""

    epochs: int
    batch: int
    rate: float = 1e-3
    warm_up: float = 0.06
    decay: float = 0.01
    rank: int = 32
    width: int = 128
    start: str | None = None
    cpu_half: bool = False  # bf16 on a CPU too

    def facts(self) -> dict[str, Any]:
        """The plan as a card tells it."""
        return asdict(self)


def slope(progress: float, warm_up: float) -> float:
    """The share of the peak learning rate: up over `warm_up`, then down to zero."""
    return progress / warm_up if progress < warm_up else max(0.0, (1 - progress) / (1 - warm_up))


def half_precision(device: str, *, cpu_half: bool = False) -> AbstractContextManager[Any]:
    """bf16 on a GPU; elsewhere only where that is wanted."""
    kind = device.partition(":")[0]
    return torch.autocast(kind, torch.bfloat16) if kind == "cuda" or cpu_half else nullcontext()


def fit(model: nn.Module, rows: Rows, plan: Plan, loss: Loss, *, device: str, seed: int) -> float:
    """Train what is not frozen; returns the seconds it took."""
    began = time.perf_counter()
    trainable = [tensor for tensor in model.parameters() if tensor.requires_grad]
    optimiser = torch.optim.AdamW(
        trainable, lr=plan.rate, weight_decay=plan.decay, betas=(0.9, 0.98), fused=device.startswith("cuda")
    )
    total = plan.epochs * -(-len(rows) // plan.batch)
    model.train()
    for step, chosen in enumerate(epochs(rows, plan, seed)):
        optimiser.param_groups[0]["lr"] = plan.rate * slope(step / total, plan.warm_up)
        with half_precision(device, cpu_half=plan.cpu_half):
            value = loss(model(**rows.batch(chosen, device)), rows.targets[chosen].to(device))
        update(optimiser, trainable, value)
        if step % 200 == 0:
            print(f"step {step}/{total} loss {value.item():.4f} {time.perf_counter() - began:.0f}s", flush=True)
    return time.perf_counter() - began


def epochs(rows: Rows, plan: Plan, seed: int) -> Iterator[list[int]]:
    """The batches of all epochs."""
    rng = np.random.default_rng(seed)
    for _ in range(plan.epochs):
        yield from shuffled(rows, plan.batch, rng)


def update(optimiser: torch.optim.Optimizer, trainable: list[nn.Parameter], value: Tensor) -> None:
    """One step with clipped gradients."""
    optimiser.zero_grad()
    value.backward()
    nn.utils.clip_grad_norm_(trainable, 1.0)
    optimiser.step()


@torch.inference_mode()
def predict(model: nn.Module, rows: Rows, *, device: str, size: int = 256) -> Tensor:
    """Probabilities of every row in fp32, in the order of the rows."""
    model.eval()
    answers: dict[int, Tensor] = {}
    for chosen in in_order(rows, size):
        probabilities = model(**rows.batch(chosen, device)).logits.softmax(-1).cpu()
        answers.update(zip(chosen, probabilities, strict=True))
    return torch.stack([answers[i] for i in range(len(rows))])

"""The loop that trains the masked language model: as many steps as fit the time; on a GPU compiled and in bf16."""

import time
from dataclasses import dataclass, field
from typing import Any

import masked
import numpy as np
import torch
from encoder import Model
from masked import Reader
from torch import Tensor, nn
from train import half_precision, slope

RATE, WARM_UP, DECAY = 1e-3, 0.04, 0.01
START = {"window 128": 0.60, "window 512": 0.12, "rows 32": 0.18, "rows 64": 0.10}
FINISH = {"window 128": 0.25, "window 512": 0.10, "rows 32": 0.45, "rows 64": 0.20}
LOOK = 100
UNKNOWN = 25_000


@dataclass
class Clock:
    """Fits the number of steps into the time: steps = done + time left / time of a step."""

    seconds: float
    steps: int | None
    began: float = field(default_factory=time.perf_counter)
    ready: float = 0.0
    first: int = 0

    def start(self, done: int) -> None:
        """Compiling is over: from here on a step costs what it will cost."""
        self.ready, self.first = time.perf_counter(), done

    def total(self, done: int) -> int:
        """The number of steps to expect."""
        if self.steps is not None:
            return self.steps
        now = time.perf_counter()
        each = (now - self.ready) / (done - self.first)
        return done + int((self.seconds - (now - self.began)) / each)


@dataclass(frozen=True)
class Job:
    """What is trained, on what, and how strongly sentences are held near what the base thought of them."""

    model: Model
    readers: dict[str, Reader]
    near: nn.Linear
    keep: float
    device: str
    seed: int

    def parameters(self) -> list[nn.Parameter]:
        """All weights."""
        return [*self.model.parameters(), *self.near.parameters()]


def pretrain(job: Job, clock: Clock) -> dict[str, Any]:
    """Train until the clock says so; returns what the card tells about it."""
    fused = job.device.startswith("cuda")
    optimiser = torch.optim.AdamW(job.parameters(), RATE, (0.9, 0.98), 1e-6, DECAY, fused=fused)
    counts = {name: masked.hidden_count(reader) for name, reader in job.readers.items()}
    head = compiled(job.model, job.device)
    rng = np.random.default_rng(job.seed)
    done, total, values = 0, clock.steps or UNKNOWN, list[Tensor]()
    while done < total:
        name = kind(rng, done, total, list(counts))
        optimiser.param_groups[0]["lr"] = RATE * slope(done / total, WARM_UP)
        values.append(step(job, optimiser, name, counts[name], head))
        done += 1
        if done == 2 * len(counts):
            clock.start(done)
        if done % LOOK == 0:
            total = report(done, clock, values)
    return {"steps": done, "token_slots": done * slots(job), "last_loss": float(torch.stack(values[-LOOK:]).mean())}


def kind(rng: np.random.Generator, done: int, total: int, names: list[str]) -> str:
    """Which kind of batch comes next: first each twice, so that all are compiled, then by shares that change slowly."""
    if done < 2 * len(names):
        return names[done % len(names)]
    progress = done / total
    shares = np.array([(1 - progress) * START[name] + progress * FINISH[name] for name in names])
    return names[rng.choice(len(names), p=shares / shares.sum())]


def compiled(model: Model, device: str) -> Any:
    """Compile one layer, which serves all six, and the loss; returns the loss to call."""
    if not device.startswith("cuda"):
        return masked.head_loss
    torch._dynamo.config.recompile_limit = 64
    for layer in model.bert.encoder.layer:
        layer.compile(dynamic=False)
    return torch.compile(masked.head_loss, dynamic=False)


def step(job: Job, optimiser: torch.optim.Optimizer, name: str, count: int, head: Any) -> Tensor:
    """One update; the loss stays on the device, so that nothing waits for it."""
    with half_precision(job.device):
        value = masked.loss(job.model, job.readers[name], count, job.near, job.keep, head)
    value.backward()
    nn.utils.clip_grad_norm_(job.parameters(), 1.0)
    optimiser.step()
    optimiser.zero_grad()
    return value.detach()


def report(done: int, clock: Clock, values: list[Tensor]) -> int:
    """Say how it goes; returns the number of steps to expect."""
    value = float(torch.stack(values[-LOOK:]).mean())
    total = clock.total(done)
    if done % (5 * LOOK) == 0 or done == LOOK:
        print(f"step {done}/{total} loss {value:.3f} {time.perf_counter() - clock.began:.0f}s", flush=True)
    return total


def slots(job: Job) -> int:
    """Token slots in a batch."""
    return max(reader.width * reader.count for reader in job.readers.values())

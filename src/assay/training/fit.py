"""Fit: train a torch model with AdamW, at a rate that rises and then falls, and go on where a killed run stopped.

    rate at step t of T:    r t / (w T)  while t < w T,   then  r (T - t) / (T - w T)

With optimiser="adam" it is Adam with amsgrad, decay as an L2 penalty and one rate throughout, as small recurrent models
are trained (Reddi et al. 2018, arXiv:1904.09237); weights whose names begin with one of `undecayed` have no decay.
Loshchilov and Hutter (2019), Decoupled Weight Decay Regularization, arXiv:1711.05101. What is random (the order of
the batches, dropout) starts anew with every epoch, from the seed and the number of the epoch. So a run that is
resumed after its last finished epoch ends, on the same machine, with the very weights it would have had. With `dev`
the weights of the best epoch are kept (the first among equals), and `patience` epochs without a better one end the
run. The global random generators are left as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any, Literal, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from assay.errors import BadInput, NonFiniteAnswer
from assay.progress import track
from assay.training import checkpoints

B = TypeVar("B")
_GLOBAL = RLock()  # torch's own generators
Batches = Callable[[np.random.Generator], Sequence[B]]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How a model is trained."""

    epochs: int = 3
    rate: float = 2e-5
    warm_up: float = 0.06
    decay: float = 0.01
    clip: float = 1.0
    patience: int | None = None
    seed: int = 0
    optimiser: Literal["adamw", "adam"] = "adamw"
    undecayed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.epochs < 1 or (self.patience is not None and self.patience < 1):
            raise BadInput(f"epochs and patience are 1 or more, not {self.epochs} and {self.patience}.")
        if not (self.rate > 0 and self.clip > 0 and self.decay >= 0 and 0 <= self.warm_up < 1):
            raise BadInput("rate and clip are above 0, decay is not below 0, and warm_up is a share below 1.")


@dataclass(frozen=True)
class Fitted:
    """How the training went: the mean loss of every epoch and, where there is a dev, its score after each."""

    losses: tuple[float, ...] = ()
    scores: tuple[float, ...] = ()

    @property
    def epochs(self) -> int:
        return len(self.losses)

    @property
    def best(self) -> int:
        """The number of the epoch whose weights are kept, from 1."""
        return int(np.argmax(self.scores)) + 1 if self.scores else self.epochs


def fit(
    model: nn.Module,
    batches: Batches[B],
    loss: Callable[[B], Tensor],
    plan: Plan,
    *,
    dev: Callable[[], float] | None = None,
    checkpoint: Path | None = None,
    data: str = "",
    progress: bool | None = None,
    rates: Sequence[float] = (1.0,),
    turn: Callable[[B], int] = lambda batch: 0,
    after_epoch: Callable[[int], None] | None = None,
) -> Fitted:
    """Train what is not frozen, where the model lies; it is in eval mode afterwards.

    `batches` gives the batches of one epoch, always as many; `loss` the mean loss of a batch; `dev` a score of the
    model as it is, more being better. `checkpoint` is the file to resume from, `data` a digest of what is learned.
    Where batches of several kinds take turns, each kind has an optimiser of its own: `rates` are shares of the plan's
    rate, one per optimiser, and `turn` is the number of the one that a batch is for. `after_epoch` is called with the
    number of each finished epoch, from 1, the model being as the epoch left it.
    """
    run = _Run(model, batches, loss, plan, dev, checkpoint, data, progress, rates, turn, after_epoch)
    run.resume()
    while not run.ended:
        run.epoch()
    run.take_best()
    return run.fitted


def slope(progress: float, warm_up: float) -> float:
    """The share of the highest rate after this part of all steps."""
    return progress / warm_up if progress < warm_up else max(0.0, (1 - progress) / (1 - warm_up))


def _optimiser(model: nn.Module, plan: Plan, share: float) -> torch.optim.Optimizer:
    trainable = [(name, tensor) for name, tensor in model.named_parameters() if tensor.requires_grad]
    rate = plan.rate * share
    if plan.optimiser == "adamw" and not plan.undecayed:
        return torch.optim.AdamW([tensor for _, tensor in trainable], lr=rate, weight_decay=plan.decay)
    bare = [name.startswith(plan.undecayed) if plan.undecayed else False for name, _ in trainable]
    groups = [
        {"params": [t for (_, t), one in zip(trainable, bare, strict=True) if one == which], "weight_decay": decay}
        for which, decay in ((False, plan.decay), (True, 0.0))
    ]
    kept = [group for group in groups if group["params"]]
    if plan.optimiser == "adamw":
        return torch.optim.AdamW(kept, lr=rate)
    return torch.optim.Adam(kept, lr=rate, amsgrad=True)


@dataclass
class _Run:
    """A training run under way."""

    model: nn.Module
    batches: Batches[Any]
    loss: Callable[[Any], Tensor]
    plan: Plan
    dev: Callable[[], float] | None
    checkpoint: Path | None
    data: str
    progress: bool | None
    rates: Sequence[float]
    turn: Callable[[Any], int]
    after_epoch: Callable[[int], None] | None = None
    fitted: Fitted = Fitted()
    best: dict[str, Tensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.trainable = [tensor for tensor in self.model.parameters() if tensor.requires_grad]
        if not self.trainable:
            raise BadInput("the model has no weights to train: all of them are frozen.")
        self.optimisers = [_optimiser(self.model, self.plan, share) for share in self.rates]

    @property
    def settings(self) -> dict[str, Any]:
        """What decides the weights; a checkpoint of other settings is not gone on with."""
        sizes = [[name, *tensor.shape] for name, tensor in self.model.named_parameters() if tensor.requires_grad]
        plan = {**asdict(self.plan), "undecayed": list(self.plan.undecayed)}
        return {**plan, "data": self.data, "dev": self.dev is not None, "weights": sizes}

    @property
    def ended(self) -> bool:
        plan, done = self.plan, self.fitted
        weary = plan.patience is not None and bool(done.scores) and done.epochs - done.best >= plan.patience
        return done.epochs >= plan.epochs or weary

    def resume(self) -> None:
        state = checkpoints.load(self.checkpoint, self.settings) if self.checkpoint else None
        if state is not None:
            self.model.load_state_dict(state["model"])
            for optimiser, saved in zip(self.optimisers, [state["optimiser"], *state.get("others", ())], strict=True):
                optimiser.load_state_dict(saved)
            self.fitted, self.best = Fitted(tuple(state["losses"]), tuple(state["scores"])), state["best"]

    def epoch(self) -> None:
        number = self.fitted.epochs
        with _seeded(self.model, self.plan.seed, number) as rng:
            mean = self._learn(self.batches(rng), number)
        self.model.eval()
        scores = (*self.fitted.scores, self._score()) if self.dev else ()
        self.fitted = Fitted((*self.fitted.losses, mean), scores)
        if self.dev and self.fitted.best == self.fitted.epochs:
            self.best = {name: tensor.detach().cpu().clone() for name, tensor in self.model.state_dict().items()}
        if self.after_epoch:  # before the checkpoint: after a kill in between, the epoch is done again
            self.after_epoch(self.fitted.epochs)
        self._save()

    def take_best(self) -> None:
        if self.best:
            self.model.load_state_dict(self.best)
        self.model.eval()

    def _learn(self, batches: Sequence[Any], epoch: int) -> float:
        if not batches:
            raise BadInput("there is nothing to learn from: the epoch has no batch.")
        self.model.train()
        total, sum_of_losses = self.plan.epochs * len(batches), 0.0
        for i, batch in enumerate(track(batches, len(batches), f"epoch {epoch + 1}", self.progress)):
            # The first step must move, so the slope is read in the middle of a step.
            done = (epoch * len(batches) + i + 0.5) / total
            self._step(batch, slope(done, self.plan.warm_up) if self.plan.optimiser == "adamw" else 1.0)
            sum_of_losses += self._last
        return sum_of_losses / len(batches)

    def _step(self, batch: Any, share: float) -> None:
        turn = self.turn(batch)
        optimiser = self.optimisers[turn]
        for group in optimiser.param_groups:
            group["lr"] = self.plan.rate * self.rates[turn] * share
        value = self.loss(batch)
        self._last = float(value.detach())
        if not np.isfinite(self._last):
            raise NonFiniteAnswer(f"the loss became {self._last}; train with a smaller rate than {self.plan.rate:g}.")
        optimiser.zero_grad()
        value.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.trainable, self.plan.clip)
        optimiser.step()

    def _score(self) -> float:
        assert self.dev is not None
        score = float(self.dev())
        if not np.isfinite(score):
            raise NonFiniteAnswer(f"the score on the dev texts is {score}.")
        return score

    def _save(self) -> None:
        if self.checkpoint is None:
            return
        first, *others = (optimiser.state_dict() for optimiser in self.optimisers)
        parts: Mapping[str, Any] = {"model": self.model.state_dict(), "optimiser": first, "others": others}
        history = {"losses": list(self.fitted.losses), "scores": list(self.fitted.scores), "best": self.best}
        checkpoints.save(self.checkpoint, {"settings": self.settings, **parts, **history})


@contextmanager
def _seeded(model: nn.Module, seed: int, epoch: int) -> Iterator[np.random.Generator]:
    """Generators that begin with the seed and the epoch; torch's own are put back."""
    rng = np.random.default_rng([seed, epoch])
    with seeded(model, int(rng.integers(2**63))):
        yield rng


@contextmanager
def seeded(model: nn.Module | None, seed: int) -> Iterator[None]:
    """Torch's generators for the CPU and for where the model lies begin with the seed, and are put back afterwards.

    Dropout draws from these and takes no other. So of several threads that train, one at a time does: else each would
    go on with the other's numbers, and put those back.
    """
    places = {tensor.device for tensor in model.parameters()} if model is not None else set()
    cards = sorted({place.index or 0 for place in places if place.type == "cuda"})
    with _GLOBAL, torch.random.fork_rng(devices=cards):
        torch.default_generator.manual_seed(seed)
        for card in cards:
            torch.cuda.default_generators[card].manual_seed(seed)
        yield

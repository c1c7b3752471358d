"""The common recipe of the writers: a low-rank adapter on SmolLM2-135M-Instruct, with the loss on the answer alone.

Rows are prepared as token ids beforehand, batches are of similar length, and the vocabulary is only projected to where
an answer stands. A run that is stopped goes on where its last checkpoint was written, with the same command.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import card
import numpy as np
import torch
from encoder import Model
from lora import Lora, adapter_state
from options import Options
from rows import in_order, shuffled
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from train import slope, update

from assay_zoo.packing import merge_writer, quantise
from assay_zoo.writer import END, base

Pair = tuple[str, str]  # a prompt, and the answer that is to be learnt
QUICK_ROWS, QUICK_STEPS = 24, 3
CPU_ROWS = 5000  # that a CPU scores
BEGINNING = 0  # whatever the seed, all runs begin with the same random factors: so their mean is near to each of them


@dataclass(frozen=True)
class Writing:
    """A writer: what it learns from, and what it is scored on."""

    name: str
    title: str
    train: Callable[[Path], list[Pair]]
    parts: dict[str, Callable[[Path], list[Pair]]]
    data: tuple[tuple[str, str], ...]
    kept_out: str
    bad_at: tuple[str, ...]
    samples: tuple[str, ...] = ()
    rank: int = 16
    width: int = 160
    warm_up: float = 0.05
    dropout: float = 0.0
    steps: int | None = None  # instead of what fits the minutes
    batch: int = 128
    rate: float = 8e-4
    rows: Callable[["Writing", Any, list[Pair], Options], "Prompted"] | None = None  # instead of the pairs as they are

    def pace(self, device: str) -> tuple[int, float]:
        """Batch and peak learning rate: on a CPU smaller steps, so that there are enough of them."""
        return (self.batch, self.rate) if device.startswith("cuda") else (self.batch // 8, 0.75 * self.rate)

    def coded(self, tokenizer: Any, pairs: list[Pair], chosen: Options) -> "Prompted":
        """What the adapter learns from."""
        return self.rows(self, tokenizer, pairs, chosen) if self.rows else prepared(tokenizer, pairs, self.width)


@dataclass(frozen=True)
class Prompted:
    """Token ids of prompts with their answers, and where the answers begin."""

    ids: list[list[int]]
    starts: list[int]

    def __len__(self) -> int:
        return len(self.ids)

    def batch(self, chosen: Sequence[int], device: str) -> tuple[Tensor, Tensor]:
        """Right-padded ids, and for each token what is to be predicted after it: -100 outside of the answer."""
        width = max(len(self.ids[i]) for i in chosen)
        ids, wanted = torch.zeros(len(chosen), width, dtype=torch.long), torch.full((len(chosen), width), -100)
        for row, i in enumerate(chosen):
            one = torch.tensor(self.ids[i])
            ids[row, : len(one)] = one
            wanted[row, self.starts[i] - 1 : len(one) - 1] = one[self.starts[i] :]
        return ids.to(device), wanted.to(device)

    def loss(self, model: Model, chosen: Sequence[int], device: str) -> Tensor:
        """The mean -log p of the tokens of some answers."""
        return answer_losses(model, *self.batch(chosen, device)).mean()


def prepared(tokenizer: Any, pairs: Sequence[Pair], width: int) -> Prompted:
    """The rows that fit into `width` tokens; the answer ends with the token that ends a message."""
    end = tokenizer.convert_tokens_to_ids(END)
    prompts = tokenizer([prompt for prompt, _ in pairs])["input_ids"]
    answers = tokenizer([answer for _, answer in pairs])["input_ids"]
    rows = [(p + a + [end], len(p)) for p, a in zip(prompts, answers, strict=True) if len(p) + len(a) < width]
    return Prompted([ids for ids, _ in rows], [start for _, start in rows])


def add_writer_lora(model: Model, rank: int, dropout: float = 0.0) -> None:
    """Freeze the model and wrap the seven linear layers of each of its layers."""
    model.requires_grad_(False)
    for name, layer in list(model.model.layers.named_modules()):
        if isinstance(layer, nn.Linear):
            parent, _, leaf = name.rpartition(".")
            setattr(model.model.layers.get_submodule(parent), leaf, Lora(layer, rank, dropout))


def answer_losses(model: Model, ids: Tensor, wanted: Tensor) -> Tensor:
    """-log p of every token of the answers, row after row; padding stands behind them and is not seen."""
    return cross_entropy(answer_logits(model, ids, wanted), wanted[wanted >= 0], reduction="none")


def answer_logits(model: Model, ids: Tensor, wanted: Tensor) -> Tensor:
    """The logits of what follows, wherever a token of an answer is wanted, row after row."""
    states = model.model(input_ids=ids, use_cache=False).last_hidden_state
    return model.lm_head(states[wanted >= 0]).float()


@dataclass
class Progress:
    """How far a run has come: by its steps where their number is given, else by the clock."""

    steps: int | None
    minutes: float
    done: int = 0
    seconds: float = 0.0
    began: float = 0.0

    def start(self) -> None:
        self.began = time.perf_counter() - self.seconds

    @property
    def share(self) -> float:
        """From 0 to 1, when it has ended."""
        self.seconds = time.perf_counter() - self.began
        return self.done / self.steps if self.steps else self.seconds / (60 * self.minutes)


def faster(model: Model, device: str) -> None:
    """On a GPU the layers are compiled, once for all of them and all lengths: most of a step is small kernels."""
    if device.startswith("cuda"):
        for layer in model.model.layers:
            layer.compile(dynamic=True)


def fit(model: Model, rows: Prompted, task: Writing, chosen: Options, *, resumes: bool = True) -> Progress:
    """Train what is not frozen until its steps are done or its time is over."""
    trainable = [tensor for tensor in model.parameters() if tensor.requires_grad]
    fused = chosen.device.startswith("cuda")
    optimiser = torch.optim.AdamW(trainable, weight_decay=0.01, betas=(0.9, 0.98), fused=fused)
    progress = Progress(QUICK_STEPS if chosen.quick else chosen.steps or task.steps, chosen.minutes)
    kept = chosen.out / f".{task.name}.checkpoint" if resumes else None
    restore(kept, trainable, optimiser, progress)
    faster(model.train(), chosen.device)
    size, rate = task.pace(chosen.device)
    kind = chosen.device.partition(":")[0]
    progress.start()
    for picked in batches(rows, size, chosen.seed, progress.done):
        if (share := progress.share) >= 1:
            break
        optimiser.param_groups[0]["lr"] = rate * slope(share, task.warm_up)
        with torch.autocast(kind, torch.bfloat16):
            loss = rows.loss(model, picked, chosen.device)
        update(optimiser, trainable, loss)
        progress.done += 1
        if progress.done % 20 == 0:
            print(f"step {progress.done} {share:.1%} loss {loss.item():.3f} {progress.seconds:.0f}s", flush=True)
            keep(kept, trainable, optimiser, progress)
    keep(kept, trainable, optimiser, progress)
    return progress


def batches(rows: Prompted, size: int, seed: int, done: int) -> Iterator[list[int]]:
    """Batches without end, from the one after `done` on: the same as if the run had never stopped."""
    epoch = 0
    while True:
        for batch in shuffled(rows, size, np.random.default_rng((seed, epoch))):
            if done > 0:
                done -= 1
            else:
                yield batch
        epoch += 1


def keep(path: Path | None, trainable: list[nn.Parameter], optimiser: Any, progress: Progress) -> None:
    """Write a checkpoint in place of the last one, so that there is a whole one at any time."""
    if path is None:
        return
    state = {
        "weights": [t.detach().cpu() for t in trainable],
        "optimiser": optimiser.state_dict(),
        "done": progress.done,
        "seconds": progress.seconds,
    }
    torch.save(state, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


def restore(path: Path | None, trainable: list[nn.Parameter], optimiser: Any, progress: Progress) -> None:
    """Go on from a checkpoint, where there is one."""
    if path is None or not path.exists():
        return
    state = torch.load(path, weights_only=True)
    for tensor, saved in zip(trainable, state["weights"], strict=True):
        tensor.data.copy_(saved)
    optimiser.load_state_dict(state["optimiser"])
    progress.done, progress.seconds = state["done"], state["seconds"]


@torch.inference_mode()
def perplexity(model: Model, rows: Prompted, device: str) -> dict[str, Any]:
    """exp of the mean -log p of an answer's tokens, its end included; the interval by a bootstrap of the answers."""
    sums, counts = np.zeros(len(rows)), np.zeros(len(rows))
    for picked in in_order(rows, 128 if device.startswith("cuda") else 16):
        ids, wanted = rows.batch(picked, device)
        with torch.autocast(device.partition(":")[0], torch.bfloat16):
            losses = answer_losses(model, ids, wanted).double().cpu().numpy()
        own = (wanted >= 0).sum(1).cpu().numpy()
        for i, part in zip(picked, np.split(losses, np.cumsum(own)[:-1]), strict=True):
            sums[i], counts[i] = part.sum(), len(part)
    rng = np.random.default_rng(0)
    drawn = [rng.integers(0, len(rows), len(rows)) for _ in range(1000)]
    values = [math.exp(sums[d].sum() / counts[d].sum()) for d in drawn]
    interval = [float(np.quantile(values, q)) for q in (0.025, 0.975)]
    return {"n": len(rows), "perplexity": math.exp(sums.sum() / counts.sum()), "interval": interval}


def run(task: Writing, chosen: Options) -> None:
    """Train, pack to int8, score what was packed beside the base, write the card, and drop the checkpoint."""
    model, tokenizer = base(chosen.base)
    pairs = task.train(chosen.data)[: QUICK_ROWS if chosen.quick else None]
    rows = task.coded(tokenizer, pairs, chosen)
    torch.manual_seed(BEGINNING)
    add_writer_lora(model.to(chosen.device), task.rank, task.dropout)
    progress = fit(model, rows, task, chosen)
    packed = quantise(adapter_state(model))
    save_file(packed, chosen.out / f"writer_{task.name}.safetensors")
    model = base(chosen.base)[0].to(chosen.device)
    before = {f"{part}, the base": one for part, one in score(task, model, tokenizer, chosen)}
    model.load_state_dict(merge_writer(model.cpu().state_dict(), packed))
    figures = dict(score(task, model.to(chosen.device), tokenizer, chosen)) | before
    size, rate = task.pace(chosen.device)
    training = {
        "steps": progress.done,
        "batch": size,
        "rows_read": progress.done * size,
        "rate": rate,
        "rank": task.rank,
        "dropout": task.dropout,
    }
    training |= card.machine(chosen.device, progress.seconds, chosen.seed)
    card.write(chosen.out, facts(task, len(rows), figures, training))
    (chosen.out / f".{task.name}.checkpoint").unlink()


def score(task: Writing, model: Model, tokenizer: Any, chosen: Options) -> Iterator[tuple[str, dict[str, Any]]]:
    """The perplexity of each part; on a CPU of its first rows, since time is dear there."""
    most = QUICK_ROWS if chosen.quick else None if chosen.device.startswith("cuda") else CPU_ROWS
    for name, rows in task.parts.items():
        coded = prepared(tokenizer, rows(chosen.data)[:most], task.width)
        yield name, perplexity(model.eval(), coded, chosen.device)


def facts(task: Writing, rows: int, metrics: dict[str, Any], training: dict[str, Any]) -> dict[str, Any]:
    """What the card holds."""
    return {
        "name": f"writer:{task.name}",
        "title": task.title,
        "task": "text-generation",
        "labels": [],
        "fields": ["prompt"],
        "kept_out": task.kept_out,
        "reads": [f"writer_{task.name}.safetensors"],
        "data": [[source, rows, licence] for source, licence in task.data],
        "metrics": metrics,
        "weak": list(task.bad_at),
        "training": training,
        "recipe": f"python zoo/recipes/{task.name}.py --data DIR",
    }

"""The common recipe of the classifiers: an adapter and a head on the encoder, scored on clean parts."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import card
import encoder
import scores
import torch
from data import Labelled
from encoder import Model
from lora import adapter_state, add_lora, start_from
from options import Options
from rows import Rows, encode
from safetensors.torch import load_file, save_file
from teachers import distance, taught
from torch import Tensor
from torch.nn.functional import cross_entropy
from train import Loss, Plan, fit, predict

from assay_zoo.packing import State

Parts = dict[str, Callable[[Path], list[Labelled]]]
QUICK = 64


@dataclass(frozen=True)
class Task:
    """A classifier: its data, its clean parts and its plan."""

    name: str
    title: str
    task: str
    labels: tuple[str, ...]
    fields: tuple[str, ...]
    train: Callable[[Path], list[Labelled]]
    parts: Parts
    plan: Plan
    data: tuple[tuple[str, str], ...]
    kept_out: str
    bad_at: tuple[str, ...]
    teachers: int = 0
    also: Callable[["Task", Model, Options], dict[str, Any]] | None = None  # figures that are no part's accuracy


def run(task: Task, chosen: Options) -> None:
    """Train, pack, score what was packed, write the card."""
    rows = task.train(chosen.data)[: QUICK if chosen.quick else None]
    plan = replace(task.plan, epochs=1 if chosen.quick else chosen.epochs or task.plan.epochs)
    adapter, seconds = train_adapter(task, rows, plan, chosen)
    save_file(adapter, chosen.out / f"{task.name}.safetensors")
    model = encoder.packed(chosen.out, task.task, task.labels, adapter).to(chosen.device)
    metrics = score(task, model, chosen)
    training = plan.facts() | card.machine(chosen.device, seconds, chosen.seed)
    card.write(chosen.out, facts(task, rows, metrics, training))


def train_adapter(task: Task, rows: list[Labelled], plan: Plan, chosen: Options) -> tuple[State, float]:
    """The trained adapter and the seconds it took."""
    model = encoder.fresh(chosen.out, task.task, task.labels).to(chosen.device)
    add_lora(model, plan.rank)
    if plan.start is not None:
        start_from(model, load_file(chosen.out / f"{plan.start}.safetensors"))
    coded = coding(chosen.out, rows, plan.width)
    loss = balanced(coded, len(task.labels))
    if task.teachers:
        coded = taught(task.task, task.labels, rows, coded, loss, plan.width, task.teachers, chosen)
        loss = distance
    seconds = fit(model, coded, plan, loss, device=chosen.device, seed=chosen.seed)
    return adapter_state(model), seconds


def coding(out: Path, rows: list[Labelled], width: int) -> Rows:
    """Rows as tokens."""
    return encode(encoder.pieces(out), [texts for texts, _ in rows], [label for _, label in rows], width)


def balanced(rows: Rows, labels: int) -> Loss:
    """Cross-entropy in which every label weighs the same, however rare."""
    counts = torch.bincount(rows.targets, minlength=labels).clamp_min(1).float()
    weights = counts.sum() / (labels * counts)

    def loss(outputs: Any, targets: Tensor) -> Tensor:
        return cross_entropy(outputs.logits.float(), targets, weight=weights.to(targets.device))

    return loss


def score(task: Task, model: Model, chosen: Options) -> dict[str, Any]:
    """The figures of every clean part."""
    figures = {name: score_part(task, model, rows(chosen.data), chosen) for name, rows in task.parts.items()}
    return figures | (task.also(task, model, chosen) if task.also else {})


def score_part(task: Task, model: Model, rows: list[Labelled], chosen: Options) -> dict[str, Any]:
    """The figures of one part, in fp32."""
    coded = coding(chosen.out, rows[: QUICK if chosen.quick else None], task.plan.width)
    probabilities = predict(model, coded, device=chosen.device).double().numpy()
    figures = scores.labelled(probabilities, coded.targets.numpy(), task.labels)
    print(task.name, figures, flush=True)
    return figures


def facts(task: Task, rows: list[Labelled], metrics: dict[str, Any], training: dict[str, Any]) -> dict[str, Any]:
    """What the card holds."""
    same = ("name", "title", "task", "labels", "fields", "kept_out")
    return {name: getattr(task, name) for name in same} | {
        "reads": [*encoder.READS, f"{task.name}.safetensors"],
        "data": [[source, len(rows), licence] for source, licence in task.data],
        "metrics": metrics,
        "weak": [*weak(metrics), *task.bad_at],
        "training": training,
        "recipe": f"python zoo/recipes/{task.name}.py --data DIR",
    }


def weak(metrics: dict[str, Any]) -> list[str]:
    """The measured weak spots of each part."""
    return [weak_part(name, figures) for name, figures in metrics.items() if "recall" in figures]


def weak_part(name: str, figures: dict[str, Any]) -> str:
    """The label found least often, and the commonest mistake."""
    label, recall = min(figures["recall"].items(), key=lambda item: item[1])
    wrong = figures["confusion"]
    mistake = f"{wrong['rows']} times {wrong['true']} is taken for {wrong['taken_for']}"
    return f"{name}: {label} is found in {recall:.1%} of its rows; {mistake}."

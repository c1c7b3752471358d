"""Influence functions beside dattri and kronfluence: time at equal error, in one process, taking turns.

    python benchmarks/influence_peers.py cg      [--rows 2000] [--queries 50]       pip install dattri
    python benchmarks/influence_peers.py plain   [--rows 8] [--queries 3]           dattri without the states
    python benchmarks/influence_peers.py ekfac   [--rows 2000] [--queries 50]       pip install kronfluence
    python benchmarks/influence_peers.py ekfac-layers  [--rows 500] [--queries 20] [--layers 2]

The model is the bundled sst2, the layer its last one, the texts are made by code with labels that alternate. The truth
is a dense solve in float64. dattri is given what suits it best: a linear layer over states that are there beforehand,
and the whole training set as one batch, without which its result is another. The time of those states, one forward pass
of the bare model, is counted for it. Ours is `assay.explain` from texts to explanations. `iterations` of dattri are
raised until its error is no more than 1e-4, or to the last of them.

kronfluence factors the curvature with labels drawn from the model; ours takes all labels, so its factors are exact.
bergson takes language models alone: influence_bergson.py.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import chdir
from copy import deepcopy
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import torch
import typer
from torch import Tensor, nn
from torch.utils.data import DataLoader

from assay.models.transformers.parameters import chosen
from influence_case import DAMPING, Case, states

app = typer.Typer(add_completion=False)
ITERATIONS = (10, 20, 40, 80)


class Bare(nn.Module):
    """The model with tensors in and logits out."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        logits: Tensor = self.model(input_ids=ids, attention_mask=mask).logits
        return logits


def dattri_scores(case: Case, iterations: int) -> np.ndarray:
    """From texts: the states, then dattri on the last layer."""
    from dattri.algorithm.influence_function import IFAttributorCG
    from dattri.task import AttributionTask

    read, seen = states(case.model, case.train).numpy(), states(case.model, case.asked).numpy()
    head = nn.Linear(read.shape[1], 2)

    def loss(params: Any, data: Any) -> Tensor:
        x, y = data
        return nn.functional.cross_entropy(torch.func.functional_call(head, params, x), y)

    def log_odds(params: Any, data: Any) -> Tensor:
        x, y = data
        logits = torch.func.functional_call(head, params, x).reshape(-1, 2)
        value: Tensor = ((logits[:, 1] - logits[:, 0]) * (2 * y.reshape(-1) - 1)).sum()
        return value

    weights = {name: one.detach().clone() for name, one in case.head.named_parameters()}
    task = AttributionTask(loss_func=loss, model=head, checkpoints=weights, target_func=log_odds)
    tool = IFAttributorCG(task=task, max_iter=iterations, regularization=DAMPING)
    train = DataLoader(case.tensors(read, case.labels), batch_size=len(read))
    test = DataLoader(case.tensors(seen, case.targets), batch_size=len(seen))
    tool.cache(train)
    with torch.no_grad():
        found = tool.attribute(train, test)
    return np.asarray(-found.numpy().T / len(read))


def dattri_plain(case: Case, iterations: int) -> np.ndarray:
    """As its manual has it: the whole model, and the names of the last layer's parameters; a step is a pass of it."""
    from dattri.algorithm.influence_function import IFAttributorCG
    from dattri.task import AttributionTask

    model = deepcopy(case.model.model)
    model.set_attn_implementation("eager")

    def logits(params: Any, ids: Tensor, mask: Tensor) -> Tensor:
        flat = mask.reshape(-1, 1, 1, mask.shape[-1]).float().expand(-1, 1, mask.shape[-1], -1)
        rows = {"input_ids": ids.reshape(-1, ids.shape[-1]), "attention_mask": (flat - 1) * 1e9}  # vmap takes no other
        found: Tensor = torch.func.functional_call(model, params, (), rows).logits
        return found

    def loss(params: Any, data: Any) -> Tensor:
        return nn.functional.cross_entropy(logits(params, *data[:2]), data[2].reshape(-1))

    def log_odds(params: Any, data: Any) -> Tensor:
        found = logits(params, *data[:2])
        value: Tensor = ((found[:, 1] - found[:, 0]) * (2 * data[2].reshape(-1) - 1)).sum()
        return value

    weights = {name: one.detach().clone() for name, one in model.named_parameters()}
    task = AttributionTask(loss_func=loss, model=model, checkpoints=weights, target_func=log_odds)
    layer = ["classifier.weight", "classifier.bias"]
    tool = IFAttributorCG(task=task, layer_name=layer, max_iter=iterations, regularization=DAMPING)
    train, test = case.encoded(case.train, case.labels), case.encoded(case.asked, case.targets)
    tool.cache(DataLoader(train, batch_size=len(train)))
    with torch.no_grad():
        found = tool.attribute(DataLoader(train, batch_size=len(train)), DataLoader(test, batch_size=len(test)))
    return np.asarray(-found.numpy().T / len(train))


def kronfluence_scores(case: Case, layers: int = 0) -> np.ndarray:
    """EK-FAC of the last layer of the whole model, and of the linear layers in so many below it."""
    from kronfluence.analyzer import Analyzer, prepare_model
    from kronfluence.arguments import FactorArguments, ScoreArguments
    from kronfluence.task import Task

    linear = {name for name, one in case.model.model.named_modules() if isinstance(one, nn.Linear)}
    tracked = sorted(f"model.{name}" for name in linear & {n.rpartition(".")[0] for n in chosen_names(case, layers)})

    class Tracked(Task):  # type: ignore[misc]
        def compute_train_loss(self, batch: Any, model: nn.Module, sample: bool = False) -> Tensor:
            logits = model(batch[0], batch[1])
            labels = torch.multinomial(logits.softmax(-1).detach(), 1).flatten() if sample else batch[2]
            return nn.functional.cross_entropy(logits, labels, reduction="sum")

        def compute_measurement(self, batch: Any, model: nn.Module) -> Tensor:
            signs = 2 * nn.functional.one_hot(batch[2], 2) - 1
            value: Tensor = (model(batch[0], batch[1]) * signs).sum()
            return value

        def get_influence_tracked_modules(self) -> list[str]:
            return tracked

    task, train, test = Tracked(), case.encoded(case.train, case.labels), case.encoded(case.asked, case.targets)
    whole = Bare(deepcopy(case.model.model))
    with TemporaryDirectory() as out, chdir(out):
        tool = Analyzer("peer", prepare_model(whole, task), task, cpu=True, disable_tqdm=True, disable_model_save=True)
        tool.fit_all_factors("f", train, per_device_batch_size=64, factor_args=FactorArguments(strategy="ekfac"))
        tool.compute_pairwise_scores(
            "s",
            "f",
            test,
            train,
            per_device_query_batch_size=len(case.asked),
            per_device_train_batch_size=64,
            score_args=ScoreArguments(damping_factor=DAMPING),
        )
        found = tool.load_pairwise_scores("s")["all_modules"]
    return np.asarray(-found.numpy() / len(case.train))


def chosen_names(case: Case, layers: int) -> list[str]:
    """Of the parameters that our setting takes."""
    return list(chosen(case.model.model, f"last:{layers}" if layers else "head"))


def timed(job: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    began = perf_counter()
    found = job()
    return perf_counter() - began, found


def error(found: np.ndarray, true: np.ndarray) -> float:
    """The largest distance, beside the largest score."""
    return float(np.abs(found - true).max() / np.abs(true).max())


def least_r(found: np.ndarray, true: np.ndarray) -> float:
    return min(float(np.corrcoef(a, b)[0, 1]) for a, b in zip(found, true, strict=True))


def race(case: Case, title: str, ours: Callable[[], np.ndarray], theirs: Callable[[], np.ndarray], turns: int) -> None:
    """Taking turns, after a warm-up on the side; the median ratio, and both errors."""
    true, times = case.truth(), []
    for _ in range(turns):
        times.append((timed(ours), timed(theirs)))
    ratios = sorted(theirs[0] / ours[0] for ours, theirs in times)
    (own, found), (other, peer) = times[-1]
    print(f"{title}: ours {own:.2f} s, theirs {other:.2f} s")
    print(f"  theirs / ours {median(ratios):.2f} [{ratios[0]:.2f}, {ratios[-1]:.2f}] over {turns} turns")
    print(f"  error: ours {error(found, true):.1e} (least r {least_r(found, true):.6f}), ", end="")
    print(f"theirs {error(peer, true):.1e} (least r {least_r(peer, true):.6f})", flush=True)


@app.command()
def cg(rows: int = 2000, queries: int = 50, turns: int = 3) -> None:
    """Conjugate gradients: dattri's, with ever more iterations, and our exact solve."""
    small, case = Case(64, 4), Case(rows, queries)
    small.ours(), dattri_scores(small, 2)  # what is done once
    true = case.truth()
    own = error(case.ours(), true)
    wanted = max(own, 1e-4)
    for iterations in ITERATIONS:
        if error(dattri_scores(case, iterations), true) <= wanted:
            break
    race(case, f"dattri, {iterations} iterations", case.ours, lambda: dattri_scores(case, iterations), turns)


@app.command()
def plain(rows: int = 8, queries: int = 3, iterations: int = 10) -> None:
    """The conjugate gradients of dattri as its manual has them, once, and our exact solve, twice."""
    case = Case(rows, queries)
    true = case.truth()
    case.ours()
    own, found = timed(case.ours)
    print(f"{rows} x {queries}: ours {own:.2f} s, error {error(found, true):.1e}", flush=True)
    other, peer = timed(lambda: dattri_plain(case, iterations))
    print(f"dattri, {iterations} iterations of the whole model: {other:.2f} s, error {error(peer, true):.1e}")
    print(f"  theirs / ours {other / own:.1f}")


@app.command()
def ekfac(rows: int = 2000, queries: int = 50, turns: int = 3) -> None:
    """EK-FAC of the last layer."""
    small, case = Case(64, 4), Case(rows, queries)
    small.ours(solver="ekfac"), kronfluence_scores(small)
    race(case, "kronfluence", lambda: case.ours(solver="ekfac"), lambda: kronfluence_scores(case), turns)


@app.command()
def ekfac_layers(rows: int = 500, queries: int = 20, layers: int = 2) -> None:
    """EK-FAC of more layers, once each; there is no true solution to compare with, so the scores are compared."""
    case = Case(rows, queries)
    own, found = timed(lambda: case.ours(solver="ekfac", layers=f"last:{layers}"))
    print(f"{rows} x {queries}, {layers} layers: ours {own:.1f} s", flush=True)
    other, peer = timed(lambda: kronfluence_scores(case, layers))
    print(
        f"kronfluence {other:.1f} s: theirs / ours {other / own:.2f}; least r between them {least_r(found, peer):.3f}"
    )


if __name__ == "__main__":
    app()

"""What other tools score on the fine-tuned model of influence_lds.py, in our sign and order [texts, rows].

dattri 0.3        conjugate gradients and TRAK; the loss is that of the model's labels, the number the log-odds
kronfluence 1.0   EK-FAC of linear layers; it draws labels from the model for its factors
captum 0.9        TracInCP over the checkpoints, last layer

Scores are compared by rank within a text, so their scale is as the tool gives it.
"""

from __future__ import annotations

from contextlib import chdir
from copy import deepcopy
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from assay.training.epochs import checkpoints_in, open_checkpoint

DAMPING = 0.01  # ours, by default


def tensors(case: Any, texts: list[str], labels: list[int]) -> TensorDataset:
    found = case.model.tokenizer(texts, padding=True, truncation=True, max_length=128, return_tensors="pt")
    held = (found["input_ids"], found["attention_mask"], torch.tensor(labels))
    return TensorDataset(*(one.to(case.model.model.device) for one in held))


def both(case: Any) -> tuple[TensorDataset, TensorDataset]:
    train = [row.strings[0] for row in case.sample]
    return tensors(case, train, case.labels), tensors(case, case.texts, case.targets)


def upper(network: nn.Module, layers: int) -> list[str]:
    """The names of the parameters above the embeddings in so many of the uppermost layers."""
    names = [name for name, _ in network.named_parameters()]
    numbers = sorted({int(name.split("layer.")[1].split(".")[0]) for name in names if "layer." in name})
    wanted = [f"layer.{number}." for number in numbers[-layers:]]
    return [name for name in names if "classifier" in name or any(part in name for part in wanted)]


class Bare(nn.Module):
    """The model with tensors in and logits out."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        logits: Tensor = self.network(input_ids=ids, attention_mask=mask).logits
        return logits


def signed_difference(logits: Tensor, labels: Tensor) -> Tensor:
    """The log-odds of each label, of two."""
    flat = labels.reshape(-1)
    return (logits[:, 1] - logits[:, 0]) * (2 * flat - 1)


class Dattri:
    """A task of dattri on a copy of the model; attention masks of rank four, as vmap takes no other."""

    def __init__(self, case: Any) -> None:
        self.network = deepcopy(case.model.model)
        self.network.set_attn_implementation("eager")
        self.device = str(self.network.device)

    def logits(self, params: Any, data: Any) -> Tensor:
        ids, mask = data[0], data[1]
        flat = mask.reshape(-1, 1, 1, mask.shape[-1]).float().expand(-1, 1, mask.shape[-1], -1)
        rows = {"input_ids": ids.reshape(-1, ids.shape[-1]), "attention_mask": (flat - 1) * 1e9}
        found: Tensor = torch.func.functional_call(self.network, params, (), rows).logits
        return found

    def loss(self, params: Any, data: Any) -> Tensor:
        return nn.functional.cross_entropy(self.logits(params, data), data[2].reshape(-1))

    def log_odds(self, params: Any, data: Any) -> Tensor:
        return signed_difference(self.logits(params, data), data[2]).sum()

    def chance(self, params: Any, data: Any) -> Tensor:
        return torch.exp(-self.loss(params, data))

    def task(self) -> Any:
        from dattri.task import AttributionTask

        weights = {name: one.detach().clone() for name, one in self.network.named_parameters()}
        return AttributionTask(loss_func=self.loss, model=self.network, checkpoints=weights, target_func=self.log_odds)


def dattri_cg(case: Any) -> np.ndarray:
    """On a linear layer over what the last layer of the model reads, the training set as one batch; 20 iterations.

    It takes all of them: after 40 nothing is left to solve, and its scores are no numbers.

    Given the whole model and the names of these weights, as in its manual, it takes gradients of all weights of the
    model for every row of the batch, and smaller batches would be inverted one by one.
    """
    from dattri.algorithm.influence_function import IFAttributorCG
    from dattri.task import AttributionTask

    train, asked = (over_states(case, part) for part in both(case))
    head = deepcopy(case.model.model.classifier)

    def loss(params: Any, data: Any) -> Tensor:
        return nn.functional.cross_entropy(torch.func.functional_call(head, params, data[0]), data[1])

    def log_odds(params: Any, data: Any) -> Tensor:
        logits = torch.func.functional_call(head, params, data[0]).reshape(-1, 2)
        return signed_difference(logits, data[1]).sum()

    weights = {name: one.detach().clone() for name, one in head.named_parameters()}
    task = AttributionTask(loss_func=loss, model=head, checkpoints=weights, target_func=log_odds)
    tool = IFAttributorCG(task=task, device=str(head.weight.device), max_iter=20, regularization=DAMPING)
    tool.cache(DataLoader(train, batch_size=len(train)))
    with torch.no_grad():
        found = tool.attribute(DataLoader(train, batch_size=len(train)), DataLoader(asked, batch_size=len(asked)))
    return np.asarray(-found.cpu().numpy().T)


def over_states(case: Any, rows: TensorDataset) -> TensorDataset:
    """What the last layer reads of the rows, and their labels."""
    ids, mask, labels = rows.tensors
    found: list[Tensor] = []
    handle = case.model.model.classifier.register_forward_hook(lambda one, given, out: found.append(given[0].detach()))
    with torch.no_grad():
        for at in range(0, len(ids), 64):
            case.model.model(input_ids=ids[at : at + 64], attention_mask=mask[at : at + 64])
    handle.remove()
    return TensorDataset(torch.cat(found), labels)


def dattri_trak(case: Any, layers: int = 2) -> np.ndarray:
    """Of a single model; 512 random numbers of the gradient of the log-odds, as in its own examples."""
    from dattri.algorithm.trak import TRAKAttributor
    from dattri.task import AttributionTask

    peer, (train, asked) = Dattri(case), both(case)
    weights = {name: one.detach().clone() for name, one in peer.network.named_parameters()}
    task = AttributionTask(loss_func=peer.log_odds, model=peer.network, checkpoints=weights)
    tool = TRAKAttributor(
        task=task,
        correct_probability_func=peer.chance,
        projector_kwargs={"proj_dim": 512, "proj_type": "rademacher", "device": peer.device},
        layer_name=upper(peer.network, layers),
        device=peer.device,
        regularization=1e-8,
    )
    with torch.no_grad():
        tool.cache(DataLoader(train, batch_size=32))
        found = tool.attribute(DataLoader(asked, batch_size=32))
    return np.asarray(found.cpu().numpy().T)


def kronfluence(case: Any, layers: int) -> np.ndarray:
    """EK-FAC of the linear layers of the uppermost layers, with our damping."""
    from kronfluence.analyzer import Analyzer, prepare_model
    from kronfluence.arguments import FactorArguments, ScoreArguments
    from kronfluence.task import Task

    network = Bare(deepcopy(case.model.model))
    linear = {name for name, one in network.named_modules() if isinstance(one, nn.Linear)}
    chosen = {name.rpartition(".")[0] for name in upper(network, layers)} & linear

    class Chosen(Task):  # type: ignore[misc]
        def compute_train_loss(self, batch: Any, model: nn.Module, sample: bool = False) -> Tensor:
            logits = model(batch[0], batch[1])
            labels = torch.multinomial(logits.softmax(-1).detach(), 1).flatten() if sample else batch[2]
            return nn.functional.cross_entropy(logits, labels, reduction="sum")

        def compute_measurement(self, batch: Any, model: nn.Module) -> Tensor:
            return signed_difference(model(batch[0], batch[1]), batch[2]).sum()

        def get_influence_tracked_modules(self) -> list[str]:
            return sorted(chosen)

    task, (train, asked) = Chosen(), both(case)
    held = [TensorDataset(*(one.cpu() for one in part.tensors)) for part in (train, asked)]
    cpu = case.model.model.device.type == "cpu"
    with TemporaryDirectory() as out, chdir(out):
        tool = Analyzer("peer", prepare_model(network, task), task, cpu=cpu, disable_tqdm=True, disable_model_save=True)
        tool.fit_all_factors("f", held[0], per_device_batch_size=64, factor_args=FactorArguments(strategy="ekfac"))
        tool.compute_pairwise_scores(
            "s",
            "f",
            held[1],
            held[0],
            per_device_query_batch_size=len(case.texts),
            per_device_train_batch_size=64,
            score_args=ScoreArguments(damping_factor=DAMPING),
        )
        found = tool.load_pairwise_scores("s")["all_modules"]
    return np.asarray(-found.numpy())


def captum_tracin(case: Any) -> np.ndarray:
    """The loss of the predicted label at every checkpoint, its faster way of taking gradients."""
    from captum.influence import TracInCP

    steps = [str(number) for number in checkpoints_in(Path(case.model.name))]

    def load(module: Any, number: str) -> float:
        module.network.load_state_dict(open_checkpoint(case.model, number).model.state_dict())  # type: ignore[attr-defined]
        return 1.0

    train, asked = both(case)
    peer = TracInCP(
        Bare(deepcopy(case.model.model)),
        train,
        steps,
        checkpoints_load_func=load,
        layers=["network.classifier"],
        loss_fn=nn.CrossEntropyLoss(reduction="sum"),
        batch_size=64,
        sample_wise_grads_per_batch=True,
    )
    found: Tensor = peer.influence(tuple(asked.tensors))
    return found.cpu().numpy()


PEERS = {
    "dattri, last layer, CG": dattri_cg,
    "kronfluence, two layers, EK-FAC": partial(kronfluence, layers=2),
    "kronfluence, all layers, EK-FAC": partial(kronfluence, layers=99),
    "captum, last layer, TracInCP": captum_tracin,
    "dattri, two layers, TRAK": dattri_trak,
}

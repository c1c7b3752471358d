"""The mean of several runs of the explainer, as one adapter of the same rank (Wortsman et al. 2022, arXiv:2203.05482).

    B A = the best approximation of that rank of  sum over runs of w_k B_k A_k

by the singular values of the small matrix between orthogonal bases of the factors. Runs that differ in what they
learned from and how are wrong in different places; their mean is less so than each.

    python zoo/recipes/averaging.py --data DIR --out DIR RUN=.5 RUN=.25 ...
    python zoo/recipes/averaging.py --data DIR --out DIR RUN RUN ...

RUN is a folder with a run's writer_explainer.safetensors, in int8 or as it was before, and its card. Where no weights
are given, the mean is that of the runs which have the least perplexity together, among all choices of some of them, on
the dev pairs that are kept for choosing. Test pairs are read once, after that.
"""

import argparse
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import torch
import writing
from explainer import TASK, choosing
from options import WEIGHTS, Options
from safetensors.torch import load_file, save_file

from assay_zoo.packing import DOWN, UP, State, dequantise, merge_writer, quantise

FILE, NAME = "writer_explainer.safetensors", f"writer:{TASK.name}"


def mean(runs: Sequence[State], weights: Sequence[float], rank: int) -> State:
    """The adapter of this rank that is nearest to the weighted mean of what the runs add to the weights."""
    found: State = {}
    for name in (name.removesuffix(DOWN) for name in runs[0] if name.endswith(DOWN)):
        up = torch.cat([weight * run[name + UP] for run, weight in zip(runs, weights, strict=True)], 1)
        down = torch.cat([run[name + DOWN] for run in runs])
        found[name + UP], found[name + DOWN] = nearest(up, down, rank)
    return found


def nearest(up: torch.Tensor, down: torch.Tensor, rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Factors of the best approximation of `up @ down`; the second holds the sizes, as each row has its own scale."""
    left, inner = torch.linalg.qr(up)
    right, outer = torch.linalg.qr(down.T)
    u, values, v = torch.linalg.svd(inner @ outer.T)
    return (left @ u[:, :rank]).contiguous(), (values[:rank, None] * (v[:rank] @ right.T)).contiguous()


def packed(runs: Sequence[tuple[Path, float]], rank: int = TASK.rank) -> State:
    """The mean of adapters, packed."""
    states = [dequantise(load_file(folder / FILE)) for folder, _ in runs]
    found = mean(states, [weight for _, weight in runs], rank)
    return quantise({name: tensor.half() for name, tensor in found.items()})


def together(folders: Sequence[Path]) -> list[list[tuple[Path, float]]]:
    """Every choice of some of the runs, which then weigh the same."""
    sizes = range(1, len(folders) + 1)
    return [[(one, 1 / size) for one in some] for size in sizes for some in combinations(folders, size)]


def best(
    candidates: Sequence[list[tuple[Path, float]]], chosen: Options, rank: int = TASK.rank
) -> list[tuple[Path, float]]:
    """The candidate of the least perplexity on the pairs that are kept for choosing."""
    model, tokenizer = writing.base(chosen.base)
    plain = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    pairs = choosing(chosen.data)[: writing.QUICK_ROWS if chosen.quick else None]
    rows = writing.prepared(tokenizer, pairs, TASK.width)
    found = []
    for runs in candidates:
        model.cpu().load_state_dict(merge_writer(plain, packed(runs, rank)))
        found.append(writing.perplexity(model.to(chosen.device), rows, chosen.device)["perplexity"])
        print(f"{found[-1]:.4f} {' '.join(f'{folder.name}={weight:.3g}' for folder, weight in runs)}", flush=True)
    return candidates[found.index(min(found))]


def run(runs: Sequence[tuple[Path, float]], chosen: Options, rank: int = TASK.rank) -> None:
    """Average, pack, score beside the base, and write the card."""
    adapter = packed(runs, rank)
    chosen.out.mkdir(parents=True, exist_ok=True)
    save_file(adapter, chosen.out / FILE)
    model, tokenizer = writing.base(chosen.base)
    before = {f"{part}, the base": one for part, one in scored(model.to(chosen.device), tokenizer, chosen).items()}
    model.load_state_dict(merge_writer(model.cpu().state_dict(), adapter))
    card(scored(model.to(chosen.device), tokenizer, chosen) | before, runs, chosen, rank)


def scored(model: Any, tokenizer: Any, chosen: Options) -> dict[str, Any]:
    """The perplexity of each part."""
    return dict(writing.score(TASK, model, tokenizer, chosen))


def card(metrics: dict[str, Any], runs: Sequence[tuple[Path, float]], chosen: Options, rank: int) -> None:
    """The card of the mean; what each run was is on its own card."""
    made = {f"run {i + 1}": told(folder, weight) for i, (folder, weight) in enumerate(runs)}
    rows = max(writing.card.read(folder, NAME)["data"][0][1] for folder, _ in runs)
    facts = writing.facts(TASK, rows, metrics, made | {"rank": rank})
    writing.card.write(
        chosen.out, facts | {"recipe": "python zoo/recipes/averaging.py --data DIR --out DIR RUN=WEIGHT ..."}
    )


def told(folder: Path, weight: float) -> str:
    """What a run was, in a line."""
    was = writing.card.read(folder, NAME)["training"]
    kinds = ("steps", "batch", "rate", "dropout", "device", "torch")
    return f"weight {weight:g}; " + ", ".join(f"{kind} {was[kind]}" for kind in kinds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--rank", type=int, default=TASK.rank, help="of the adapter that is written")
    parser.add_argument("runs", nargs="+", help="FOLDER=WEIGHT, or FOLDER to have the runs chosen")
    given = parser.parse_args()
    asked = {"data": given.data, "out": given.out, "base": None, "device": given.device, "seed": 0, "quick": False}
    plain = Options(**asked, minutes=0, steps=None, keep=0, epochs=None, only=None)
    weighed = [one.rpartition("=") for one in given.runs if "=" in one]
    if 0 < len(weighed) < len(given.runs):
        parser.error("give all runs a weight, or none")
    runs = [(Path(folder), float(weight)) for folder, _, weight in weighed]
    run(runs or best(together([Path(one) for one in given.runs]), plain, given.rank), plain, given.rank)

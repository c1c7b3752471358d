"""The command line that all recipes share."""

import argparse
import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

WEIGHTS = Path(__file__).parents[1] / "src" / "assay_zoo" / "weights"


@dataclass(frozen=True)
class Options:
    """What a recipe was asked to do."""

    data: Path
    out: Path
    base: Path | None
    device: str
    seed: int
    quick: bool
    minutes: float
    steps: int | None
    keep: float
    epochs: int | None
    only: str | None


def options(about: str | None) -> Options:
    """Read the command line and seed every generator."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public data sets")
    parser.add_argument("--out", type=Path, default=WEIGHTS, help="where the packed weights and the card are written")
    parser.add_argument("--base", type=Path, help="folder of the base encoder, when its package is not installed")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="a few rows and steps: proves the recipe, not the model")
    parser.add_argument("--minutes", type=float, default=8.6, help="time for masked-LM training")
    parser.add_argument("--steps", type=int, help="masked-LM steps, instead of what fits --minutes")
    parser.add_argument(
        "--keep", type=float, default=0.5, help="how strongly masked-LM training keeps the base's meanings"
    )
    parser.add_argument("--epochs", type=int, help="instead of the recipe's own number")
    parser.add_argument("--only", help="verify one model")
    chosen = Options(**vars(parser.parse_args()))
    chosen.out.mkdir(parents=True, exist_ok=True)
    seed_everything(chosen.seed)
    return chosen


def seed_everything(seed: int) -> None:
    """One seed for Python, numpy and torch."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.backends.cuda.matmul.allow_tf32 = False

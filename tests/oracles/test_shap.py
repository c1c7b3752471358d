"""The shap library and captum on the same games: exact values agree, and sampled ones within their sampling error."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
import torch
from captum.attr import KernelShap as CaptumKernelShap

import set_games
from assay.methods.input_features.kernel_shap import KernelShap
from assay.methods.input_features.partition_shap import SPLITS, Groups, PartitionShap, balanced

shap = pytest.importorskip("shap")
logging.getLogger("shap").setLevel(logging.ERROR)


class Words(shap.maskers.Masker):  # type: ignore[misc]
    """Word positions as features: the model is asked with the mask itself."""

    def __init__(self, n: int, tree: Any = None) -> None:
        self.shape = (1, n)
        self.clustering = None if tree is None else linkage(tree)

    def __call__(self, mask: Any, x: Any) -> tuple[Any]:
        return (mask.reshape(1, -1).astype(float),)


def linkage(tree: Any) -> Any:
    """The tree as scipy writes one: two parts, a distance, a size; each group after its parts."""
    groups = Groups.of(tree)
    sizes = groups.members.sum(axis=1)[groups.members.shape[1] :]
    return np.column_stack([groups.halves, np.ones(len(sizes)), sizes]).astype(float)


def asked(game: set_games.Game) -> Any:
    return lambda rows: game(np.asarray(rows) > 0.5)


@pytest.mark.parametrize("n", [2, 5, 9])
def test_exact_shapley_values(n: int) -> None:
    game = set_games.network(n, n)
    theirs = shap.explainers.Exact(asked(game), Words(n))(np.ones((1, n))).values[0]
    np.testing.assert_allclose(set_games.play(KernelShap(), game, n).scores, theirs, atol=1e-8)


def test_kernel_explainer_with_every_coalition() -> None:
    n, game = 7, set_games.network(7, 1)
    explainer = shap.KernelExplainer(asked(game), np.zeros((1, n)))
    theirs = explainer.shap_values(np.ones(n), nsamples=2**n, l1_reg=False, silent=True)
    np.testing.assert_allclose(set_games.play(KernelShap(), game, n).scores, theirs, atol=1e-6)


TREES = [
    balanced(range(4)),
    balanced(range(13)),
    (((0, 1), 2), (3, (4, 5))),
    balanced([(0, 1), 2, (3, (4, 5)), 6, (7, 8)]),
]


def theirs_over(tree: Any, game: set_games.Game, n: int, max_evals: int) -> Any:
    explainer = shap.explainers.Partition(asked(game), Words(n, tree))
    return explainer(np.ones((1, n)), max_evals=max_evals, batch_size=2 * SPLITS, silent=True).values[0]


def ours_over(tree: Any, game: set_games.Game, n: int, **settings: Any) -> Any:
    fixed = type("Fixed", (PartitionShap,), {"groups": lambda self, text: Groups.of(tree)})
    return set_games.play(fixed(**settings), game, n).scores


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_partition_explainer_with_rows_for_everything(tree: Any) -> None:
    n = Groups.of(tree).members.shape[1]
    for seed in range(3):
        game = set_games.network(n, seed)
        np.testing.assert_allclose(ours_over(tree, game, n), theirs_over(tree, game, n, 500), atol=1e-8)


@pytest.mark.parametrize("max_evals", [10, 34, 66, 200, 500])
@pytest.mark.parametrize("n", [23, 40])
def test_partition_explainer_when_rows_run_out(n: int, max_evals: int) -> None:
    for seed in range(3):
        game, tree = set_games.network(n, seed), balanced(range(n))
        ours = ours_over(tree, game, n, max_evals=max_evals)
        np.testing.assert_allclose(ours, theirs_over(tree, game, n, max_evals), atol=1e-8)


def captum(game: set_games.Game, n: int, samples: int, seed: int) -> Any:
    def forward(rows: torch.Tensor) -> torch.Tensor:
        return torch.tensor(game(rows.numpy() > 0.5))

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        whole, nothing = torch.ones(1, n), torch.zeros(1, n)
        told = CaptumKernelShap(forward).attribute(whole, nothing, n_samples=samples, perturbations_per_eval=samples)
    return told[0].numpy()


def test_captum_within_its_sampling_error() -> None:
    n, game = 9, set_games.network(9, 0)
    ours = set_games.play(KernelShap(), game, n).scores
    theirs = np.array([captum(game, n, 300, seed) for seed in range(20)])
    error = theirs.std(axis=0, ddof=1) / np.sqrt(len(theirs))
    assert (np.abs(theirs.mean(axis=0) - ours) < 4 * error + 1e-3).all()
    assert error.max() < 0.1


def test_a_third_of_the_rows_of_captum_and_two_thirds_of_those_of_shap() -> None:
    """The race: our error with fewer rows is at most theirs with 512."""
    n, ours, captums, shaps = 12, ([], []), [], []
    for seed in range(8):
        game = set_games.network(n, seed)
        truth = set_games.play(KernelShap(exact_up_to=n), game, n).scores
        for rows, errors in zip((512 // 3, 512 * 2 // 3), ours, strict=True):
            errors.append(np.abs(set_games.play(KernelShap(samples=rows), game, n, seed).scores - truth).mean())
        captums.append(np.abs(captum(game, n, 512, seed) - truth).mean())
        np.random.seed(seed)  # shap takes the global generator
        explainer = shap.KernelExplainer(asked(game), np.zeros((1, n)))
        theirs = explainer.shap_values(np.ones(n), nsamples=510, l1_reg=False, silent=True)
        shaps.append(np.abs(theirs - truth).mean())
    assert np.mean(ours[0]) < np.mean(captums)
    assert np.mean(ours[1]) < np.mean(shaps)

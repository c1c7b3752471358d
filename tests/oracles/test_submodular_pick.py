"""lime's SubmodularPick: the same matrix gives the same picks and the same importance of the words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lime.submodular_pick import SubmodularPick

import assay
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.methods.ensemble.coverage import WordWeights
from assay.statistics.greedy_cover import greedy_picks
from assay.text.text import Text


class Explained:
    """What SubmodularPick asks of an explanation."""

    mode = "classification"

    def __init__(self, weights: dict[str, float]) -> None:
        self.weights = weights

    def available_labels(self) -> list[int]:
        return [1]

    def as_list(self, label: int) -> list[tuple[str, float]]:
        return list(self.weights.items())


class Explainer:
    """An explainer that knows the weights of each text."""

    def __init__(self, table: list[dict[str, float]]) -> None:
        self.table = table

    def explain_instance(self, i: int, predict: Any, **_: Any) -> Explained:
        return Explained(self.table[i])


def theirs(table: list[dict[str, float]], picks: int) -> list[int]:
    found = SubmodularPick(
        Explainer(table), np.arange(len(table)), None, method="full", num_exps_desired=picks, num_features=99
    )
    return [int(i) for i in found.V]


def ours(table: list[dict[str, float]], picks: int) -> list[int]:
    weights = WordWeights()
    for row in table:
        weights.add(TokenScores(Case(Text.of(" ".join(row)), 0), np.array(list(row.values()))))
    return greedy_picks(weights.rows, weights.importance, picks)


def table(seed: int) -> list[dict[str, float]]:
    """Texts of one to six of 25 words, with weights of both signs."""
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(25)]
    sizes = rng.integers(1, 7, size=12)
    chosen = [(rng.choice(words, k, replace=False).tolist(), rng.normal(size=k).tolist()) for k in sizes]
    return [dict(zip(names, weights, strict=True)) for names, weights in chosen]


@pytest.mark.parametrize("seed", range(40))
def test_the_same_matrix_gives_the_same_picks(seed: int) -> None:
    rows = table(seed)
    # Several texts may add the same word, or none: lime then takes the last of them, which is our first in reverse.
    mirrored = [len(rows) - 1 - i for i in theirs(rows[::-1], len(rows))]
    assert ours(rows, len(rows)) == mirrored
    assert ours(rows, 3) == mirrored[:3]


def test_ties_go_to_the_first_text_and_with_lime_to_the_last() -> None:
    rows = [{"a": 1.0}, {"b": 1.0}, {"c": 1.0}]
    assert ours(rows, 2) == [0, 1]
    assert theirs(rows, 2) == [2, 1]


def test_the_same_explanations_of_a_model_give_the_same_picks() -> None:
    """The whole way: leave-one-out of a model, its words by their small letters, ten of them for each text."""

    def chances(texts: list[str]) -> Any:
        values = [sum(((hash_of(w) % 19) - 9) / 4 for w in text.lower().split()) for text in texts]
        return 1 / (1 + np.exp(-np.array(values)))

    def hash_of(word: str) -> int:
        return sum(ord(c) * (i + 3) for i, c in enumerate(word))

    rng = np.random.default_rng(3)
    words = [f"{a}{b}" for a in "Bcdfg" for b in "aeiou"]
    texts = [" ".join(rng.choice(words, rng.integers(3, 14), replace=False)) for _ in range(20)]
    model = assay.BlackBox(chances, labels=["n", "p"])
    e = assay.describe(model, texts, "sp_lime", of="leave_one_out", picks=2, words=10, progress=False)
    matrix = []
    for one in assay.explain(model, texts, "leave_one_out", progress=False):
        strongest = sorted(zip(one.words, one.scores.tolist(), strict=True), key=lambda pair: -abs(pair[1]))[:10]
        matrix.append({word.lower(): score for word, score in strongest if score})
    assert list(e.chosen) == theirs(matrix, 2)

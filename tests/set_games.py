"""Games over word positions with known values, played by a method without a model; and slow sums over all orders.

told = set_games.play(KernelShap(), game, n=4)        the explanation of a text of n different words
set_games.by_orders(game, 4)                          Shapley values, from the definition
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import permutations, product
from typing import Any

import numpy as np

from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.questions.answers import Predictions
from assay.text.text import Text
from assay.text.variants import Variants

Array = np.ndarray[Any, Any]
Game = Callable[[Array], Array]
Tree = Any


def table(values: Array) -> Game:
    """The game with these values, the empty coalition first; word i counts 2^i."""
    bits = 1 << np.arange((len(values) - 1).bit_length())
    return lambda keep: values[np.asarray(keep, dtype=bool) @ bits]


def every(n: int) -> Array:
    return np.array([bits[::-1] for bits in product([False, True], repeat=n)])


def network(n: int, seed: int, hidden: int = 16) -> Game:
    """A small random network with two layers: smooth, with interactions of every order."""
    rng = np.random.default_rng(seed)
    first, bias, second = rng.normal(size=(n, hidden)), rng.normal(size=hidden), rng.normal(size=hidden)
    return lambda keep: np.tanh(np.asarray(keep, dtype=float) @ first + bias) @ second


def play(method: Any, game: Game, n: int, seed: int = 0, asked: list[Array] | None = None) -> TokenScores:
    """Answer the method's questions by the game; `asked` receives the coalitions of each round."""
    text = Text.of(" ".join(f"w{i}" for i in range(n)))
    talk = method.explain(Case(text, 1, seed=seed))
    answer = None
    while True:
        try:
            question = talk.send(answer)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        keep = np.concatenate([p.keep if isinstance(p, Variants) else np.ones((1, n), bool) for p in question.inputs])
        if asked is not None:
            asked.append(keep)
        values = game(keep)
        answer = Predictions(np.stack([np.zeros(len(values)), values], axis=1))


def by_orders(game: Game, n: int, orders: Iterable[tuple[int, ...]] | None = None) -> Array:
    """What each word adds when it comes, on average over these orders, or all of them."""
    total, count = np.zeros(n), 0
    for order in orders or permutations(range(n)):
        keep = np.zeros((n + 1, n), dtype=bool)
        for step, word in enumerate(order, start=1):
            keep[step:, word] = True
        total[list(order)] += np.diff(game(keep))
        count += 1
    return total / count


def orders_of(tree: Tree) -> list[tuple[int, ...]]:
    """The orders in which the words of every group stand together."""
    if isinstance(tree, int):
        return [(tree,)]
    ways = list(product(orders_of(tree[0]), orders_of(tree[1])))
    return [one + other for one, other in ways] + [other + one for one, other in ways]

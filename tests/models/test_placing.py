"""Attention over words placed on pieces, from the equation by loops: special tokens keep theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.models.transformers.inside import Inside
from assay.models.transformers.placing import Placing
from assay.models.transformers.tokens import Pieces

# [CLS] a fi ##ne film [SEP]; the last word's piece is shared with a fourth word
PIECES = Pieces(
    [0, 5, 6, 7, 8, 1], None, np.array([1, 2, 3, 4, 4]), np.array([0, 1, 1, 2, 3]), np.array([1, 1, 1, 0.5, 0.5])
)
ROW = Inside(4, PIECES)
ALL = np.ones(6, bool)


def slow(own: Any, attended: Any, weights: Any) -> Any:
    """a(piece) = what stays + mass * sum over words of w(word) part(piece of word)."""
    owns = {(int(w), int(p)): float(s) for w, p, s in zip(PIECES.word, PIECES.piece, PIECES.share, strict=True)}
    owns = {(w, p): s for (w, p), s in owns.items() if attended[p]}
    held = [sum(s * own[p] for (w, p), s in owns.items() if w == word) for word in range(4)]
    open_words = [any(w == word for w, _ in owns) for word in range(4)]
    total = sum(x for x, is_open in zip(weights, open_words, strict=True) if is_open)
    found = [own[p] * (1 - sum(s for (_, q), s in owns.items() if q == p)) for p in range(6)]
    for (w, p), s in owns.items():
        size = sum(t for (v, _), t in owns.items() if v == w)
        part = s * own[p] / held[w] if held[w] > 0 else s / size
        found[p] += sum(held) * part * (weights[w] / total if total > 0 else 1 / sum(open_words))
    return found


@settings(max_examples=40)
@given(st.integers(0, 999), st.sampled_from([(), (1,), (2, 3), (4,)]), st.sampled_from([(), (1,), (3,), (1, 2, 3)]))
def test_pieces_are_those_of_the_equation(seed: int, hidden: tuple[int, ...], nothing: tuple[int, ...]) -> None:
    """With pieces that cannot be attended to, and pieces that have no attention."""
    rng = np.random.default_rng(seed)
    own, attended = rng.dirichlet(np.ones(6)), ALL.copy()
    own[list(nothing)] = 0
    attended[list(hidden)] = False
    own[list(hidden)] = 0
    weights = rng.random((3, 4))
    weights[2] = 0
    found = Placing.of(ROW, own, attended).pieces(weights)
    np.testing.assert_allclose(found, [slow(own, attended, w) for w in weights], atol=1e-6)
    np.testing.assert_allclose(found.sum(axis=1), own.sum(), atol=1e-6)


def test_the_models_own_weights_give_back_its_attention() -> None:
    own = np.array([0.3, 0.1, 0.2, 0.05, 0.25, 0.1])
    placing = Placing.of(ROW, own, ALL)
    np.testing.assert_allclose(placing.own, np.array([0.1, 0.25, 0.125, 0.125]) / 0.6)
    np.testing.assert_allclose(placing.pieces(placing.own[None])[0], own)
    assert placing.open.tolist() == [True] * 4


def test_words_without_any_attention_are_alike() -> None:
    own = np.array([0.6, 0.0, 0.0, 0.0, 0.0, 0.4])
    placing = Placing.of(ROW, own, ALL)
    assert placing.own.tolist() == [0.25] * 4
    np.testing.assert_allclose(placing.pieces(np.eye(4)), np.tile(own, (4, 1)))
    closed = Placing.of(ROW, own, np.array([True, False, True, True, True, True]))
    assert closed.open.tolist() == [False, True, True, True]
    np.testing.assert_allclose(closed.own, [0, 1 / 3, 1 / 3, 1 / 3])
    np.testing.assert_allclose(closed.shares(np.array([[5.0, 1.0, 1.0, 2.0]])), [[0, 0.25, 0.25, 0.5]])
    assert closed.shares(np.array([[5.0, 0.0, 0.0, 0.0]]))[0] == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3])

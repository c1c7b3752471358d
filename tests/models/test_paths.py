"""Points between a baseline and a text, and the way back from pieces to words, on tensors small enough to see."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from assay.models.transformers.paths import EncodedLine, Points, started
from assay.models.transformers.tokens import Pieces
from assay.questions.base import Aim
from assay.questions.gradients import GradientRow, Noise
from assay.text.text import Text

CPU = torch.device("cpu")
TABLE = torch.arange(30.0).reshape(10, 3).sin()
# [CLS] a fi ##ne [SEP]: word 0 is piece 1, word 1 has pieces 2 and 3
PIECES = Pieces([0, 5, 6, 7, 1], None, np.array([1, 2, 3]), np.array([0, 1, 1]), np.ones(3, np.float32))


def line(
    at: tuple[float, ...] = (1.0,), reduce: Any = "dot", noise: Noise | None = None, pieces: Pieces = PIECES
) -> EncodedLine:
    words = " ".join(f"w{i}" for i in range(int(pieces.word.max()) + 1))
    row = GradientRow(Text.of(words), Aim(1), reduce, "pad", at, noise)
    return EncodedLine(row, pieces, np.full(len(pieces.piece), 2))


def points(*lines: EncodedLine) -> Points:
    return Points(lines, lambda ids: TABLE[ids], CPU)


def embedded(count: int = 1) -> torch.Tensor:
    return TABLE[torch.tensor([PIECES.ids] * count)]


def test_points_lie_on_the_line_and_other_pieces_stay() -> None:
    placed = points(line((0.0, 0.25, 1.0))).place(embedded(3)).detach()
    start = embedded()[0].clone()
    start[1:4] = TABLE[2]
    for i, at in enumerate((0.0, 0.25, 1.0)):
        torch.testing.assert_close(placed[i], start + at * (embedded()[0] - start))
    assert torch.equal(placed[2], embedded()[0]), "the text itself is not computed but taken"


def test_a_baseline_of_nothing_is_zero_and_one_of_several_ids_is_repeated() -> None:
    assert started(PIECES, ()).tolist() == [-1, -1, -1]
    assert started(PIECES, (4,)).tolist() == [4, 4, 4]
    assert started(PIECES, (8, 9)).tolist() == [8, 9, 8]
    shared = Pieces([0, 5, 1], None, np.array([1, 1, 2]), np.array([0, 1, 1]), np.array([0.5, 0.5, 1], np.float32))
    assert started(shared, (8, 9)).tolist() == [8, 8, 9], "a piece of two words has one place"
    zero = EncodedLine(line((0.0,)).row, PIECES, started(PIECES, ()))
    assert points(zero).place(embedded())[0, 1:4].detach().abs().max() == 0


@pytest.mark.parametrize("shift", [-10.0, 10.0])
def test_noise_is_measured_by_the_range_of_the_values_wherever_they_lie(shift: float) -> None:
    """All values below zero, or all above it: zero is not one of them."""
    noisy = line(noise=Noise(0.1, 3))
    plain = points(noisy).place(embedded()).detach() - embedded()
    moved = points(noisy).place(embedded() + shift).detach() - (embedded() + shift)
    torch.testing.assert_close(plain, moved, atol=1e-5, rtol=0)
    own = embedded()[0, 1:4]
    drawn = torch.randn(3, 3, generator=torch.Generator().manual_seed(3))
    torch.testing.assert_close(plain[0, 1:4], 0.1 * drawn * (own.max() - own.min()))
    assert plain[0, [0, 4]].abs().max() == 0


def test_noise_of_one_row_does_not_reach_another() -> None:
    lines = [line(), line(noise=Noise(0.2, 1)), line((0.0, 1.0))]
    placed = points(*lines).place(embedded(4)).detach()
    assert torch.equal(placed[0], embedded()[0])
    assert not torch.equal(placed[1], embedded()[0])
    assert torch.equal(placed[3], embedded()[0])


def test_pieces_are_reduced_to_words_as_asked() -> None:
    lines = [line((0.5,), kind) for kind in ("dot", "l1", "l2", "linf")]
    here = points(*lines)
    here.place(embedded(4))
    gradient = torch.linspace(-1, 2, 60).reshape(4, 5, 3).cos()
    found = here.per_word(gradient)
    way = embedded()[0] - TABLE[2]
    for word, own in enumerate(([1], [2, 3])):
        assert found[0, word] == pytest.approx(float((gradient[0] * way)[own].sum()), abs=1e-6)
        assert found[1, word] == pytest.approx(float(gradient[1, own].abs().sum()), abs=1e-6)
        assert found[2, word] == pytest.approx(float(gradient[2, own].norm()), abs=1e-6)
        assert found[3, word] == pytest.approx(float(gradient[3, own].abs().max()), abs=1e-6)


def test_a_piece_of_two_words_is_shared() -> None:
    shared = Pieces([0, 5, 1], None, np.array([1, 1]), np.array([0, 1]), np.array([0.5, 0.5], np.float32))
    here = Points([line(reduce="l1", pieces=shared)], lambda ids: TABLE[ids], CPU)
    here.place(TABLE[torch.tensor([shared.ids])])
    found = here.per_word(torch.ones(1, 3, 3))
    assert found.tolist() == [[1.5, 1.5]]

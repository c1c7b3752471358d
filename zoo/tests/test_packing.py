"""The arithmetic of packing weights, by slow loops, and which premises are held out."""

import pytest
import torch

from assay_zoo.heldout import SNLI_SHARE, is_clean_snli_premise, normalise, position
from assay_zoo.packing import LORA_SCALE, dequantise, merge, quantise


def test_int8_against_a_slow_loop() -> None:
    matrix = torch.randn(5, 7, generator=torch.Generator().manual_seed(0))
    packed = quantise({"w": matrix, "b": matrix[0]})
    again = dequantise(packed)
    assert packed["w"].dtype == torch.int8
    assert torch.equal(again["b"], matrix[0])
    for i in range(5):
        scale = max(abs(float(x)) for x in matrix[i]) / 127
        for j in range(7):
            assert float(again["w"][i, j]) == pytest.approx(round(float(matrix[i, j]) / scale) * scale, abs=1e-6)


def test_int8_of_a_zero_row() -> None:
    assert torch.equal(dequantise(quantise({"w": torch.zeros(2, 3)}))["w"], torch.zeros(2, 3))


def test_merge_against_a_slow_loop() -> None:
    rng = torch.Generator().manual_seed(1)
    weight, down, up = (torch.randn(shape, generator=rng) for shape in ((4, 6), (2, 6), (4, 2)))
    state = {"layer.weight": weight}
    merged = merge(state, {"layer.lora_down": down, "layer.lora_up": up, "head.bias": torch.ones(3)})
    for i in range(4):
        for j in range(6):
            change = sum(float(up[i, r] * down[r, j]) for r in range(2))
            assert float(merged["layer.weight"][i, j]) == pytest.approx(
                float(weight[i, j]) + LORA_SCALE * change, abs=1e-5
            )
    assert torch.equal(merged["head.bias"], torch.ones(3))
    assert torch.equal(state["layer.weight"], weight)


def test_normalise_ignores_spacing_case_and_marks() -> None:
    assert normalise("It 's a Film , is n't it ?") == normalise("it's a film, isn't it?") == "itsafilmisntit"


def test_position_is_a_fair_share() -> None:
    places = [position(f"premise number {i}") for i in range(4000)]
    assert all(0 <= place < 1 for place in places)
    assert sum(place < 0.5 for place in places) / 4000 == pytest.approx(0.5, abs=0.03)


def test_heldout_does_not_depend_on_spelling() -> None:
    for i in range(200):
        plain, spaced = f"Two dogs, {i} of them, run.", f"two dogs , {i} of  them , run ."
        assert is_clean_snli_premise(plain) == is_clean_snli_premise(spaced)


def test_heldout_dev_is_the_smaller_share() -> None:
    premises = [f"a man number {i}" for i in range(500)]
    assert SNLI_SHARE["dev"] < SNLI_SHARE["test"]
    assert all(is_clean_snli_premise(one) for one in premises if is_clean_snli_premise(one, "dev"))

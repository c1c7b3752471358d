"""Model directories and answers that mean harm or make no sense: one sentence each, and nothing read elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
import transformers as hf
from test_loading import edit, save

import assay
from assay.errors import ModelNotLoaded
from assay.training.finetune import _from_pretrained as training_start

TEXT = "a gripping film"


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return save(tmp_path / "saved", *tiny.bert())


def refusal(source: Any) -> str:
    with pytest.raises(ModelNotLoaded) as error:
        assay.load(source)
    assert "\n" not in str(error.value)
    return str(error.value)


KERNELS = ["evil/kernel", "kernels-community/flash-attn", "paged|evil/kernel@main", "kernels", "flash_attention_2"]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("key", ["_attn_implementation", "attn_implementation", "_attn_implementation_internal"])
def test_attention_code_of_the_hub_is_refused_by_name(saved: Path, kernel: str, key: str) -> None:
    edit(saved, "config.json", **{key: kernel})
    assert repr(kernel) in refusal(saved)
    assert "code of strangers" in refusal(saved)
    with pytest.raises(ModelNotLoaded, match="code of strangers"):
        training_start(str(saved))


def test_attention_code_of_a_part_is_refused_too(saved: Path) -> None:
    edit(saved, "config.json", text_config={"layers": [{"attn_implementation": {"": "evil/kernel"}}]})
    assert "evil/kernel" in refusal(saved)


@pytest.mark.parametrize("plain", ["eager", "sdpa", None])
def test_attention_code_of_transformers_is_not(saved: Path, plain: str | None) -> None:
    edit(saved, "config.json", _attn_implementation=plain)
    assert assay.load(saved).predict([TEXT]).shape == (1, 3)


def sharded(folder: Path, name: str) -> None:
    """All weights in one file of this name, found by an index."""
    weights = folder / "model.safetensors"
    names = dict.fromkeys(tiny.bert()[0].state_dict(), name)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": names}))
    target = folder / name
    target.parent.mkdir(exist_ok=True)
    weights.rename(target)


def _above(saved: Path) -> None:
    sharded(saved, "../elsewhere.safetensors")


def _absolute(saved: Path) -> None:
    sharded(saved, str(saved.parent / "elsewhere.safetensors"))


def _by_detour(saved: Path) -> None:
    sharded(saved, "../saved/model-1.safetensors")


def _by_a_link(saved: Path) -> None:
    sharded(saved, "model-1.safetensors")
    (saved / "model-1.safetensors").rename(saved.parent / "elsewhere.safetensors")
    (saved / "model-1.safetensors").symlink_to(saved.parent / "elsewhere.safetensors")


@pytest.mark.parametrize("lead", [_above, _absolute, _by_detour, _by_a_link])
def test_an_index_leads_nowhere_else(saved: Path, lead: Callable[[Path], None]) -> None:
    lead(saved)
    (saved / "other.safetensors").write_bytes(b"")
    assert "leads out of its directory" in refusal(saved)


def test_an_index_of_its_own_files_and_of_the_hubs_cache_is_followed(saved: Path) -> None:
    sharded(saved, "model-1.safetensors")
    expected = assay.load(tiny.bert()).predict([TEXT])
    assert assay.load(saved).predict([TEXT]) == pytest.approx(expected, abs=1e-6)
    home = saved.parent / "models--a--b"
    (home / "blobs").mkdir(parents=True)
    (home / "snapshots").mkdir()
    kept = saved.rename(home / "snapshots" / "abc")
    (kept / "model-1.safetensors").rename(home / "blobs" / "digest")
    (kept / "model-1.safetensors").symlink_to(Path("../../blobs/digest"))
    assert assay.load(kept).predict([TEXT]) == pytest.approx(expected, abs=1e-6)


NESTED = '{"a":' * 200_000 + "1" + "}" * 200_000


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json", "model.safetensors.index.json"])
def test_settings_nested_without_end(saved: Path, file: str) -> None:
    (saved / file).write_text(NESTED)
    assert "nested too deeply" in refusal(saved)


def test_settings_of_a_huge_size(saved: Path) -> None:
    edit(saved, "config.json", padding=" " * 17_000_000)
    assert "has 17 MB" in refusal(saved)


@pytest.mark.parametrize("length", [-1, 0, 1, "many"])
def test_a_window_without_room_is_questioned(saved: Path, length: Any) -> None:
    edit(saved, "tokenizer_config.json", model_max_length=length)
    assert "model_max_length" in refusal(saved)
    model, tokenizer = tiny.bert()
    tokenizer = deepcopy(tokenizer)
    tokenizer.model_max_length = length
    assert f"model_max_length={length!r}" in refusal((model, tokenizer))
    assert tokenizer.model_max_length == length


def answering(*row: float) -> Callable[[list[str]], Any]:
    return lambda texts: np.array([row] * len(texts))


def test_a_black_box_of_one_label() -> None:
    for labels in (None, ["only"]):
        with pytest.raises(assay.AssayError, match="one label"):
            assay.load(answering(1.0), labels=labels)
    several = assay.BlackBox(answering(0.3), labels=["only"], multi_label=True)
    assert assay.explain(several, TEXT, "leave_one_out").scores.tolist() == [0, 0, 0]


HUGE = [(1e308, -1e308), (1e308, 0.0), (1e308, 1e308), (-1e31, 0.0)]


@pytest.mark.parametrize("row", HUGE)
@pytest.mark.parametrize("logits", [True, False])
def test_answers_too_large_to_compare(row: tuple[float, float], logits: bool) -> None:
    model = assay.BlackBox(answering(*row), labels=["a", "b"], logits=logits)
    with pytest.raises(assay.AssayError, match=r"logit of size|between 0 and 1") as error:
        assay.explain(model, TEXT, "leave_one_out")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("row", [(-np.inf, 0.0), (np.inf, 0.0), (-np.inf, -np.inf), (np.nan, 0.0)])
@pytest.mark.parametrize("logits", [True, False])
def test_answers_that_are_no_numbers(row: tuple[float, float], logits: bool) -> None:
    model = assay.BlackBox(answering(*row), labels=["a", "b"], logits=logits)
    with pytest.raises(assay.AssayError, match="NaN or infinity"):
        assay.explain(model, TEXT, "leave_one_out")


def test_a_revision_is_handed_to_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def fetched(name: str, **given: Any) -> None:
        asked.append((name, given["revision"], given["trust_remote_code"]))
        raise OSError("no network")

    monkeypatch.setattr(hf.AutoConfig, "from_pretrained", fetched)
    for name in ("owner/name@0123abcd", "owner/name@refs/pr/3", "owner/name@v1.0", "owner/name"):
        refusal(name)
    monkeypatch.setattr(hf.AutoModel, "from_pretrained", fetched)
    with pytest.raises(ModelNotLoaded, match="cannot start"):
        training_start("owner/name@v2")
    pinned = ["0123abcd", "refs/pr/3", "v1.0", "main", "v2"]
    assert asked == [("owner/name", revision, False) for revision in pinned]


def test_every_part_of_a_pinned_model_comes_from_that_revision(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub is played by a directory."""
    asked = []
    for kind in (hf.AutoConfig, hf.AutoTokenizer, hf.AutoModelForSequenceClassification):
        monkeypatch.setattr(kind, "from_pretrained", played(kind.from_pretrained, saved, asked))
    settings = played(hf.PreTrainedConfig.get_config_dict, saved, asked)
    monkeypatch.setattr(hf.PreTrainedConfig, "get_config_dict", settings)
    model = assay.load("owner/name@abc")
    assert model.name == "owner/name@abc"
    assert set(asked) == {("owner/name", "abc"), (str(saved), "abc")}
    assert asked.count(("owner/name", "abc")) == 4
    edit(saved, "config.json", attn_implementation="evil/kernel")
    assert "code of strangers" in refusal("owner/name@abc")


def played(own: Callable[..., Any], folder: Path, asked: list[Any]) -> Callable[..., Any]:
    def call(name: str, **given: Any) -> Any:
        asked.append((name, given["revision"]))
        return own(str(folder), **given)

    return call


@pytest.mark.parametrize("name", ["owner/name@", "owner/name@-rf", "owner/name@a b", "owner/name@a@b", "@abc"])
def test_a_revision_that_is_none(name: str) -> None:
    assert "names no revision" in refusal(name)


def test_an_adapter_without_its_base_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text("{}", encoding="utf-8")
    assert "holds an adapter without its base; merge the two" in refusal(tmp_path)

"""Loading: every way to name a model, and nothing that a model directory holds is ever run."""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pytest
import tiny
import torch
import transformers as hf

import assay
from assay.errors import ModelNotLoaded
from assay.models.transformers.tasks.classifier import Classifier
from assay.models.transformers.tasks.masked_lm import MaskedLM

TEXTS = ["a gripping, funny film", "dull"]


def save(folder: Path, model: Any, tokenizer: Any) -> Path:
    model.save_pretrained(folder)
    deepcopy(tokenizer).save_pretrained(folder)
    return folder


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return save(tmp_path / "saved", *tiny.bert())


def edit(folder: Path, name: str, **changes: Any) -> None:
    path = folder / name
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


SAVABLE = ["bert", "roberta", "distilbert", "xlm_roberta", "albert", "deberta", "words", "gpt2"]


@pytest.mark.parametrize("name", SAVABLE)
def test_a_saved_model_answers_as_the_one_in_memory(name: str, tmp_path: Path) -> None:
    pair = tiny.FAMILIES[name]()
    loaded = assay.load(save(tmp_path, *pair))
    assert isinstance(loaded.task, Classifier)
    assert loaded.predict(TEXTS) == pytest.approx(assay.load(pair).predict(TEXTS), abs=1e-6)
    assert not any(module.training for module in loaded.model.modules())


def test_a_saved_masked_language_model(tmp_path: Path) -> None:
    assert isinstance(assay.load(str(save(tmp_path, *tiny.masked_lm("roberta")))).task, MaskedLM)


def test_a_relative_directory(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(saved.parent)
    assert assay.load("saved").name == "saved"
    assert assay.load("./saved").labels == ("LABEL_0", "LABEL_1", "LABEL_2")


def test_objects_and_pipelines() -> None:
    pair = tiny.bert()
    adapter = assay.load(pair)
    assert assay.load(adapter) is adapter
    pipeline = hf.pipeline("text-classification", model=pair[0], tokenizer=pair[1], device="cpu")
    assert assay.load(pipeline).predict(TEXTS) == pytest.approx(adapter.predict(TEXTS))
    told = [{one["label"]: one["score"] for one in rows} for rows in pipeline(TEXTS, top_k=None)]
    expected = np.array([[one[label] for label in adapter.labels] for one in told])
    assert adapter.predict(TEXTS) == pytest.approx(expected, abs=1e-6)


def test_module_and_attribute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_models.py").write_text("def half(texts):\n    return [[0.25, 0.75]] * len(texts)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert assay.load("my_models:half").predict(["a"]) == pytest.approx(np.array([[0.25, 0.75]]))
    for missing in ("my_models:third", "no_such_module:half", "my_models:", ":half"):
        with pytest.raises(ModelNotLoaded, match="cannot be imported"):
            assay.load(missing)


@pytest.mark.parametrize("wrong", [3, None, object(), (1, 2, 3), (1, 2), ["a"], torch.nn.Linear(2, 2)], ids=range(7))
def test_what_is_no_model_is_refused(wrong: Any) -> None:
    with pytest.raises(assay.AssayError):
        assay.load(wrong)


def test_other_models_of_transformers_are_refused() -> None:
    bare = hf.BertModel(tiny.bert()[0].config)
    with pytest.raises(ModelNotLoaded, match="BertModel is not a kind"):
        assay.load((bare, tiny.bert()[1]))
    with pytest.raises(ModelNotLoaded, match="tokenizer"):
        assay.load((tiny.bert()[0], None))


def _no_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def _no_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def _no_tokenizer(folder: Path) -> None:
    for path in folder.glob("*token*"):
        path.unlink()


def _half_the_weights(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _config_is_no_json(folder: Path) -> None:
    (folder / "config.json").write_text("{")


def _config_is_a_list(folder: Path) -> None:
    (folder / "config.json").write_text("[]")


def _unknown_kind(folder: Path) -> None:
    edit(folder, "config.json", model_type="no_such_kind", architectures=["NoSuchForSequenceClassification"])


def _other_shape(folder: Path) -> None:
    edit(folder, "config.json", vocab_size=7)


def _more_labels(folder: Path) -> None:
    edit(folder, "config.json", id2label={str(i): f"L{i}" for i in range(5)}, label2id={f"L{i}": i for i in range(5)})


BREAK: list[tuple[Callable[[Path], None], str]] = [
    (_no_config, "no config.json"),
    (_no_weights, "no weights in safetensors"),
    (_no_tokenizer, "tokenizer"),
    (_half_the_weights, "cannot be loaded"),
    (_config_is_no_json, "cannot be loaded"),
    (_config_is_a_list, "cannot be loaded"),
    (_unknown_kind, "cannot be loaded"),
    (_other_shape, ""),
    (_more_labels, ""),
]


@pytest.mark.parametrize(("spoil", "said"), BREAK, ids=[spoil.__name__ for spoil, _ in BREAK])
def test_a_spoiled_directory_is_refused(saved: Path, spoil: Callable[[Path], None], said: str) -> None:
    spoil(saved)
    with pytest.raises(ModelNotLoaded) as error:
        assay.load(saved)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_head_that_was_never_trained_is_refused(tmp_path: Path) -> None:
    """transformers would fill it with random weights."""
    model, tokenizer = tiny.bert()
    with pytest.raises(ModelNotLoaded, match=r"no weights for classifier\.\w+.*random"):
        assay.load(save(tmp_path, model.bert, tokenizer))


def test_a_language_model_is_not_taken_for_a_classifier(tmp_path: Path) -> None:
    folder = save(tmp_path, *tiny.masked_lm())
    edit(folder, "config.json", architectures=["BertForSequenceClassification"])
    with pytest.raises(ModelNotLoaded, match="random"):
        assay.load(folder)


def test_a_file_and_a_missing_directory(saved: Path) -> None:
    with pytest.raises(ModelNotLoaded, match="is a file"):
        assay.load(saved / "model.safetensors")
    for missing in (saved / "nothing", "./nothing", "~/nothing/at/all"):
        with pytest.raises(ModelNotLoaded, match="no directory"):
            assay.load(missing)


NONSENSE = ["no-such-model", "no/such-model", "not a model at all", "sst3", "x" * 300, "a\0b", ""]


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_names_without_a_network(name: str) -> None:
    began = monotonic()
    with pytest.raises(ModelNotLoaded) as error:
        assay.load(name)
    assert monotonic() - began < 5
    assert "\n" not in str(error.value)


def test_a_name_without_a_network_says_what_to_do() -> None:
    with pytest.raises(ModelNotLoaded, match=r"no directory.*(bundled)"):
        assay.load("no/such-model")


class Bomb:
    """What a pickle may hold: opening it creates the canary."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> Any:
        return (Path.touch, (self.canary,))


def arm(path: Path, canary: Path) -> None:
    """A pickle that works as a trap, tried here once so that the test can fail."""
    path.write_bytes(pickle.dumps(Bomb(canary)))
    pickle.loads(path.read_bytes())
    assert canary.exists()
    canary.unlink()


PICKLES = ["pytorch_model.bin", "model.bin", "model.pt", "tf_model.h5", "adapter_model.bin", "training_args.bin"]


@pytest.mark.parametrize("beside_weights", [True, False])
def test_pickles_are_never_opened(saved: Path, tmp_path: Path, beside_weights: bool) -> None:
    canary = tmp_path / "canary"
    for name in PICKLES:
        arm(saved / name, canary)
    if beside_weights:
        assay.load(saved)
    else:
        (saved / "model.safetensors").unlink()
        with pytest.raises(ModelNotLoaded, match="safetensors"):
            assay.load(saved)
    assert not canary.exists()


def test_an_index_cannot_lead_to_a_pickle(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    canary = tmp_path / "canary"
    opened: list[Any] = []
    monkeypatch.setattr(torch, "load", lambda *args, **settings: opened.append(args))
    arm(saved / "pytorch_model.bin", canary)
    (saved / "model.safetensors").rename(saved / "other.safetensors")
    names = tiny.bert()[0].state_dict()
    index = {"metadata": {}, "weight_map": dict.fromkeys(names, "pytorch_model.bin")}
    for name in ("model.safetensors.index.json", "pytorch_model.bin.index.json"):
        (saved / name).write_text(json.dumps(index))
    with pytest.raises(ModelNotLoaded):
        assay.load(saved)
    assert not canary.exists()
    assert not opened


AUTO = {
    "AutoConfig": "evil.EvilConfig",
    "AutoModel": "evil.EvilModel",
    "AutoModelForSequenceClassification": "evil.EvilModel",
    "AutoTokenizer": ["evil.EvilTokenizer", "evil.EvilTokenizer"],
}


EVIL = "\n\nclass EvilConfig: ...\n\n\nclass EvilModel: ...\n\n\nclass EvilTokenizer: ...\n"


@pytest.mark.parametrize("kind", ["bert", "evil"])
@pytest.mark.parametrize(
    ("file", "auto"), [("config.json", AUTO), ("tokenizer_config.json", {"AutoTokenizer": AUTO["AutoTokenizer"]})]
)
def test_code_beside_a_model_is_never_run(saved: Path, tmp_path: Path, kind: str, file: str, auto: Any) -> None:
    canary = tmp_path / "canary"
    for name in ("evil.py", "modeling_evil.py", "__init__.py"):
        (saved / name).write_text(f"from pathlib import Path\n\nPath({str(canary)!r}).touch()" + EVIL)
    edit(saved, file, auto_map=auto)
    edit(saved, "config.json", model_type=kind)
    with suppress(ModelNotLoaded):
        assay.load(saved)
    assert not canary.exists()


def test_a_kernel_named_in_the_settings_is_not_fetched(saved: Path) -> None:
    """A name of attention code on the hub would be code of strangers."""
    for key in ("_attn_implementation", "attn_implementation", "_attn_implementation_internal"):
        edit(saved, "config.json", **{key: "evil/kernel"})
    try:
        loaded: Any = assay.load(saved)
    except ModelNotLoaded:
        return
    assert loaded.model.config._attn_implementation in {"eager", "sdpa"}


def test_loading_leaves_the_random_generators_alone(saved: Path) -> None:
    before = torch.get_rng_state(), np.random.get_state()[1].tolist()
    assay.load(saved)
    assert torch.equal(before[0], torch.get_rng_state())
    assert before[1] == np.random.get_state()[1].tolist()


def test_a_device_by_name() -> None:
    assert assay.load(tiny.bert(), device="cpu").predict(TEXTS) == pytest.approx(assay.load(tiny.bert()).predict(TEXTS))


def test_an_unknown_device_is_named() -> None:
    model, tokenizer = deepcopy(tiny.bert()[0]), tiny.bert()[1]
    with pytest.raises(assay.AssayError):
        assay.load((model, tokenizer), device="no-such-device")


def test_a_model_that_another_package_carries_comes_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    zoo = pytest.importorskip("assay_zoo")
    monkeypatch.setattr(zoo, "smollm2", tiny.causal_lm, raising=False)
    model = assay.load("smollm2")
    assert (model.name, model.fields[0]) == ("smollm2", "prompt")


def test_a_carried_model_that_is_not_installed_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    zoo = pytest.importorskip("assay_zoo")

    def missing() -> None:
        raise zoo.ZooError("gguf is not installed; run `pip install gguf accelerate`")

    monkeypatch.setattr(zoo, "smollm2", missing, raising=False)
    with pytest.raises(ModelNotLoaded, match="pip install gguf"):
        assay.load("smollm2")

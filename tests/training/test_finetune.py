"""Fine-tuning: what is learned, saved and loaded again is one and the same; the start is left alone."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
import torch

import assay
from assay.errors import BadInput, ModelNotLoaded
from assay.training import finetune, lora
from assay.training.batches import Rows
from assay.training.finetune import FineTune, fine_tune
from assay.training.fit import Plan

FILL = (
    "it is what it is|two dogs run|the plot|a film, and more|they say so|in the end|watch it|one of the scenes".split(
        "|"
    )
)
ROWS = [(f"{word} {fill}", label) for fill in FILL for word, label in (("good", "positive"), ("dull", "negative"))] * 3
TEXTS, LABELS = [text for text, _ in ROWS], [label for _, label in ROWS]
PLAN = Plan(epochs=1, rate=3e-3)
ASKED = ["a good film", "the plot is dull", "dull"]


def tuned(**settings: Any) -> Any:
    return fine_tune(
        TEXTS, LABELS, **{"start": tiny.masked_lm(), "plan": PLAN, "batch": 16, "progress": False} | settings
    )


def accuracy(model: Any) -> float:
    found = model.predict(TEXTS).argmax(axis=1)
    return float(np.mean([model.labels[i] == label for i, label in zip(found, LABELS, strict=True)]))


@pytest.mark.parametrize("rank", [0, 4])
def test_it_learns_and_the_labels_keep_their_names(rank: int) -> None:
    plan = Plan(epochs=15, rate=2e-2 if rank else 5e-3)
    model = tuned(plan=plan, rank=rank)
    assert model.labels == ("negative", "positive")
    assert accuracy(model) > 0.95
    assert not any(isinstance(layer, lora.LowRank) for layer in model.model.modules())
    swapped = [{"negative": "z", "positive": "a"}[label] for label in LABELS]
    other = fine_tune(TEXTS, swapped, start=tiny.masked_lm(), plan=plan, rank=rank, batch=16, progress=False)
    assert other.labels == ("a", "z")
    found = [other.labels[i] for i in other.predict(TEXTS).argmax(axis=1)]
    assert np.mean([f == label for f, label in zip(found, swapped, strict=True)]) > 0.95


def test_what_is_saved_is_what_was_learned(tmp_path: Path) -> None:
    model = tuned(out=tmp_path / "m")
    np.testing.assert_allclose(assay.load(str(tmp_path / "m")).predict(ASKED), model.predict(ASKED), atol=1e-6)
    again = tuned(out=tmp_path / "m")
    np.testing.assert_allclose(again.predict(ASKED), model.predict(ASKED), atol=1e-6)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m"]
    with pytest.raises(BadInput, match=r"another training .it differs in seed"):
        tuned(out=tmp_path / "m", plan=Plan(epochs=1, rate=3e-3, seed=5))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("dear")
    with pytest.raises(BadInput, match="not the directory of a training"):
        tuned(out=tmp_path / "full")


class Killed(Exception):
    """What stands for a kill."""


def test_a_killed_training_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(epochs=3, rate=3e-3)
    whole = tuned(plan=plan).predict(ASKED)
    other = (deepcopy(tiny.masked_lm()[0]), tiny.masked_lm()[1])
    next(other[0].parameters()).data += 1.0
    batch, calls = Rows.batch, iter(range(100))

    def dying(self: Rows, *args: Any) -> Any:
        if next(calls) == 7:
            raise Killed
        return batch(self, *args)

    with monkeypatch.context() as patch:
        patch.setattr(Rows, "batch", dying)
        with pytest.raises(Killed):
            tuned(plan=plan, out=tmp_path / "m")
    assert [path.name for path in tmp_path.iterdir()] == ["m.checkpoint"]
    with pytest.raises(BadInput, match="another run"):
        tuned(plan=plan, out=tmp_path / "m", start=other)
    np.testing.assert_array_equal(tuned(plan=plan, out=tmp_path / "m").predict(ASKED), whole)
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_the_start_is_left_alone_and_the_seed_decides() -> None:
    model, tokenizer = tiny.bert()
    before = deepcopy(model.state_dict())
    random = torch.get_rng_state().tolist()
    one, two = (tuned(start=(model, tokenizer)).predict(ASKED) for _ in range(2))
    other = tuned(start=(model, tokenizer), plan=Plan(epochs=1, rate=3e-3, seed=1)).predict(ASKED)
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert torch.get_rng_state().tolist() == random
    assert model.config.num_labels == 3


def test_training_begins_with_the_encoder_of_the_start() -> None:
    model, tokenizer = tiny.masked_lm()
    begun = finetune.with_head(model.base_model, ["a", "b", "c"], tokenizer)
    for name, tensor in model.base_model.state_dict().items():
        assert torch.equal(begun.base_model.state_dict()[name], tensor)
    assert begun.config.id2label == {0: "a", 1: "b", 2: "c"}


@pytest.mark.parametrize("kind", ["bare", "masked", "classifier", "roberta"])
def test_any_directory_is_a_start(kind: str, tmp_path: Path) -> None:
    model, tokenizer = {"masked": tiny.masked_lm, "roberta": tiny.roberta}.get(kind, tiny.bert)()
    (model.base_model if kind == "bare" else model).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    told = tuned(start=str(tmp_path))
    assert told.predict(ASKED).shape == (3, 2)


def test_pairs_and_long_texts() -> None:
    pairs = [(text, "a film " * (100 if i == 0 else 1)) for i, text in enumerate(TEXTS)]
    model = tuned_on(pairs)
    assert model.predict([("a superb film", "a film")]).shape == (1, 2)
    with pytest.raises(BadInput, match="all be pairs"):
        tuned_on([*pairs[1:], "alone"])


def tuned_on(texts: list[Any]) -> Any:
    return fine_tune(texts, LABELS, start=tiny.bert(), plan=PLAN, batch=16, progress=False)


def test_dev_chooses_the_epoch() -> None:
    """Turned labels on dev: the earlier the better, so the first epoch is kept."""
    turned = [{"negative": "positive", "positive": "negative"}[label] for label in LABELS]
    plan = Plan(epochs=12, rate=5e-3)
    kept, last = tuned(plan=plan, dev=(TEXTS, turned)), tuned(plan=plan)
    assert accuracy(kept) < accuracy(last)


def test_low_rank_merges_to_the_same_answers() -> None:
    model = deepcopy(tiny.bert()[0]).eval()
    inputs = {"input_ids": torch.tensor([[2, 9, 8, 3]])}
    lora.add(model.base_model, 3)
    learned = [name for name, tensor in model.base_model.named_parameters() if tensor.requires_grad]
    assert learned
    assert all(name.endswith((".down", ".up")) for name in learned)
    with torch.no_grad():
        for layer in model.modules():
            if isinstance(layer, lora.LowRank):
                layer.up.normal_()
        wrapped = model(**inputs).logits
        lora.merge(model.base_model)
        torch.testing.assert_close(model(**inputs).logits, wrapped, rtol=1e-4, atol=1e-4)
        assert not torch.allclose(wrapped, tiny.bert()[0](**inputs).logits, atol=1e-2)
    with pytest.raises(BadInput, match="no linear layers"):
        lora.add(deepcopy(torch.nn.Embedding(2, 2)), 3)


def test_batches_hold_every_row_once_and_little_padding() -> None:
    tokenizer = tiny.wordpiece()
    texts = [("film " * n,) for n in range(1, 51)]
    rows = Rows.of(texts, list(range(50)), tokenizer, 60)
    rng = np.random.default_rng(0)
    one, two = rows.epoch(8, rng), rows.epoch(8, rng)
    assert sorted(i for batch in one for i in batch) == list(range(50))
    assert one != two
    assert all(max(batch) - min(batch) < 8 for batch in one)
    inputs, labels = rows.batch([0, 3], "cpu")
    assert labels.tolist() == [0, 3]
    alone, _ = rows.batch([0], "cpu")
    n = alone["input_ids"].shape[1]
    assert inputs["input_ids"][0, :n].tolist() == alone["input_ids"][0].tolist()
    assert inputs["attention_mask"].sum(1).tolist() == [len(rows.encoded[i]["input_ids"]) for i in (0, 3)]


def test_what_cannot_be_tuned_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="at least two labels"):
        fine_tune(["a", "b"], ["x", "x"], start=tiny.bert())
    with pytest.raises(BadInput, match="2 texts and 1 labels"):
        fine_tune(["a", "b"], ["x"], start=tiny.bert())
    with pytest.raises(ModelNotLoaded, match="cannot start from"):
        tuned(start=str(tmp_path))
    with pytest.raises(BadInput, match="starts from a name"):
        tuned(start=7)
    with pytest.raises(BadInput, match="no padding token"):
        tuned(start=tiny.gpt2())
    assert FineTune("mlm").settings["start"] == "mlm"
    broken = deepcopy(tiny.bert()[0].base_model.state_dict())
    with pytest.raises(ModelNotLoaded, match="begin with noise"):
        finetune._require_weights("x", [next(iter(broken))])


@pytest.mark.slow
def test_the_bundled_encoder_learns() -> None:
    pytest.importorskip("assay_zoo")
    model = fine_tune(TEXTS[:32], LABELS[:32], plan=Plan(epochs=4, rate=2e-4), batch=8, progress=False, device="cpu")
    assert accuracy(model) > 0.9

"""The parts of the recipes that decide what training sees, and the arithmetic of their figures."""

import math
import os
from pathlib import Path
from typing import Any

import clean
import numpy as np
import phrases
import pytest
import scores
import spans
import torch
from data import Question
from lora import Lora, adapter_state, add_lora
from masked import Reader, hide
from pretrain import FINISH
from torch import nn

import assay_zoo
from assay_zoo.heldout import is_clean_snli_premise, normalise
from assay_zoo.packing import merge

torch.set_num_threads(1)
DATA = Path(os.environ.get("ASSAY_DATA", "no-such-folder"))
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="set ASSAY_DATA to the folder of the public data sets")


def test_wilson_against_the_textbook() -> None:
    assert list(scores.wilson(8, 10)) == pytest.approx([0.4902, 0.9433], abs=1e-3)


def test_ece_of_a_calibrated_and_of_a_boastful_model() -> None:
    correct = np.array([1.0, 1, 1, 0])
    assert scores.ece(np.full(4, 0.75), correct) == pytest.approx(0)
    assert scores.ece(np.ones(4), correct) == pytest.approx(0.25)


class Toy(nn.Module):
    """A model whose parts are named as in transformers."""

    def __init__(self) -> None:
        super().__init__()
        self.bert = nn.Module()
        self.bert.embeddings, self.bert.encoder = nn.Embedding(3, 4), nn.Sequential(nn.Linear(4, 5))
        self.head = nn.Linear(5, 2)


def test_lora_equals_its_merged_weights() -> None:
    torch.manual_seed(0)
    model: Any = Toy()
    weight = model.bert.encoder[0].weight.detach().clone()
    add_lora(model, rank=2)
    layer = model.bert.encoder[0]
    assert isinstance(layer, Lora)
    nn.init.normal_(layer.up)
    adapter = adapter_state(model)
    assert set(adapter) == {"bert.encoder.0.lora_down", "bert.encoder.0.lora_up", "head.weight", "head.bias"}
    x = torch.randn(2, 4)
    slow = x @ merge({"bert.encoder.0.weight": weight}, adapter)["bert.encoder.0.weight"].T + layer.frozen.bias
    assert torch.allclose(layer(x), slow, atol=5e-3)


def test_hiding_spares_special_pieces() -> None:
    ids = torch.tensor([[101, 2000, 2001, 102, 0], [101, 2002, 2003, 2004, 102]])
    hidden, places, wanted = hide(ids, 3)
    assert (hidden == 103).sum() == 3
    assert torch.equal(ids.flatten()[places], wanted)
    assert not set(wanted.tolist()) & {0, 101, 102}


def test_the_occurrence_near_the_question_is_taken() -> None:
    text = "In 1900 the mill burned. " + "Nothing else is known of it for years. " * 4 + "The bridge opened in 1900."
    one = Question("1", "When did the bridge open?", text, ("1900",))
    assert spans.occurrence(one) == text.rindex("1900")


def test_best_span_is_allowed_and_ordered() -> None:
    start, end = torch.tensor([[9.0, 1, 2, 5]]), torch.tensor([[9.0, 6, 1, 0]])
    i, j, score, p = spans.best_spans(start, end, torch.tensor([[False, True, True, True]]))
    slow = max((start[0, a] + end[0, b], a, b) for a in range(1, 4) for b in range(a, 4))
    assert (float(score), int(i), int(j)) == (float(slow[0]), slow[1], slow[2])
    assert 0 < float(p) < 1


@pytest.mark.parametrize(
    ("guess", "answer", "f1"), [("the cat", "Cat!", 1.0), ("a red cat", "cat", 2 / 3), ("dog", "cat", 0)]
)
def test_f1(guess: str, answer: str, f1: float) -> None:
    assert math.isclose(spans.f1(guess, answer), f1)


@needs_data
def test_no_clean_pair_is_trained_on() -> None:
    trained = {normalise(texts[0]) for texts, _ in clean.snli_train(DATA)}
    held = [texts for split in ("dev", "test") for texts, _ in clean.snli_clean(DATA, split)]
    assert all(normalise(texts[0]) not in trained for texts in held)
    read = {normalise(text) for texts in clean.snli_for_reading(DATA) for text in texts}
    assert all(normalise(text) not in read for texts in held for text in texts)


@needs_data
def test_clean_parts_have_the_promised_size() -> None:
    assert len(clean.clean_highlighted(DATA)) >= 2000
    assert 0.45 < len(clean.snli_clean(DATA, "test")) / 9824 < 0.55
    assert all(is_clean_snli_premise(texts[0], "dev") for texts, _ in clean.clean_highlighted(DATA))


@needs_data
def test_no_sst_dev_or_test_sentence_is_trained_on() -> None:
    held = {normalise(text) for text in clean.heldout_sst(DATA)}
    assert all(normalise(texts[0]) not in held for texts, _ in clean.sst2_train(DATA))


def test_half_of_the_batches_are_phrases() -> None:
    stream = torch.arange(1000, 2000, dtype=torch.int32)
    readers = {f"phrase {width}": Reader(stream, width, 4) for width in phrases.WIDTHS}
    readers |= {name: Reader(stream, 32, 4) for name in FINISH}
    shares = dict(zip(readers, phrases.mixture(readers), strict=True))
    assert sum(shares.values()) == pytest.approx(1)
    assert sum(share for name, share in shares.items() if "phrase" in name) == pytest.approx(0.5)
    ids, _ = readers["phrase 5"].draw()
    assert ids.shape == (4, 5)
    assert (ids[:, 0] == 101).all()
    assert (ids[:, -1] == 102).all()


def test_the_adapter_of_phrases_belongs_to_the_masked_language_model_alone() -> None:
    """The others stand on the encoder, which it leaves as it is."""
    readers = [name for name in assay_zoo.names() if "mlm.safetensors" in assay_zoo.card(name).files]
    assert readers == ["mlm"]

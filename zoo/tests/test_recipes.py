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
from data import Question, hans, snli, untokenised
from lora import Lora, adapter_state, add_lora
from masked import Reader, hide
from pretrain import FINISH
from tiny_writers import PAIRS, options_for, tiny_writer
from torch import nn

import assay_zoo
from assay_zoo.heldout import normalise
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
    assert all(normalise(texts[0]) not in trained for split in ("dev", "test") for texts, _ in snli(DATA, split))
    held = [texts for split in ("dev", "test") for texts, _ in clean.snli_clean(DATA, split)]
    read = {normalise(text) for texts in clean.snli_for_reading(DATA) for text in texts}
    assert all(normalise(text) not in read for texts in held for text in texts)


def test_blanks_of_the_penn_treebank_are_taken_out() -> None:
    assert untokenised("`` I ca n't ( or wo n't ) go , '' he said .") == "\" I can't (or won't) go, \" he said."


@needs_data
def test_hans_has_both_answers_of_each_heuristic() -> None:
    parts = hans(DATA)
    assert len(parts) == 6
    for name, rows in parts.items():
        assert {label for _, label in rows} == {int("not" in name)}
        assert len(rows) == 5000


@needs_data
def test_clean_parts_have_the_promised_size() -> None:
    assert len(clean.highlighted(DATA)) == 6395
    assert len(clean.snli_train(DATA)) > 40_000
    assert 0.45 < len(clean.snli_clean(DATA, "test")) / 9824 < 0.55


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


def test_a_writer_is_trained_packed_and_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writing = tiny_writer(monkeypatch)
    task = writing.Writing("explainer", "t", lambda _: PAIRS * 8, {"held": lambda _: PAIRS}, (("d", "l"),), "k", ("b",))
    writing.run(task, options_for(tmp_path, steps=30))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "writer_explainer.json",
        "writer_explainer.md",
        "writer_explainer.safetensors",
    ]
    import card

    metrics = card.read(tmp_path, "writer:explainer")["metrics"]
    assert metrics["held"]["perplexity"] < metrics["held, the base"]["perplexity"]
    low, high = metrics["held"]["interval"]
    assert low <= metrics["held"]["perplexity"] <= high


def test_the_loss_is_on_the_answer_alone_against_a_plain_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    writing = tiny_writer(monkeypatch)
    model, tokenizer = writing.base(None)
    rows = writing.prepared(tokenizer, PAIRS, 50)
    got = writing.answer_losses(model, *rows.batch([0, 1, 2, 3], "cpu")).tolist()
    slow = []
    for prompt, answer in PAIRS:
        head, tail = (tokenizer(part)["input_ids"] for part in (prompt, answer))
        logits = model(input_ids=torch.tensor([head + tail])).logits[0].detach().log_softmax(-1)
        slow += [-float(logits[len(head) - 1 + j, token]) for j, token in enumerate([*tail, 0])]
    assert got == pytest.approx(slow, abs=1e-4)


def test_a_run_that_was_stopped_ends_as_if_it_had_not_been(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writing = tiny_writer(monkeypatch)
    task = writing.Writing("editor", "t", lambda _: PAIRS * 8, {"held": lambda _: PAIRS}, (), "k", ())

    def fitted(out: Path, *stops: int) -> list[Any]:
        out.mkdir(exist_ok=True)
        for stop in stops:
            model, tokenizer = writing.base(None)
            writing.add_writer_lora(model, 4)
            monkeypatch.setattr(writing, "slope", lambda share, warm_up: 0.5)  # else the rate knows where a run ends
            writing.fit(model, writing.prepared(tokenizer, PAIRS * 8, 50), task, options_for(out, steps=stop))
        return [tensor for tensor in model.parameters() if tensor.requires_grad]

    at_once, in_two = fitted(tmp_path / "a", 5), fitted(tmp_path / "b", 2, 5)
    assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(at_once, in_two, strict=True))


def test_explanations_are_written_as_people_write() -> None:
    import explainer

    assert explainer.tidy("he does n't know ;  it 's `` so '' .") == "he doesn't know; it's \" so \"."
    asked = explainer.prompt("A man .", "He sleeps", "neutral")
    assert asked.endswith(
        "hypothesis: He sleeps\nThe choices are entailment, neutral, or contradiction. The answer is neutral because"
    )
    assert explainer.prompt("a", "b", None).endswith("My commonsense tells me")


def test_words_are_found_in_their_text_and_pieces_have_their_tags() -> None:
    import tagger

    words = [("Do", "AUX"), ("n't", "PART"), ("stop", "VERB"), ("!", "PUNCT")]
    spans = tagger.spans("Don't stop!", words)
    assert [(a, b) for a, b, _ in spans] == [(0, 2), (2, 5), (6, 10), (10, 11)]
    assert tagger.spans("Do stop!", words) == []
    _, tokenizer = assay_zoo.load("sst2")
    coded = tagger.coded(tokenizer, [("Don't stop!", spans)], 32)
    names = [tagger.TAGS[tag] if tag >= 0 else "" for tag in coded.rows.targets.tags[0]]
    assert names == ["", "AUX", "PART", "PART", "VERB", "PUNCT", ""]
    assert [tagger.TAGS[tag] for _, tag in coded.firsts[0]] == ["AUX", "PART", "VERB", "PUNCT"]


@needs_data
def test_no_test_premise_is_explained_in_training() -> None:
    import explainer

    trained = {normalise(prompt.partition("\n")[0].removeprefix("premise: ")) for prompt, _ in explainer.train(DATA)}
    held = [
        prompt.partition("\n")[0].removeprefix("premise: ")
        for prompt, _ in explainer.test(DATA) + explainer.choosing(DATA)
    ]
    assert all(normalise(premise) not in trained for premise in held)

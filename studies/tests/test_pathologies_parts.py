"""The parts of the study of pathologies: closed forms on texts reduced by hand, slow loops on tiny models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiny
import torch
from pathologies_data import cells

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.explanations.edits import Edits
from assay.models import load
from assay.workflows.people.random_words import random_versions
from assay_studies.charts import can_draw, figure
from assay_studies.findings import Part
from assay_studies.pathologies import agreement, confidence, lengths, random_removal, transfer
from assay_studies.pathologies.material import Reduced, histogram
from assay_studies.tables import Table
from reduced_texts import LABELS, reduced

WEIGHTS = {"good": 1.5, "funny": 1.2, "mess": -2.0, "dull": -1.1, "slow": -0.6}
TWO = ("negative", "positive")
TEXTS = [
    "a good but slow story",
    "funny and good but a mess",
    "such a dull and slow mess",
    "the film is good and funny",
    "good",
    "it is funny , slow and dull",
]


def lexicon(texts: list[Any]) -> Any:
    values = [sum(WEIGHTS.get(word, 0.05) for word in text.split()) for text in texts]
    positive = 1 / (1 + np.exp(-np.array(values)))
    return np.stack([1 - positive, positive], axis=1)


def stubborn(texts: list[Any]) -> Any:
    """Another model, with the labels the other way round: it knows two words only."""
    values = [text.split().count("funny") - text.split().count("mess") - 0.5 for text in texts]
    positive = 1 / (1 + np.exp(-np.array(values)))
    return np.stack([positive, 1 - positive], axis=1)


def by_lexicon(texts: list[str] = TEXTS) -> Reduced:
    model = assay.BlackBox(lexicon, labels=TWO)
    made = assay.explain(model, texts, "input_reduction", importance="leave_one_out")
    return Reduced("sst2", "SST-2", tuple(made))


def run(model: Any, talks: Any) -> list[Any]:
    return [outcome.get() for outcome in Engine(load(model)).run(talks)]


# --- by hand ----------------------------------------------------------------------------------------------------------


def by_hand(count: int = 1) -> Reduced:
    """Of 5, 3 and 2 words, reduced to 2, 1 and 2."""
    paths: list[Callable[[], Edits]] = [
        lambda: reduced("a b c d e", (0, 1, 3), (0, 3), target=1, chances=[0.9, 0.8, 0.95], labels=TWO),
        lambda: reduced("a b c", (2,), target=0, chances=[0.6, 0.55], labels=TWO),
        lambda: reduced("a b", target=1, chances=[1.0], labels=TWO),
    ]
    return Reduced("sst2", "SST-2", tuple(path() for _ in range(count) for path in paths))


def test_lengths_are_counted_in_words() -> None:
    part = lengths.PART.of([lengths.subject(by_hand())])
    assert cells(part, "figure_3") == {
        "words before": [pytest.approx(10 / 3)],
        "words after": [pytest.approx(5 / 3)],
        "per cent of the texts reduced to one word": [pytest.approx(100 / 3)],
        "per cent of the texts reduced to one or two words": [100],
        "per cent of the texts not reduced at all": [pytest.approx(100 / 3)],
        "per cent of all words left": [pytest.approx(50)],
    }
    bins = next(table.columns for table in part.tables if table.name == "figure_3_sst2")
    found = {label: dict(zip(bins, values, strict=True)) for label, values in cells(part, "figure_3_sst2").items()}
    third = pytest.approx(100 / 3)
    assert {b: v for b, v in found["original"].items() if v} == {"2": third, "3": third, "5": third}
    assert {b: v for b, v in found["reduced"].items() if v} == {"1": third, "2": pytest.approx(200 / 3)}


def test_of_a_pair_only_what_is_reduced_is_counted() -> None:
    one = Reduced("snli", "SNLI", (reduced(("a long premise here", "he sleeps now"), (1,)),))
    assert (one.before.tolist(), one.after.tolist()) == ([3], [1])


@pytest.mark.parametrize(("count", "words", "verdict"), [(20, 2, "holds"), (20, 3, "does not hold"), (5, 2, "open")])
def test_the_claim_on_lengths(count: int, words: int, verdict: str) -> None:
    found = tuple(reduced(f"a b c d e {i}", tuple(range(words))) for i in range(count))
    (claim,) = lengths.PART.of([lengths.subject(Reduced("x", "X", found))]).claims
    assert claim.verdict == verdict


def test_confidence_is_that_of_the_predicted_label_before_and_after() -> None:
    part = confidence.PART.of([confidence.subject(by_hand())])
    assert cells(part, "figure_4") == {
        "confidence on whole texts": [pytest.approx(2.5 / 3)],
        "confidence on reduced texts": [pytest.approx(2.5 / 3)],
        "change": [pytest.approx(0)],
        "per cent of the texts with a rise": [pytest.approx(100 / 3)],
    }
    drawn = cells(part, "figure_4_sst2")
    third = pytest.approx(100 / 3)
    assert drawn["original"] == [0, 0, 0, 0, 0, 0, third, 0, 0, pytest.approx(200 / 3)]
    assert drawn["reduced"] == [0, 0, 0, 0, 0, third, 0, 0, 0, pytest.approx(200 / 3)]


@pytest.mark.parametrize(("after", "verdict"), [(0.85, "holds"), (0.95, "holds"), (0.6, "does not hold")])
def test_the_claim_on_confidence(after: float, verdict: str) -> None:
    found = tuple(reduced(f"a b {i}", (1,), chances=[0.9, after]) for i in range(25))
    assert confidence.PART.of([confidence.subject(Reduced("x", "X", found))]).claims[0].verdict == verdict
    few = Reduced("x", "X", found[:5])
    assert confidence.PART.of([confidence.subject(few)]).claims[0].verdict == "open"


def test_every_value_is_in_one_bin() -> None:
    values = np.array([0.0, 0.1, 0.35, 0.999, 1.0])
    found = histogram(values, [i / 10 for i in range(10)])
    assert found.argmax(axis=1).tolist() == [0, 1, 3, 9, 9]
    assert (found.sum(axis=1) == 100).all()
    with pytest.raises(ValueError, match="before the first bin"):
        histogram(np.array([0.0]), [1, 2])


def test_material_that_does_not_fit_is_refused() -> None:
    with pytest.raises(BadInput, match="no reduced texts"):
        Reduced("x", "X", ())
    with pytest.raises(BadInput, match="3 texts and 1 gold"):
        Reduced("x", "X", by_hand().edits, ("negative",))
    told = Reduced("x", "X", by_hand().edits, ("positive", "positive", "positive"))
    assert told.accuracy is not None
    assert told.accuracy.tolist() == [1, 0, 1]
    assert by_hand().accuracy is None


# --- with models ------------------------------------------------------------------------------------------------------


def test_random_removal_is_a_plain_loop_over_random_versions() -> None:
    task = by_lexicon()
    found = run(assay.BlackBox(lexicon, labels=TWO), random_removal.talks(task, draws=7, seed=3))
    for e, one in zip(task.edits, found, strict=True):
        chances = [
            lexicon([version.strings[0]])[0] for version in random_versions(e.text, len(e.edits[-1].kept), 7, seed=3)
        ]
        assert one.kept == pytest.approx(np.mean([np.argmax(chance) == e.target for chance in chances]))
        assert one.confidence == pytest.approx(np.mean([chance[e.target] for chance in chances]), abs=1e-6)
    part = random_removal.PART.of([random_removal.subject(task, found)])
    lines = cells(part, "random_removal")
    assert lines["per cent of random versions that keep the prediction"] == [
        pytest.approx(100 * np.mean([one.kept for one in found]))
    ]
    assert lines["confidence, reduced"] == [pytest.approx(task.still_confident.mean())]
    assert part.claims[0].verdict == "open"


def test_transfer_compares_labels_by_name_whatever_their_order() -> None:
    task = by_lexicon()
    found = run(assay.BlackBox(stubborn, labels=TWO[::-1]), transfer.talks(task, TWO[::-1], draws=5, seed=1))
    slow = {}
    for e in task.edits:
        length = len(e.edits[-1].kept)
        versions = [e.text, e.edits[-1], *random_versions(e.text, length, 5, seed=1)]
        said = [TWO[::-1][int(np.argmax(stubborn([version.strings[0]])[0]))] == e.label for version in versions]
        slow[e.text.strings[0]] = (e.label, float(said[1]), float(np.mean(said[2:])), float(said[0]))
    chosen = transfer.chosen(task)
    assert [(one.label, one.reduced, one.random, one.whole) for one in found] == [
        slow[e.text.strings[0]] for e in chosen
    ]
    assert 0 < np.mean([one.reduced for one in found]) < 1


def test_transfer_takes_as_many_of_each_label_and_refuses_strange_ones() -> None:
    task = by_lexicon()
    assert [e.label for e in transfer.chosen(task, 1)] == list(dict.fromkeys(task.labels))
    with pytest.raises(BadInput, match="does not know the label"):
        transfer.talks(task, ["LABEL_0", "LABEL_1"])


def test_transfer_sets_the_published_share_beside_ours() -> None:
    carried = [transfer.Carried(LABELS[i % 3], float(i % 5 > 0), 0.5, 1.0) for i in range(150)]
    task = Reduced("snli", "SNLI", (reduced(("p", "a b"), (0,)),))
    part = transfer.PART.of([transfer.subject(task, carried)])
    (table,) = part.tables
    assert table.columns == ("all", *LABELS)
    assert table.lines[0].cells[0].published_value == 81.3
    assert [cell.published for line in table.lines for cell in line.cells].count("") == 11
    assert [line.cells[0].ours.value for line in table.lines if line.cells[0].ours] == pytest.approx([80, 50, 100])
    assert part.claims[0].verdict == "holds"
    assert transfer.PART.of([]).tables == ()


def test_gradient_and_exhaustive_search_agree_on_a_linear_model() -> None:
    bow = tiny.linear_bow()
    texts = ["the film was good", "a slow and dull plot , really", "good"]
    task = Reduced("bow", "Bow", tuple(assay.explain((bow.model, bow.tokenizer), texts, "input_reduction")))
    found = run((bow.model, bow.tokenizer), agreement.talks(task))
    assert found[2] is None
    assert [(one.first, one.same, one.rank) for one in found[:2]] == [(100, 100, 0)] * 2
    part = agreement.PART.of([agreement.subject(task, found)])
    assert cells(part, "agreement")["per cent the same word, all steps"] == [100]


def test_agreement_is_a_slow_loop_over_all_steps() -> None:
    model, tokenizer = tiny.bert()
    texts = ["the film was good and funny , not slow", "a dull plot with a good cast", "it was really not so bad"]
    task = Reduced("bert", "Bert", tuple(assay.explain((model, tokenizer), texts, "input_reduction", beam=1)))
    found = run((model, tokenizer), agreement.talks(task))
    for e, one in zip(task.edits, found, strict=True):
        steps = [[e.words[i] for i in edit.kept] for edit in e.edits if len(edit.kept) > 1]
        same, chance, ranks = [], [], []
        for words in steps:
            slopes = _slopes(model, tokenizer, words, e.target)
            left = [_chance(model, tokenizer, words[:i] + words[i + 1 :], e.target) for i in range(len(words))]
            choice = int(np.argmin(slopes))
            same.append(left[choice] == max(left))  # the same string twice is the same choice
            chance.append(1 / len(words))
            ranks.append(sum(chance_without > left[choice] for chance_without in left) / (len(words) - 1))
        expected = (100 * same[0], 100 * np.mean(same), 100 * np.mean(chance), 100 * np.mean(ranks))
        assert (one.first, one.same, one.chance, one.rank) == pytest.approx(expected)


def _chance(model: Any, tokenizer: Any, words: list[str], target: int) -> float:
    with torch.no_grad():
        return float(model(**tokenizer(" ".join(words), return_tensors="pt")).logits[0].softmax(-1)[target])


def _slopes(model: Any, tokenizer: Any, words: list[str], target: int) -> list[float]:
    """The gradient of the probability times the embedding, summed over the pieces of each word."""
    coded = tokenizer(words, is_split_into_words=True, return_tensors="pt")
    embedded = model.get_input_embeddings()(coded["input_ids"]).detach().requires_grad_()
    told = model(inputs_embeds=embedded, attention_mask=coded["attention_mask"]).logits[0].softmax(-1)[target]
    (slope,) = torch.autograd.grad(told, embedded)
    products = (slope * embedded).sum(-1)[0].tolist()
    of = coded.word_ids(0)
    return [sum(p for p, w in zip(products, of, strict=True) if w == i) for i in range(len(words))]


def test_words_as_good_as_the_first_are_first() -> None:
    assert agreement.rank(np.array([0.0, 1.0, 2.0]), np.array([-0.5, -0.5 - 1e-9, 3.0])) == 0
    assert agreement.rank(np.array([0.0, 1.0, 2.0]), np.array([3.0, 1.0, 2.0])) == 1


# --- a reader of contexts ---------------------------------------------------------------------------------------------


def test_an_answer_in_a_context_is_the_same_when_its_place_is() -> None:
    import transformers as hf

    tokenizer = tiny.wordpiece()
    config = hf.BertConfig(
        vocab_size=len(tokenizer), hidden_size=24, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=tiny.WINDOW, initializer_range=0.4,
    )  # fmt: skip
    model = tiny.seeded(lambda: hf.BertForQuestionAnswering(config))
    model.bert.embeddings.position_embeddings.weight.data.zero_()  # else a shorter question moves the whole context
    source = model, tokenizer
    pair = ("who was in the film ?", "The film was slow. A good cast was in the film.")
    task = Reduced("squad", "SQuAD", (assay.explain(source, pair, "input_reduction"),))
    (carried,) = run(source, transfer.talks(task, ("other", "answer"), draws=8))
    assert (carried.reduced, carried.whole) == (1, 1)
    (table,) = transfer.PART.of([transfer.subject(task, [carried])]).tables
    assert table.columns == ("all",)  # every answer is another one: there are no labels to tell apart
    (chance,) = run(source, random_removal.talks(task, draws=8))
    e = task.edits[0]
    versions = random_versions(e.text, len(e.edits[-1].kept), 8)
    answers = [assay.explain(source, version.read.strings, "leave_one_out").text.strings[2] for version in versions]
    assert 0 < chance.kept < 1
    assert chance.kept == carried.random == pytest.approx(np.mean([a == e.text.strings[2] for a in answers]))


# --- figures ----------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not can_draw(), reason="matplotlib is not installed")
def test_distributions_are_drawn_as_bars_the_same_every_time() -> None:
    table = next(table for table in lengths.PART.of([lengths.subject(by_hand())]).tables if table.drawn == "bars")
    png, svg = figure(table), figure(table, "svg")
    assert png is not None
    assert svg is not None
    assert png.startswith(b"\x89PNG")
    assert b"<svg" in svg
    assert (figure(table), figure(table, "svg")) == (png, svg)
    assert Table.from_dict(table.to_dict()) == table


def test_parts_survive_being_kept() -> None:
    task = by_hand()
    for part in (lengths.PART.of([lengths.subject(task)]), confidence.PART.of([confidence.subject(task)])):
        assert Part.from_dict(part.to_dict()) == part

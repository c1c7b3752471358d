"""Decomposable attention: against its equations one pair at a time, and through every door of a classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import small_checks as small
import tiny
import torch

import assay
import task_checks as check
from assay.errors import BadInput, UnknownName
from assay.questions.inside import Attention, Hidden, Relevance
from assay.questions.predict import Predict
from assay.training.fit import Plan
from assay_studies.models.decomposable import DecomposableConfig, DecomposableForSequenceClassification
from assay_studies.models.decomposable.training import Decompose, decompose
from assay_studies.models.training import right

PAIR = ("a man is eating a red apple in the park", "nobody eats !")
PAIRS = [PAIR, ("two dogs play", "the dogs sleep near a big river , and nobody is eating"), ("a", "a man")]
NAMES = {0: "entailment", 1: "neutral", 2: "contradiction"}


def model(double: bool = False) -> Any:
    tokenizer = small.tokenizer()
    config = DecomposableConfig(vocab_size=len(tokenizer), embedding_size=6, hidden_size=8, id2label=NAMES)
    network = tiny.seeded(lambda: DecomposableForSequenceClassification(config))
    return (network.double() if double else network), tokenizer


def by_hand(premise: str, hypothesis: str) -> Any:
    """Attend, compare and aggregate by loops over words, in float64."""
    network, tokenizer = model(double=True)

    def vectors(string: str) -> Any:
        ids = [tokenizer.bos_token_id, *tokenizer(string, add_special_tokens=False)["input_ids"]]
        return [network.projection(network.embedding.weight[i]) for i in ids]

    with torch.no_grad():
        a, b = vectors(premise), vectors(hypothesis)
        scores = np.array([[float(network.attend(x) @ network.attend(y)) for y in b] for x in a])
        beta = [sum(w * y for w, y in zip(small.masked_softmax_by_hand(row), b, strict=True)) for row in scores]
        alpha = [sum(w * x for w, x in zip(small.masked_softmax_by_hand(row), a, strict=True)) for row in scores.T]
        first = sum(network.compare(torch.cat([x, y])) for x, y in zip(a, beta, strict=True))
        second = sum(network.compare(torch.cat([x, y])) for x, y in zip(b, alpha, strict=True))
        return network.answer(network.aggregate(torch.cat([first, second]))).numpy()


@pytest.mark.parametrize("pair", PAIRS)
def test_the_equations(pair: tuple[str, str]) -> None:
    (logits,) = small.asked(assay.load(model()), Predict, [pair], 1)
    np.testing.assert_allclose(logits, by_hand(*pair), atol=1e-5)


def test_company_does_not_matter() -> None:
    loaded, pairs = assay.load(model()), [*PAIRS, ("", ""), ("", "a"), ("what ?", "")]
    alone = [small.asked(loaded, Predict, [pair], 1)[0] for pair in pairs]
    np.testing.assert_allclose(small.asked(loaded, Predict, pairs, 4096), alone, atol=1e-5)
    check.company_does_not_matter(model(), PAIRS)


@pytest.mark.parametrize(
    "odd", [("", ""), ("zzz qqqq", "xyzzy"), ("<pad> <unk>", "<eos> <sos> a"), ("\u200b", "🙂 東京")]
)
def test_odd_texts_have_a_result(odd: tuple[str, str]) -> None:
    chances = assay.load(model()).predict([odd])
    assert np.isfinite(chances).all()
    assert chances.sum() == pytest.approx(1)


def test_a_single_text_has_a_result() -> None:
    assert np.isfinite(assay.load(model()).predict(["a man is eating"])).all()


def test_a_text_without_words_is_refused() -> None:
    check.refuses(model(), ("", ""), "no word")


def test_the_gradient_is_a_slope() -> None:
    network, tokenizer = model(double=True)
    told = assay.explain((network, tokenizer), PAIR, "input_x_gradient", target="neutral")
    inputs = dict(tokenizer(*PAIR, return_tensors="pt"))
    embedded = network.embedding(inputs["input_ids"]).detach()

    def value(vectors: Any) -> Any:
        logits = small.logits_at(network, inputs, vectors).logits[0]
        return logits[1] - torch.logsumexp(logits[[0, 2]], dim=0)

    places = [i for i, word in enumerate(inputs["input_ids"][0].tolist()) if word > 3]
    check.gradient_times_input(told, embedded, [[i] for i in places], value)


def test_leave_one_out_against_a_plain_loop() -> None:
    loaded = assay.load(model())
    told = assay.explain(loaded, PAIR, "leave_one_out", focus=["hypothesis"], target="neutral", scalar="probability")
    words = PAIR[1].split()
    without = [(PAIR[0], " ".join(words[:i] + words[i + 1 :])) for i in range(len(words))]
    chances = loaded.predict([PAIR, *without])[:, 1]
    np.testing.assert_allclose(told.scores, chances[0] - chances[1:], atol=1e-6)


def test_integrated_gradients_add_up() -> None:
    told = assay.explain(model(), PAIR, "integrated_gradients", baseline="zero", tolerance=0.001)
    assert told.scores.sum() == pytest.approx(told.facts["value"] - told.facts["baseline"], rel=0.01, abs=1e-4)


def test_input_reduction_runs() -> None:
    loaded = assay.load(model())
    told = assay.explain(loaded, PAIRS[1], "input_reduction")
    (premise, *_), shorter = told.text.strings, told.edits[-1].strings
    assert shorter[0] == premise
    whole, reduced = loaded.predict([PAIRS[1], shorter]).argmax(axis=1)
    assert whole == reduced


def test_saved_and_loaded(tmp_path: Any) -> None:
    check.saved(model(), tmp_path, PAIR)
    again = assay.load(str(tmp_path))
    assert again.fields == ("premise", "hypothesis")
    assert again.labels == tuple(NAMES.values())
    np.testing.assert_array_equal(again.predict(PAIRS), assay.load(model()).predict(PAIRS))


def test_the_fingerprint_is_that_of_the_weights() -> None:
    network, tokenizer = model()
    before = assay.load((network, tokenizer)).fingerprint()
    assert before == assay.load(model()).fingerprint()
    assert assay.load((small.perturbed(network), tokenizer)).fingerprint() != before


def test_a_random_head_answers_otherwise() -> None:
    loaded = assay.load(model())
    other = loaded.derived("randomized:head:0")
    assert not np.allclose(other.predict([PAIR]), loaded.predict([PAIR]))
    assert np.array_equal(loaded.predict([PAIR]), assay.load(model()).predict([PAIR]))


def test_there_is_nothing_to_look_into() -> None:
    assert not {Attention, Hidden, Relevance} & assay.load(model()).answers.keys()
    with pytest.raises(assay.AssayError, match="attention"):
        assay.explain(model(), PAIR, "attention")


def plan(**settings: Any) -> Plan:
    return Plan(optimiser="adam", decay=0.0, **{"rate": 1e-2, **settings})


def toys(n: int, seed: int) -> tuple[list[Any], list[str]]:
    """Whether the animal of the second text is that of the first."""
    rng, animals = np.random.default_rng(seed), "cat dog cow pig".split()
    pairs = [(str(rng.choice(animals)), str(rng.choice(animals))) for _ in range(n)]
    texts = [(f"there is a {a} here", f"i see a {b if i % 2 else a}") for i, (a, b) in enumerate(pairs)]
    return texts, ["same" if p.split()[3] == h.split()[3] else "other" for p, h in texts]


def test_it_learns_to_compare(tmp_path: Any) -> None:
    how = Decompose(hidden=32, size=16, batch=16, dropout=0.0, plan=plan(epochs=12, rate=5e-3))
    trained = decompose(*toys(240, 0), how=how, dev=toys(60, 1), out=tmp_path / "m", progress=False)
    texts, labels = toys(100, 2)
    assert np.mean(np.array(labels) == "same") < 0.7
    assert right(trained, texts, labels) > 0.95
    again = decompose(*toys(240, 0), how=how, dev=toys(60, 1), out=tmp_path / "m", progress=False)
    np.testing.assert_array_equal(again.predict(texts), trained.predict(texts))
    with pytest.raises(BadInput, match="another training"):
        decompose(*toys(120, 0), how=how, out=tmp_path / "m", progress=False)


def test_given_vectors_stay_and_know_other_words(tmp_path: Any) -> None:
    file = tmp_path / "vectors.txt"
    animals = "cat dog cow pig fox there is a here i see".split()
    file.write_text("".join(f"{word} {i + 1} {i * i % 7} 1\n" for i, word in enumerate(animals)))
    how = Decompose(hidden=8, vectors=str(file), plan=plan(epochs=1))
    trained: Any = decompose(*toys(40, 0), how=how, also=["a fox"], progress=False)
    known = trained.tokenizer.get_vocab()
    weight = trained.model.embedding.weight
    assert weight[known["fox"]].tolist() == [5.0, 2.0, 1.0]
    assert weight[known["cat"]].tolist() == [1.0, 0.0, 1.0]
    assert weight.requires_grad
    tuned: Any = decompose(*toys(40, 0), how=how, tuned=True, progress=False)
    assert tuned.model.embedding.weight[tuned.tokenizer.get_vocab()["cat"]].tolist() != [1.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("pairs", "labels", "settings", "said"),
    [
        ([("a", "b")], [], {}, "one label"),
        ([("a", "b"), ("c",)], ["x", "y"], {}, "tuple of two"),
        ([("a", "b"), ("c", "d")], ["x", "x"], {}, "two labels"),
        ([("a", "b"), ("c", "d")], ["x", "y"], {"hidden": 0}, "1 or more"),
        ([("a", "b"), ("c", "d")], ["x", "y"], {"dropout": 1.0}, "below 1"),
    ],
)
def test_what_cannot_be_learnt(pairs: Any, labels: Any, settings: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        decompose(pairs, labels, progress=False, **settings)


def test_a_dev_label_that_is_not_learnt() -> None:
    with pytest.raises(UnknownName, match="z"):
        decompose([("a", "b"), ("c", "d")], ["x", "y"], dev=([("a", "b")], ["z"]), progress=False)

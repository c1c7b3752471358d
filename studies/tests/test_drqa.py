"""The reader after DrQA: against its equations one question at a time, and through every door of a span reader."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import small_checks as small
import tiny
import torch

import assay
import task_checks as check
from assay.errors import BadInput
from assay.questions.inside import Attention
from assay.questions.predict import Predict
from assay.training.fit import Plan
from assay_studies.models.drqa import DrqaConfig, DrqaForQuestionAnswering
from assay_studies.models.drqa.training import Read, answered, read, scores, span_loss

QUESTION, PARAGRAPH = "where did the dogs play ?", "A man is eating. Two dogs play near the river, and nobody sleeps!"
PAIR = (QUESTION, PARAGRAPH)
PAIRS = [PAIR, ("who ?", "the woman sleeps"), ("what is the big red ball ?", PARAGRAPH)]
EDGE = [2]


def model(double: bool = False, layers: int = 2) -> Any:
    tokenizer = small.tokenizer()
    config = DrqaConfig(vocab_size=len(tokenizer), embedding_size=6, hidden_size=5, layers=layers)
    network = tiny.seeded(lambda: DrqaForQuestionAnswering(config))
    with torch.no_grad():
        for look in (network.start, network.end):
            look.weight *= 8  # so that answers differ
    return (network.double() if double else network), tokenizer


def lstm(cell: Any, vectors: Any) -> Any:
    return tiny.bilstm(cell)(torch.stack(list(vectors))[None])[0][0]


def by_hand(question: str, paragraph: str) -> tuple[Any, Any]:
    """Logits of the words of the paragraph, by loops over words, in float64."""
    network, tokenizer = model(double=True)
    ids = [[2, *tokenizer(string, add_special_tokens=False)["input_ids"], 3] for string in (question, paragraph)]
    with torch.no_grad():
        q, p = ([network.embedding.weight[i] for i in one] for one in ids)
        seen = []
        for word, i in zip(p, ids[1], strict=True):
            looks = [float(network.align(word).relu() @ network.align(other).relu()) for other in q]
            aligned = sum(w * v for w, v in zip(small.masked_softmax_by_hand(looks), q, strict=True))
            seen.append(torch.cat([word, aligned, torch.tensor([float(i > 3 and i in ids[0])])]))
        states, asked = [], []
        for stack, vectors, kept in ((network.paragraph, seen, states), (network.question, q, asked)):
            for layer in stack.layers:
                vectors = lstm(layer, vectors)
                kept.append(vectors)
        states_, asked_ = torch.cat(states, dim=-1), torch.cat(asked, dim=-1)
        summary = network.important(asked_)[:, 0].softmax(0) @ asked_
        return tuple((states_ @ look(summary))[1:-1].numpy() for look in (network.start, network.end))  # type: ignore


@pytest.mark.parametrize("pair", PAIRS)
def test_the_equations(pair: tuple[str, str]) -> None:
    network, tokenizer = model()
    inputs = tokenizer(*pair, return_tensors="pt")
    with torch.no_grad():
        out = network(**inputs)
    inside = inputs["token_type_ids"][0].nonzero()[1:-1, 0]
    for logits, expected in zip((out.start_logits, out.end_logits), by_hand(*pair), strict=True):
        np.testing.assert_allclose(logits[0, inside].numpy(), expected, atol=1e-5)


def test_the_answer_is_the_likeliest_span() -> None:
    start, end = (logits - np.logaddexp.reduce(logits) for logits in by_hand(*PAIR))
    spans = [(s, e) for s in range(len(start)) for e in range(s, len(end))]
    s, e = max(spans, key=lambda span: start[span[0]] + end[span[1]])
    words = assay.text.text.Text.of(PARAGRAPH)
    told = assay.explain(model(), PAIR, "leave_one_out")
    assert told.label == PARAGRAPH[words.spans[s][0] : words.spans[e][1]]
    assert told.prediction[told.label] == pytest.approx(np.exp(start[s] + end[e]), abs=1e-5)
    assert told.words == tuple(QUESTION.split())


def test_company_does_not_matter() -> None:
    loaded, pairs = assay.load(model()), [*PAIRS, ("", "the woman"), ("zzz", "zzz")]
    alone = [small.asked(loaded, Predict, [pair], 1)[0] for pair in pairs]
    np.testing.assert_allclose(small.asked(loaded, Predict, pairs, 4096), alone, atol=1e-5)
    check.company_does_not_matter(model(), PAIRS)


@pytest.mark.parametrize("question", ["", "zzz xyzzy", "<pad> <unk> <sos>", "東京 🙂"])
def test_odd_questions_have_a_result(question: str) -> None:
    assert np.isfinite(assay.load(model()).predict([(question, PARAGRAPH)])).all()


def test_unknown_words_are_not_the_same_word() -> None:
    network, _ = model()
    known = network._known(torch.tensor([[1, 7, 0]]), torch.tensor([[1, 7, 0]]))
    assert known.tolist() == [[0.0, 1.0, 0.0]]


@pytest.mark.parametrize(
    ("pair", "said"), [(("who ?", " "), "no word, so"), (("", PARAGRAPH), "no word"), ("who ?", "pair")]
)
def test_what_cannot_be_asked(pair: Any, said: str) -> None:
    check.refuses(model(), pair, said)


def test_the_gradient_is_a_slope() -> None:
    network, tokenizer = model(double=True)
    told = assay.explain((network, tokenizer), PAIR, "input_x_gradient")
    inputs = dict(tokenizer(*PAIR, return_tensors="pt"))
    embedded = network.embedding(inputs["input_ids"]).detach()
    inside = inputs["token_type_ids"][0].nonzero()[1:-1, 0]
    spans = tokenizer(PARAGRAPH, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    start, end = map(int, told.text.fields[2].string.split(" ")[0].split(":"))
    first, last = [a for a, _ in spans].index(start), [b for _, b in spans].index(end)

    def value(vectors: Any) -> Any:
        out = small.logits_at(network, inputs, vectors)
        starts, ends = (logits[0, inside].log_softmax(-1) for logits in (out.start_logits, out.end_logits))
        return check.log_odds(starts[first] + ends[last])

    check.gradient_times_input(told, embedded, [[i + 1] for i in range(len(QUESTION.split()))], value)


def test_integrated_gradients_add_up() -> None:
    told = assay.explain(model(), PAIR, "integrated_gradients", baseline="zero", tolerance=0.001)
    assert told.scores.sum() == pytest.approx(told.facts["value"] - told.facts["baseline"], rel=0.01, abs=1e-4)


def test_input_reduction_keeps_the_answer() -> None:
    loaded = assay.load(model())
    told = assay.explain(loaded, PAIR, "input_reduction")
    shorter = told.edits[-1].strings
    assert shorter[1] == PARAGRAPH
    assert answered(loaded, [shorter[:2]]) == answered(loaded, [PAIR]) == [told.label]


def test_saved_and_loaded(tmp_path: Any) -> None:
    check.saved(model(), tmp_path, PAIR)
    assert isinstance(assay.load(str(tmp_path)).model, DrqaForQuestionAnswering)


def test_the_fingerprint_is_that_of_the_weights() -> None:
    network, tokenizer = model()
    before = assay.load((network, tokenizer)).fingerprint()
    assert before == assay.load(model()).fingerprint()
    assert assay.load((small.perturbed(network), tokenizer)).fingerprint() != before


def test_there_is_nothing_to_look_into() -> None:
    assert Attention not in assay.load(model()).answers


def test_the_loss_against_a_plain_loop() -> None:
    network, tokenizer = model()
    inputs = tokenizer([q for q, _ in PAIRS], [p for _, p in PAIRS], padding=True, return_tensors="pt")
    ends = [(2, 3), (0, 0), (5, 9)]
    with torch.no_grad():
        found = float(span_loss(network(**inputs), dict(inputs), torch.tensor(ends)))
    expected = []
    for pair, (s, e) in zip(PAIRS, ends, strict=True):
        start, end = by_hand(*pair)
        expected.append(np.logaddexp.reduce(start) - start[s] + np.logaddexp.reduce(end) - end[e])
    assert found == pytest.approx(np.mean(expected), abs=1e-5)


def toys(n: int, seed: int) -> tuple[list[Any], list[tuple[int, int]]]:
    """What color is one of two things?"""
    rng = np.random.default_rng(seed)
    things, colors = "cat dog cow pig".split(), "red green blue white".split()
    texts, answers = [], []
    for i in range(n):
        (a, b), (c, d) = (rng.permutation(some)[:2].tolist() for some in (things, colors))
        paragraph = f"the {a} is {c} and the {b} is {d}"
        texts.append((f"what color is the {a if i % 2 else b} ?", paragraph))
        answers.append((start := paragraph.index(c if i % 2 else d), start + len(c if i % 2 else d)))
    return texts, answers


def test_it_learns_to_read(tmp_path: Any) -> None:
    plan = Plan(epochs=6, rate=1e-2, decay=0.0, clip=5.0, optimiser="adam")
    how = Read(hidden=16, size=12, batch=16, dropout=0.0, plan=plan)
    trained = read(*toys(320, 0), how=how, out=tmp_path / "m", progress=False)
    texts, answers = toys(60, 1)
    right = [[paragraph[slice(*span)]] for (_, paragraph), span in zip(texts, answers, strict=True)]
    exact, f1 = scores(trained, texts, right)
    assert exact > 0.9
    assert f1 >= exact
    again = read(*toys(320, 0), how=how, out=tmp_path / "m", progress=False)
    assert answered(again, texts) == answered(trained, texts)


def test_scores_are_those_of_squad(monkeypatch: pytest.MonkeyPatch) -> None:
    said = iter(["The red, big ball", "a cat", "the", "two dogs"])
    monkeypatch.setattr("assay_studies.models.drqa.training.answered", lambda model, texts: list(said))
    exact, f1 = scores(None, [()] * 4, [["red ball", "big ball red"], ["Cat!"], ["an"], ["one pig", "dogs"]])  # type: ignore
    assert exact == pytest.approx(2 / 4)
    assert f1 == pytest.approx((1 + 1 + 1 + 2 / 3) / 4)


@pytest.mark.parametrize(
    ("texts", "answers", "settings", "said"),
    [
        ([("a", "b")], [], {}, "one answer"),
        ([("a", "b c")], [(2, 9)], {}, "not inside"),
        ([("a", "b c")], [(1, 1)], {}, "not inside"),
        ([("a", "b c")], [(0, 1)], {"longest": 1}, "at most 1 words"),
        ([("a", "b c")], [(0, 1)], {"layers": 0}, "1 or more"),
    ],
)
def test_what_cannot_be_learnt(texts: Any, answers: Any, settings: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read(texts, answers, progress=False, **settings)

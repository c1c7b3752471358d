"""Span readers: the probability of one answer, against the bare model one question at a time."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import tiny
import torch
import transformers as hf

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.models.loading import load
from assay.text.text import Text

QUESTION, CONTEXT = "who was in the film ?", "The film was slow. A good cast was in the film, and a dull plot."
PAIR = (QUESTION, CONTEXT)


def reader() -> Any:
    tokenizer = tiny.wordpiece()
    config = hf.BertConfig(
        vocab_size=len(tokenizer), hidden_size=24, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=tiny.WINDOW, initializer_range=0.4,
    )  # fmt: skip
    return tiny.seeded(lambda: hf.BertForQuestionAnswering(config)), tokenizer


def chances(question: str, context: str) -> tuple[Any, Any, list[tuple[int, int]]]:
    """Probabilities of the context's pieces to be first and last, by the bare model; and their characters."""
    model, tokenizer = reader()
    coded = tokenizer(question, context, return_tensors="pt", return_offsets_mapping=True)
    inside = [i for i, s in enumerate(coded.sequence_ids(0)) if s == 1]
    with torch.no_grad():
        out = model(input_ids=coded["input_ids"], token_type_ids=coded["token_type_ids"])
    spans = [tuple(coded["offset_mapping"][0][i].tolist()) for i in inside]
    return out.start_logits[0, inside].softmax(-1).numpy(), out.end_logits[0, inside].softmax(-1).numpy(), spans


def best(question: str, context: str) -> tuple[int, int, float]:
    """The likeliest answer by a plain double loop."""
    first, last, _ = chances(question, context)
    return max(
        ((s, e, float(first[s] * last[e])) for s in range(len(first)) for e in range(s, min(s + 30, len(last)))),
        key=lambda found: found[2],
    )


def test_the_models_own_answer_is_explained() -> None:
    s, e, chance = best(*PAIR)
    spans = chances(*PAIR)[2]
    told = assay.explain(reader(), PAIR, "leave_one_out")
    assert told.words == tuple(QUESTION.split())
    assert told.text.fields[2].string == f"{spans[s][0]}:{spans[e][1]} {CONTEXT[spans[s][0] : spans[e][1]]}"
    assert told.prediction[told.label] == pytest.approx(chance, abs=1e-5)
    assert told.label == CONTEXT[spans[s][0] : spans[e][1]]
    assert next(iter(told.prediction)) == "other"


def test_leave_one_out_against_a_plain_loop() -> None:
    s, e, chance = best(*PAIR)
    told = assay.explain(reader(), PAIR, "leave_one_out", scalar="probability")
    for i, score in enumerate(told.scores):
        words = QUESTION.split()
        first, last, _ = chances(" ".join(words[:i] + words[i + 1 :]), CONTEXT)
        assert score == pytest.approx(chance - float(first[s] * last[e]), abs=1e-5)


def test_an_answer_of_ones_own_can_be_explained() -> None:
    told = assay.explain(reader(), {"question": QUESTION, "context": CONTEXT, "answer": "A good cast"}, "leave_one_out")
    first, last, spans = chances(*PAIR)
    start = CONTEXT.index("A good cast")
    inside = [i for i, (a, b) in enumerate(spans) if a < start + 11 and start < b]
    assert told.warnings == ()
    assert told.prediction[told.label] == pytest.approx(float(first[inside[0]] * last[inside[-1]]), abs=1e-5)


@pytest.mark.parametrize("baseline", ["pad", "zero"])
def test_integrated_gradients_add_up(baseline: str) -> None:
    told = assay.explain(reader(), PAIR, "integrated_gradients", baseline=baseline, tolerance=0.001)
    assert told.scores.sum() == pytest.approx(told.facts["value"] - told.facts["baseline"], rel=0.01)
    p = told.prediction[told.label]
    assert told.facts["value"] == pytest.approx(np.log(p / (1 - p)), abs=1e-4)


def test_company_does_not_matter() -> None:
    pairs = [PAIR, ("what ?", "A dull plot."), ("who is not in the film with the cast ?", CONTEXT)]
    model = load(reader())
    alone = [assay.explain(model, pair, "input_x_gradient").scores for pair in pairs]
    together = assay.explain(model, pairs, "input_x_gradient", engine=Engine(model, budget=4096))
    for a, e in zip(alone, together, strict=True):
        np.testing.assert_allclose(e.scores, a, atol=1e-4)


@pytest.mark.parametrize("method", ["gradient", "lime", "kernel_shap", "anchors"])
def test_every_method_of_the_row_runs(method: str) -> None:
    small = {"lime": {"samples": 50}, "anchors": {"limit": 200}}
    told = assay.explain(reader(), PAIR, method, **small.get(method, {}))
    assert told.words == tuple(QUESTION.split())


def test_a_masked_language_model_reads_question_and_context_alone() -> None:
    model = load(reader())
    here = Engine(model, resolve=lambda name: load(tiny.masked_lm()))
    told = assay.explain(model, PAIR, "input_marginalization", engine=here, k=3)
    masked = deepcopy(tiny.masked_lm()[1])([QUESTION.replace("who", "[MASK]")], [CONTEXT], return_tensors="pt")
    with torch.no_grad():
        chances = tiny.masked_lm()[0](**masked).logits[0, 1].softmax(-1)
    assert told.facts["mass"][0] <= float(chances.topk(3).values.sum()) + 1e-6
    first = tiny.masked_lm()[1].convert_tokens_to_ids(told.facts["candidates"][0][0])
    best = int(chances.masked_fill(~load(tiny.masked_lm()).task.vocabulary.whole_words, 0).argmax())  # type: ignore[attr-defined]
    assert first == best


def test_checks_read_the_explanations() -> None:
    (verdict,) = assay.check(reader(), [PAIR], ["leave_one_out"], ["deletion"], draws=5)
    assert np.isfinite(verdict.mean)


def test_a_context_beyond_the_window_is_cut_and_said() -> None:
    told = assay.explain(reader(), (QUESTION, CONTEXT * 9), "leave_one_out")
    assert any("context" in warning for warning in told.warnings)


@pytest.mark.parametrize(
    ("source", "focus", "said"),
    [
        ("only a question ?", None, "pair"),
        ({"question": QUESTION, "context": CONTEXT, "answer": "nobody"}, None, "not in the context"),
    ],
)
def test_what_cannot_be_asked(source: Any, focus: Any, said: str) -> None:
    with pytest.raises(assay.AssayError, match=said):
        assay.explain(reader(), source, "leave_one_out", focus=focus)


def test_from_a_directory(tmp_path: Any) -> None:
    for part in reader():
        part.save_pretrained(tmp_path)
    told = assay.explain(str(tmp_path), PAIR, "leave_one_out")
    np.testing.assert_allclose(told.scores, assay.explain(reader(), PAIR, "leave_one_out").scores, atol=1e-6)


def test_an_answer_that_begins_like_a_place() -> None:
    context = "The film begins at 10:30 at night and ends at 12."
    told = assay.explain(
        assay.load(reader()),
        {**dict(zip(("question", "context"), ("when ?", context), strict=True)), "answer": "10:30 at night"},
        "leave_one_out",
        progress=False,
    )
    start = context.index("10:30")
    assert told.text.strings[2] == f"{start}:{start + len('10:30 at night')} 10:30 at night"


def test_a_context_without_words() -> None:
    with pytest.raises(BadInput, match="the context has no word"):
        assay.explain(assay.load(reader()), ("what is it ?", " "), "leave_one_out", progress=False)


def test_the_context_around_the_answer_is_explained_against_a_plain_loop() -> None:
    answer = "A good cast"
    given = {"question": QUESTION, "context": CONTEXT, "answer": answer}
    told = assay.explain(reader(), given, "leave_one_out", focus=["context"], scalar="probability")
    start = CONTEXT.index(answer)
    around = (*Text.of(CONTEXT[:start]).words, *Text.of(CONTEXT[start + len(answer) :]).words)
    assert told.words == around  # the answer itself is never erased
    assert told.label == answer
    whole = answered(CONTEXT, answer)
    assert told.prediction[answer] == pytest.approx(whole, abs=1e-5)
    for i, score in enumerate(told.scores):
        row = told.text.without(i).strings
        assert score == pytest.approx(whole - answered("".join(row[1:4]), answer), abs=1e-5)


def answered(context: str, answer: str) -> float:
    """The probability of this answer in this context, by the bare model."""
    first, last, spans = chances(QUESTION, context)
    start = context.index(answer)
    inside = [i for i, (a, b) in enumerate(spans) if a < start + len(answer) and start < b]
    return float(first[inside[0]] * last[inside[-1]])


def test_question_and_context_together_have_the_gradients_of_the_bare_model() -> None:
    given = {"question": QUESTION, "context": CONTEXT, "answer": "A good cast"}
    both = assay.explain(reader(), given, "input_x_gradient", focus=["question", "context"])
    apart = [assay.explain(reader(), given, "input_x_gradient", focus=[name]) for name in ("question", "context")]
    np.testing.assert_allclose(both.scores, np.concatenate([e.scores for e in apart]), atol=1e-5)
    assert set(both.text.where) == {"question", "before", "after"}
    back = type(both).from_json(both.to_json())
    assert back.to_dict() == both.to_dict()
    assert "A good cast" in both.to_html()


@pytest.mark.parametrize("method", ["lime", "kernel_shap", "integrated_gradients", "partition_shap"])
def test_methods_run_on_the_context_of_the_models_own_answer(method: str) -> None:
    told = assay.explain(reader(), PAIR, method, focus=["context"])
    assert len(told.scores) == len(told.words) > 5
    assert told.label in CONTEXT

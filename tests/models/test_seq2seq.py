"""Encoder-decoder models: the probability of an output, against the bare model one text at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiny
import torch

import assay
import task_checks
from assay.engine.engine import Engine
from assay.questions.inside import Hidden
from assay.text.text import Text

FAMILIES = ["t5", "bart"]
family = pytest.mark.parametrize("name", FAMILIES)
TEXT, OUTPUT = "The plot was dull, but the film", "a very good man"
BEGIN = {"t5": [], "bart": [0]}  # what the tokenizer puts before a text


def tokens_of(name: str, output: str = OUTPUT) -> list[int]:
    return list(tiny.seq2seq(name)[1](output, add_special_tokens=False)["input_ids"])


def log_chances(name: str, text: str, tokens: list[int], pair: Any = None) -> np.ndarray:
    """The log-probability of each output token, from the labels with which the bare model would be trained."""
    model, tokenizer = pair or tiny.seq2seq(name)
    with torch.no_grad():
        logits = model(**tokenizer([text], return_tensors="pt"), labels=torch.tensor([BEGIN[name] + tokens])).logits[0]
    own = logits[len(BEGIN[name]) :].double().log_softmax(-1)
    return np.array([float(own[j, token]) for j, token in enumerate(tokens)])


@family
def test_leave_one_out_against_a_plain_loop(name: str) -> None:
    told = assay.explain(tiny.seq2seq(name), (TEXT, OUTPUT), "leave_one_out")
    assert told.words == Text.of(TEXT).words
    assert told.text.strings == (TEXT, OUTPUT)
    whole = log_chances(name, TEXT, tokens_of(name)).sum()
    assert told.prediction[told.label] == pytest.approx(np.exp(whole), rel=1e-3)
    for i, score in enumerate(told.scores):
        less = log_chances(name, Text.of(TEXT).without(i).strings[0], tokens_of(name)).sum()
        assert score == pytest.approx(task_checks.log_odds(whole) - task_checks.log_odds(less), abs=1e-3)


@family
def test_by_default_the_models_own_output(name: str) -> None:
    model, tokenizer = tiny.seq2seq(name)
    adapter: Any = assay.load((model, tokenizer))
    told = assay.explain(adapter, TEXT, "leave_one_out")
    coded = tokenizer([TEXT], return_tensors="pt")
    start = torch.tensor([[model.config.decoder_start_token_id, *BEGIN[name]]])
    made = model.generate(
        **coded, decoder_input_ids=start, do_sample=False, num_beams=1, max_new_tokens=8, forced_bos_token_id=None
    )
    expected = [token for token in made[0, start.shape[1] :].tolist() if token != model.config.eos_token_id]
    assert list(adapter.task.token_notes.tokens(told.text.strings[1])) == expected
    assert told.prediction[told.label] == pytest.approx(np.exp(log_chances(name, TEXT, expected).sum()), rel=1e-3)


@family
def test_one_token_alone(name: str) -> None:
    told = assay.explain(tiny.seq2seq(name), {"text": TEXT, "continuation": OUTPUT, "token": "2"}, "leave_one_out")
    whole = log_chances(name, TEXT, tokens_of(name))[2]
    less = log_chances(name, Text.of(TEXT).without(1).strings[0], tokens_of(name))[2]
    assert told.prediction[told.label] == pytest.approx(np.exp(whole), rel=1e-4)
    assert told.scores[1] == pytest.approx(task_checks.log_odds(whole) - task_checks.log_odds(less), abs=1e-3)


@family
def test_gradients_are_slopes(name: str) -> None:
    model, tokenizer = pair = task_checks.doubled(tiny.seq2seq(name))
    told = assay.explain(pair, (TEXT, OUTPUT), "input_x_gradient")
    coded = tokenizer([TEXT], return_tensors="pt", return_offsets_mapping=True)
    spans = coded.pop("offset_mapping")[0].tolist()
    owners = [[i for i, (a, b) in enumerate(spans) if a < end and start < b] for start, end in Text.of(TEXT).spans]
    labels = torch.tensor([BEGIN[name] + tokens_of(name)])

    def value(embedded: torch.Tensor) -> torch.Tensor:
        out = model(inputs_embeds=embedded, attention_mask=coded["attention_mask"], labels=labels)
        own = out.logits[0].log_softmax(-1).gather(1, labels[0][:, None])[len(BEGIN[name]) :]
        return task_checks.log_odds(own.sum())  # type: ignore[no-any-return]

    embedded = model.get_encoder().embed_tokens(coded["input_ids"]).detach()
    task_checks.gradient_times_input(told, embedded, owners, value)


@family
def test_company_does_not_matter(name: str) -> None:
    sources = ["film", (TEXT, OUTPUT), TEXT, ("a man", "a very very very good film, said the man"), ("the film .", "a")]
    task_checks.company_does_not_matter(tiny.seq2seq(name), sources)


@family
@task_checks.every_method
def test_every_method_runs(name: str, method: str) -> None:
    assert task_checks.runs(tiny.seq2seq(name), (TEXT, OUTPUT), method).words == Text.of(TEXT).words


@family
@pytest.mark.parametrize("baseline", ["pad", "zero"])
def test_integrated_gradients_add_up(name: str, baseline: str) -> None:
    told = assay.explain(tiny.seq2seq(name), (TEXT, OUTPUT), "integrated_gradients", baseline=baseline, tolerance=0.02)
    assert told.scores.sum() == pytest.approx(told.facts["value"] - told.facts["baseline"], rel=0.05)


def test_a_scaled_embedding_of_the_padding_token_is_the_baseline() -> None:
    model, tokenizer = tiny.seq2seq("bart")
    told = assay.explain((model, tokenizer), (TEXT, OUTPUT), "integrated_gradients", baseline="pad", steps=2)
    ids = tokenizer([TEXT], return_tensors="pt")["input_ids"]
    ids[0, 1:-1] = tokenizer.pad_token_id
    with torch.no_grad():
        out = model(input_ids=ids, attention_mask=torch.ones_like(ids), labels=torch.tensor([[0, *tokens_of("bart")]]))
    own = out.logits[0, 1:].double().log_softmax(-1)
    nothing = float(sum(own[j, token] for j, token in enumerate(tokens_of("bart"))))
    assert told.facts["baseline"] == pytest.approx(task_checks.log_odds(nothing), abs=1e-3)


@family
def test_hidden_states_are_the_encoders(name: str) -> None:
    model, tokenizer = tiny.seq2seq(name)
    here = Engine(assay.load((model, tokenizer)))
    told = assay.explain(here.model, (TEXT, OUTPUT), "leave_one_out", engine=here)
    with torch.no_grad():
        expected = model.get_encoder()(**tokenizer([TEXT], return_tensors="pt")).last_hidden_state[0].numpy()
    np.testing.assert_allclose(here.ask(Hidden(told.text)).states[-1], expected, atol=1e-5)


def test_attention_of_an_encoder_explains_no_output() -> None:
    with pytest.raises(assay.AssayError, match="attention asks for Attention"):
        assay.explain(tiny.seq2seq(), (TEXT, OUTPUT), "attention")


@family
def test_words_beyond_the_window(name: str) -> None:
    long = "a dull film , really " * 40
    told = assay.explain(tiny.seq2seq(name), (long, OUTPUT), "leave_one_out")
    assert told.truncated
    assert told.strings[0] == long
    assert [long[a:b] for a, b in told.unseen] == list(Text.of(long).words[len(told.words) :])
    assert not any("continuation" in warning for warning in told.warnings)
    task_checks.refuses(tiny.seq2seq(name), ("a film", long), "room for")


def test_special_tokens_in_the_texts() -> None:
    for source in ("</s> film <pad>", ("a film", "</s>")):
        told = assay.explain(tiny.seq2seq(), source, "leave_one_out")
        assert np.isfinite(told.scores).all()


@pytest.mark.parametrize(("source", "said"), [(("a film", ""), "is empty"), (("a film", "\U0001f9ff"), "no tokens")])
def test_a_wrong_output_is_said(source: Any, said: str) -> None:
    task_checks.refuses(tiny.seq2seq(), source, said)


@family
def test_from_a_directory(name: str, tmp_path: Any) -> None:
    task_checks.saved(tiny.seq2seq(name), tmp_path, TEXT)


def test_a_model_that_reads_no_text() -> None:
    class SpeechForConditionalGeneration(torch.nn.Module):
        config = tiny.seq2seq()[0].config

        def forward(self, input_features: Any) -> Any: ...

    with pytest.raises(assay.AssayError, match="not a kind of model"):
        assay.load((SpeechForConditionalGeneration(), tiny.seq2seq()[1]))


def test_without_a_start_token() -> None:
    model, tokenizer = tiny.seq2seq.__wrapped__("t5")
    model.config.decoder_start_token_id = model.generation_config.decoder_start_token_id = None
    with pytest.raises(assay.AssayError, match="its decoder starts"):
        assay.load((model, tokenizer))

"""Causal language models: the probability of a continuation, against the bare model one text at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiny
import torch

import assay
import task_checks
from assay.engine.engine import Engine
from assay.models.transformers.tasks.causal_lm import CausalLM
from assay.questions.inside import Attention
from assay.text.text import Text

FAMILIES = ["gpt2", "llama", "bert"]
family = pytest.mark.parametrize("name", FAMILIES)
PROMPT, REST = "The plot was dull, but the film", " was very good"
LEAD = {"gpt2": [], "llama": [1], "bert": [2]}  # what stands before a prompt
SOLE = {"gpt2": 0, "llama": 1, "bert": 2}  # the token of a prompt without words


def ids_of(name: str, string: str) -> list[int]:
    return list(tiny.causal_lm(name)[1](string, add_special_tokens=False)["input_ids"])


def tokens_of(name: str, prompt: str = PROMPT, rest: str = REST) -> list[int]:
    both, head = ids_of(name, prompt + rest), ids_of(name, prompt)
    assert both[: len(head)] == head
    return both[len(head) :]


def log_chances(name: str, prompt: str, tokens: list[int], model: Any = None) -> np.ndarray:
    """The log-probability of each token, by the bare model, without padding."""
    ids = LEAD[name] + ids_of(name, prompt) or [SOLE[name]]
    with torch.no_grad():
        logits = (model or tiny.causal_lm(name)[0])(input_ids=torch.tensor([ids + tokens[:-1]])).logits[0]
    own = logits[len(ids) - 1 :].double().log_softmax(-1)
    return np.array([float(own[j, token]) for j, token in enumerate(tokens)])


@family
def test_leave_one_out_against_a_plain_loop(name: str) -> None:
    told = assay.explain(tiny.causal_lm(name), (PROMPT, REST), "leave_one_out")
    assert told.words == Text.of(PROMPT).words
    assert told.text.strings == (PROMPT, REST)
    tokens = tokens_of(name)
    whole = log_chances(name, PROMPT, tokens).sum()
    assert told.prediction[told.label] == pytest.approx(np.exp(whole), rel=1e-3)
    for i, score in enumerate(told.scores):
        less = log_chances(name, Text.of(PROMPT).without(i).strings[0], tokens).sum()
        assert score == pytest.approx(task_checks.log_odds(whole) - task_checks.log_odds(less), abs=1e-4)


@family
def test_by_default_the_models_own_continuation(name: str) -> None:
    model, _ = tiny.causal_lm(name)
    adapter = assay.load(tiny.causal_lm(name))
    told = assay.explain(adapter, PROMPT, "leave_one_out")
    ids = torch.tensor([LEAD[name] + ids_of(name, PROMPT)])
    made = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=8, pad_token_id=0)
    expected = made[0, ids.shape[1] :].tolist()
    assert list(adapter.task.token_notes.tokens(told.text.strings[1])) == expected
    whole = log_chances(name, PROMPT, expected).sum()
    assert told.prediction[told.label] == pytest.approx(np.exp(whole), rel=1e-3)


def test_as_many_new_tokens_as_wanted() -> None:
    adapter = assay.load(tiny.causal_lm())
    assert isinstance(adapter.task, CausalLM)
    adapter.max_new_tokens = 3
    told = assay.explain(adapter, PROMPT, "leave_one_out")
    assert len(adapter.task.token_notes.tokens(told.text.strings[1])) == 3


@family
@pytest.mark.parametrize("token", ["0", "1", "2:whatever"])
def test_one_token_alone(name: str, token: str) -> None:
    source = {"prompt": PROMPT, "continuation": REST, "token": token}
    told = assay.explain(tiny.causal_lm(name), source, "leave_one_out")
    tokens, j = tokens_of(name), int(token[0])
    whole = log_chances(name, PROMPT, tokens)[j]
    assert told.prediction[told.label] == pytest.approx(np.exp(whole), rel=1e-4)
    less = log_chances(name, Text.of(PROMPT).without(0).strings[0], tokens)[j]
    assert told.scores[0] == pytest.approx(task_checks.log_odds(whole) - task_checks.log_odds(less), abs=1e-4)


@family
def test_gradients_are_slopes(name: str) -> None:
    model, tokenizer = pair = task_checks.doubled(tiny.causal_lm(name))
    told = assay.explain(pair, (PROMPT, REST), "input_x_gradient")
    spans = tokenizer([PROMPT], add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"][0]
    lead, tokens = len(LEAD[name]), tokens_of(name)
    ids = torch.tensor([LEAD[name] + ids_of(name, PROMPT) + tokens])
    links = [[i for i, (a, b) in enumerate(spans) if a < end and start < b] for start, end in Text.of(PROMPT).spans]
    owners = [[lead + i for i in own] for own in links]
    assert len({i for own in owners for i in own}) == sum(map(len, owners))  # no piece belongs to two words

    def value(embedded: torch.Tensor) -> torch.Tensor:
        logits = model(inputs_embeds=embedded).logits[0, -len(tokens) - 1 : -1]
        chances = logits.log_softmax(-1)
        return task_checks.log_odds(chances[range(len(tokens)), tokens].sum())  # type: ignore[no-any-return]

    embedded = model.get_input_embeddings()(ids).detach()
    task_checks.gradient_times_input(told, embedded, owners, value)


@family
def test_company_does_not_matter(name: str) -> None:
    sources = ["film", (PROMPT, REST), PROMPT, ("a", " very very very good film, said the man"), ("the film .", "a")]
    task_checks.company_does_not_matter(tiny.causal_lm(name), sources)


@pytest.mark.parametrize("name", ["gpt2", "llama"])
@task_checks.every_method
def test_every_method_runs(name: str, method: str) -> None:
    assert task_checks.runs(tiny.causal_lm(name), (PROMPT, REST), method).words == Text.of(PROMPT).words


@family
def test_a_prompt_without_words_is_the_token_that_begins_a_text(name: str) -> None:
    told = assay.explain(tiny.causal_lm(name), (PROMPT, REST), "kernel_shap")
    nothing = log_chances(name, "", tokens_of(name)).sum()
    assert told.facts["baseline"] == pytest.approx(task_checks.log_odds(nothing), abs=1e-3)


@family
def test_integrated_gradients_add_up(name: str) -> None:
    told = assay.explain(tiny.causal_lm(name), (PROMPT, REST), "integrated_gradients", baseline="zero")
    assert told.scores.sum() == pytest.approx(told.facts["value"] - told.facts["baseline"], rel=0.02)


@pytest.mark.parametrize(
    ("prompt", "rest", "expected"),
    [
        ("The film", "was", " was"),
        ("The film", " was", " was"),
        ("The film ", "was", "was"),
        ("The film", ", too", ", too"),
        ("Is it good?", "Yes", " Yes"),
        ("(", "good", "good"),
        ("東京", "タ", "タ"),
    ],
)
def test_a_blank_where_words_would_run_together(prompt: str, rest: str, expected: str) -> None:
    told = assay.explain(tiny.causal_lm(), (prompt, rest), "leave_one_out")
    assert told.text.strings[1] == expected


def test_a_continuation_that_looks_like_numbers_of_tokens() -> None:
    adapter: Any = assay.load(tiny.causal_lm())
    told = assay.explain(adapter, ("The film", "#12,3 was"), "leave_one_out")
    assert adapter.tokenizer.decode(adapter.task.token_notes.tokens(told.text.strings[1])) == "#12,3 was"


def test_the_attention_is_that_of_the_explained_token() -> None:
    here = Engine(assay.load(tiny.causal_lm("llama")))
    source = {"prompt": "a film", "continuation": " was good", "token": "1"}
    told = assay.explain(here.model, source, "leave_one_out", engine=here)
    maps = here.ask(Attention(told.text))
    assert maps.readers == (1 + len(ids_of("llama", "a film")),)  # the first token of the continuation
    assert maps.weights.shape[-1] == maps.readers[0] + 1


def test_what_does_not_fit_the_window() -> None:
    long = "a dull film , really " * 40
    task_checks.refuses(tiny.causal_lm(), long, "window of 64 tokens")
    task_checks.refuses(tiny.causal_lm(), ("a film", long), "room for")
    almost = "x " * 30 + "x a b"
    assert len(ids_of("gpt2", almost)) == 63
    adapter: Any = assay.load(tiny.causal_lm())
    told = assay.explain(adapter, almost, "leave_one_out")
    tokens = list(adapter.task.token_notes.tokens(told.text.strings[1]))
    assert len(tokens) == 2  # as much as there is room for, the last of which is not read again
    assert told.prediction[told.label] == pytest.approx(np.exp(log_chances("gpt2", almost, tokens).sum()), rel=1e-3)
    longer = assay.explain(adapter, almost, "leave_one_out", eraser="unknown:utterly", scalar="logit")
    seen = ids_of("gpt2", Text.of(almost).replace(32, "utterly").strings[0])[-63:]  # the end of it, not the start
    with torch.no_grad():
        logits = tiny.causal_lm()[0](input_ids=torch.tensor([[*seen, tokens[0]]])).logits[0, -2:].log_softmax(-1)
    less = float(logits[0, tokens[0]] + logits[1, tokens[1]])
    assert longer.scores[32] == pytest.approx(log_chances("gpt2", almost, tokens).sum() - less, abs=1e-4)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (("a film", ""), "continuation is empty"),
        ({"prompt": "a film", "continuation": " was", "token": "9"}, "no number of a token"),
        ({"prompt": "a film", "continuation": " was", "token": "x"}, "no number of a token"),
        ({"prompt": "a film", "sequel": " was"}, "no 'sequel' among them"),
        ("", "no word to explain"),
        ({"text": "a film"}, "no field is called 'prompt'"),
    ],
)
def test_a_wrong_continuation_is_said(source: Any, said: str) -> None:
    with pytest.raises(assay.AssayError, match=said):
        assay.explain(tiny.causal_lm(), source, "leave_one_out")


def test_words_the_vocabulary_does_not_have() -> None:
    task_checks.refuses(tiny.causal_lm("bert"), ("a film", "\U0001f9ff"), "no tokens for")


def test_a_model_that_ends_at_once() -> None:
    model, tokenizer = tiny.causal_lm.__wrapped__("gpt2")
    with torch.no_grad():
        model.transformer.ln_f.weight.zero_()
        model.transformer.ln_f.bias.copy_(model.lm_head.weight[0] * 100)
    task_checks.refuses((model, tokenizer), "a film", "at once")


def test_special_tokens_in_the_texts() -> None:
    for source in ("<|endoftext|> film", ("a film", "<|endoftext|>"), ("[MASK] film", "</s>")):
        told = assay.explain(tiny.causal_lm(), source, "leave_one_out")
        assert np.isfinite(told.scores).all()


def test_predict() -> None:
    chances = assay.load(tiny.causal_lm()).predict([(PROMPT, " was"), PROMPT])
    expected = np.exp(log_chances("gpt2", PROMPT, tokens_of("gpt2", rest=" was")).sum())
    assert chances[0] == pytest.approx([1 - expected, expected], abs=1e-6)


@family
def test_from_a_directory(name: str, tmp_path: Any) -> None:
    task_checks.saved(tiny.causal_lm(name), tmp_path, PROMPT)


def test_nothing_of_the_users_is_changed() -> None:
    model, tokenizer = tiny.causal_lm.__wrapped__("gpt2")
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    settings, length = model.config.to_json_string(), tokenizer.model_max_length
    assay.explain((model.train(), tokenizer), PROMPT, "input_x_gradient")
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert all(module.training for module in model.modules())
    assert not any(module._forward_hooks for module in model.modules())
    assert (model.config.to_json_string(), tokenizer.model_max_length) == (settings, length)
    assert tokenizer.pad_token is None


def test_what_is_explained_goes_by_its_own_words() -> None:
    model = assay.load(tiny.causal_lm())
    told = assay.explain(model, ("a good film", "10:30 runs"), "leave_one_out")
    assert told.label == "10:30 runs"
    assert told.to_dict()["target"] == "10:30 runs"
    assert list(told.prediction) == ["other", "10:30 runs"]


def test_an_outcome_called_other_is_not_mixed_up_with_all_others() -> None:
    model = assay.load(tiny.causal_lm())
    told = assay.explain(model, ("a good film", "other"), "leave_one_out")
    assert list(told.prediction) == ["other", "continuation"]

"""What is found out about a model when it is first used, and what follows from it.

The oracle is a slow loop: the user's own model, one row at a time, by a plain call of torch.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import tiny
import torch
import transformers as hf
import unusual
from torch import nn

import assay
from assay.engine.engine import Engine
from assay.errors import Unanswerable
from assay.models.transformers.admission import admit
from assay.questions.gradients import InputGradient
from assay.questions.inside import Attention, ValueZeroing
from assay.questions.predict import Predict
from assay.statistics.arrays import Floats
from assay.text.text import Text

TEXTS = ["a film", "a good film , and a dull one", "two dogs run", "it is what it is , and no more than that"]
TEXT = TEXTS[1]


def plain(pair: tuple[Any, Any], text: str, **wanted: bool) -> Any:
    """What a copy of the user's model says of one text."""
    model, tokenizer = pair
    with torch.no_grad():
        return deepcopy(model)(**tokenizer(text, return_tensors="pt"), **wanted)


def probabilities(pair: tuple[Any, Any], text: str) -> Floats:
    return np.asarray(plain(pair, text).logits[0].softmax(-1).double().numpy())


@pytest.mark.parametrize("name", unusual.MODELS)
def test_a_text_gives_the_same_answer_alone_and_in_company(name: str) -> None:
    pair = unusual.MODELS[name]()
    alone = np.stack([probabilities(pair, text) for text in TEXTS])
    assert assay.load(pair).predict(TEXTS) == pytest.approx(alone, abs=1e-5)


@pytest.mark.parametrize(
    "name", ["nystromformer", "convbert", "funnel", "mobilebert", "xlnet", "bigbird", "fnet", "reformer"]
)
def test_only_rows_of_one_length_go_together_where_padding_reaches_the_answer(name: str) -> None:
    model = assay.load(unusual.MODELS[name]())
    assert model.found.company == "equal"
    assert model.enough == 0
    assert "padding would change its answers" in " ".join(model.facts)


@pytest.mark.parametrize("name", tiny.FAMILIES)
def test_well_behaved_models_are_padded_as_before(name: str) -> None:
    found = assay.load(tiny.FAMILIES[name]()).found
    assert found.company == ("alone" if name == "gpt2" else "padded")
    assert (found.changes, dict(found.problems)) == (False, {})


def by_embeddings(pair: tuple[Any, Any], text: str, target: int) -> Floats:
    """Input x gradient of the log-odds of a label at every piece, through the embeddings as an input."""
    model, tokenizer = pair
    coded = tokenizer(text, return_tensors="pt")
    ids = coded.pop("input_ids")
    embedded = model.get_input_embeddings()(ids).detach().requires_grad_()
    logits = model(inputs_embeds=embedded * 1, **coded).logits[0]
    others = torch.cat([logits[:target], logits[target + 1 :]])
    (gradient,) = torch.autograd.grad(logits[target] - others.logsumexp(0), embedded)
    return np.asarray((gradient * embedded).sum(-1)[0].detach().double().numpy())


@pytest.mark.parametrize("name", ["xlnet", "ctrl", "convbert", "mobilebert", "modernbert"])
def test_gradients_are_those_of_the_users_model(name: str) -> None:
    pair = unusual.MODELS[name]()
    model = assay.load(pair)
    together = assay.explain(model, TEXTS, "input_x_gradient", engine=Engine(model), progress=False)
    for text, e in zip(TEXTS, together, strict=True):
        pieces = by_embeddings(pair, text, e.target)
        owners = model.task.pieces(Text.of(text))
        words = np.zeros(len(e.scores))
        np.add.at(words, owners.word, pieces[owners.piece] * owners.share)
        assert e.scores == pytest.approx(words, abs=1e-4 * max(1, np.abs(words).max()))


@pytest.mark.parametrize("name", ["xlnet", "qwen2", "gpt_neox"])
def test_attention_is_read_at_the_last_piece_where_the_answer_is(name: str) -> None:
    pair = unusual.MODELS[name]()
    pair[0].set_attn_implementation("eager")
    maps = plain(pair, TEXT, output_attentions=True).attentions
    owners = assay.load(pair).task.pieces(Text.of(TEXT))
    looked = maps[-1][0].mean(0)[-1].double().numpy()
    words = np.zeros(len(Text.of(TEXT)))
    np.add.at(words, owners.word, looked[owners.piece] * owners.share)
    assert assay.explain(pair, TEXT, "attention").scores == pytest.approx(words, abs=1e-5)


@pytest.mark.parametrize("build", [unusual.modernbert, unusual.eurobert])
def test_of_a_mean_of_pieces_attention_is_the_mean_of_their_rows(build: Any) -> None:
    pair = build()
    pair[0].set_attn_implementation("eager")
    layers = [one[0].mean(0).double().numpy() for one in plain(pair, TEXT, output_attentions=True).attentions]
    flow = np.eye(len(layers[0]))
    for layer in layers:
        flow = (layer + np.eye(len(layer))) / 2 @ flow
    owners = assay.load(pair).task.pieces(Text.of(TEXT))
    for method, looked in (("attention", layers[-1]), ("attention_rollout", flow)):
        e = assay.explain(pair, TEXT, method)
        words = np.zeros(len(e.scores))
        np.add.at(words, owners.word, looked.mean(axis=0)[owners.piece] * owners.share)
        assert e.scores == pytest.approx(words, abs=1e-5)
        assert e.facts["readers"] == f"mean over the {len(looked)} pieces that the answer reads"


def test_of_a_mean_of_pieces_value_zeroing_is_the_mean_of_their_rows() -> None:
    model = assay.load(unusual.modernbert())
    maps = Engine(model).ask(ValueZeroing(Text.of(TEXT)))
    flow = np.linalg.multi_dot([*maps.weights[::-1, 0].astype(np.float64)])
    e = assay.explain(model, TEXT, "value_zeroing")
    assert e.scores == pytest.approx(maps.owners.per_word(flow.mean(axis=0)), abs=1e-6)


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_which_pieces_are_read_is_found_by_the_gradient(pooling: str) -> None:
    found = assay.load(unusual.modernbert(pooling)).found
    assert found.readers is not None
    assert found.readers.of(5) == ((0,) if pooling == "cls" else (0, 1, 2, 3, 4))


class Weighted(nn.Module):
    """A pooler that reads all pieces, the first most: neither one of them nor their mean."""

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        share = 0.5 ** torch.arange(states.shape[1])
        return (states * share[:, None]).sum(1)


def test_an_answer_from_something_else_is_no_reader() -> None:
    model, tokenizer = deepcopy(tiny.bert())
    model.bert.pooler = Weighted()
    with pytest.raises(Unanswerable, match="no piece, nor the mean of all"):
        assay.explain((model, tokenizer), TEXT, "attention")


def test_attention_checks_want_one_piece_that_looks() -> None:
    model = assay.load(unusual.modernbert())
    with pytest.raises(Unanswerable, match="answers from the mean of its pieces"):
        assay.check(model, [TEXT], ["attention"], ["attention_permutation"], progress=False)


@pytest.mark.parametrize(
    ("name", "method", "why"),
    [
        ("longformer", "attention", "maps are 13 x 6 for a text of 13 pieces"),
        ("longformer", "attention_rollout", "maps are 13 x 6 for a text of 13 pieces"),
        ("funnel", "attention", "maps are 13 x 13 and 7 x 13"),
        ("fnet", "attention", "returns no attention maps"),
        ("bart", "attention", "reads the text a second time"),
        ("t5", "attention_rollout", "reads the text a second time"),
        ("bart", "gradient", "reads the text a second time"),
        ("reformer", "gradient", "no gradient gets back to its words"),
        ("ibert", "gradient", "its embedding layer does not give one vector for every piece"),
        ("xlnet", "attn_lrp", r"its layers work on \[pieces, rows\]"),
    ],
)
def test_what_a_model_does_not_have_is_refused_with_a_sentence(name: str, method: str, why: str) -> None:
    model = assay.load(unusual.MODELS[name]())
    with pytest.raises(Unanswerable, match=f"{method} asks for .*{why}.*leave_one_out"):
        assay.explain(model, TEXT, method)


@pytest.mark.parametrize("name", ["qwen2", "gpt2_padded", "gpt_neox"])
def test_a_text_without_words_is_read_as_one_neutral_token(name: str) -> None:
    pair = model, tokenizer = unusual.MODELS[name]()
    with torch.no_grad():
        alone = model(torch.tensor([[tokenizer.eos_token_id]])).logits.softmax(-1).numpy()
    ours = assay.load(pair)
    assert ours.predict([""]) == pytest.approx(alone, abs=1e-6)
    assert ours.predict(["", TEXT])[:1] == pytest.approx(alone, abs=1e-5)
    assert "A text without words is read as the token <|endoftext|>" in " ".join(ours.facts)
    e = assay.explain(ours, TEXT, "partition_shap")
    whole, nothing = (Engine(ours).ask(Predict(Text.of(t))) for t in (TEXT, ""))
    target = e.target
    assert e.scores.sum() == pytest.approx(whole.value(target)[0] - nothing.value(target)[0], abs=1e-4)
    assert READ_AS in e.warnings


READ_AS = "empty text: the model read the text without any of its words as the token <|endoftext|>"


def test_only_an_explanation_for_which_the_text_was_emptied_says_so() -> None:
    decoder, encoder = assay.load(unusual.MODELS["qwen2"]()), assay.load(tiny.bert())
    several, one = (assay.explain(decoder, text, "leave_one_out") for text in (TEXT, "good"))
    assert READ_AS not in several.warnings
    assert READ_AS in one.warnings
    assert READ_AS not in assay.explain(decoder, "good", "leave_one_out", eraser="pad").warnings
    assert not any("empty text" in w for w in assay.explain(encoder, "good", "leave_one_out").warnings)
    half = assay.explain(decoder, ("a film", "good"), "leave_one_out", focus=["hypothesis"])
    assert READ_AS not in half.warnings


def test_a_causal_language_model_without_a_first_token_says_so_too() -> None:
    e = assay.explain(assay.load(tiny.causal_lm("gpt2")), "film", "leave_one_out")
    assert any(w.startswith("empty text: the model read") for w in e.warnings)


def test_decoders_without_a_padding_token_do_not_stop_trust() -> None:
    model = assay.load(tiny.gpt2())
    card = assay.trust(model, [TEXTS[0]], methods=["leave_one_out", "partition_shap"], progress=False)
    assert len(card.standings) == 2


def test_the_users_bigbird_stays_as_it_is() -> None:
    model, tokenizer = unusual.bigbird()
    long = " ".join(TEXTS)
    fresh = [probabilities((model, tokenizer), text) for text in (TEXTS[0], long, TEXTS[0])]
    before = [(id(module), len(module._forward_hooks)) for module in model.modules()]
    assert [assay.load((model, tokenizer)).predict([text])[0] for text in (TEXTS[0], long, TEXTS[0])] == [
        pytest.approx(own, abs=1e-6) for own in fresh
    ]
    assert [(id(module), len(module._forward_hooks)) for module in model.modules()] == before
    assert model.bert.attention_type == "block_sparse"


@pytest.mark.parametrize("method", ["leave_one_out", "integrated_gradients", "attention", "value_zeroing"])
def test_a_config_that_asks_for_tuples_is_no_obstacle(method: str) -> None:
    model, tokenizer = deepcopy(tiny.bert())
    scores = assay.explain((model, tokenizer), TEXT, method).scores
    model.config.return_dict = False
    assert assay.explain((model, tokenizer), TEXT, method).scores == pytest.approx(scores, abs=1e-6)
    assert model.config.return_dict is False


def test_a_model_is_tried_once_and_again_when_it_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    tried, found = [], admit._found
    monkeypatch.setattr(admit, "_found", lambda *args: tried.append(1) or found(*args))
    model, tokenizer = deepcopy(tiny.bert())
    for _ in range(3):
        assay.load((model, tokenizer)).predict(["a film"])
    assert len(tried) == 1
    with torch.no_grad():
        model.classifier.weight.mul_(2)
    assay.load((model, tokenizer)).predict(["a film"])
    assert len(tried) == 2


def test_loading_does_not_run_the_model() -> None:
    model, tokenizer = deepcopy(tiny.bert())
    calls: list[int] = []
    model.register_forward_hook(lambda *_: calls.append(1))
    loaded = assay.load((model, tokenizer))
    assert not calls
    assert loaded.facts
    assert calls


def test_the_global_generator_goes_on_as_if_nothing_had_been() -> None:
    state = torch.get_rng_state()
    assert assay.load(deepcopy(tiny.bert())).facts
    assert torch.equal(torch.get_rng_state(), state)


class Random(nn.Module):
    """A layer that draws numbers, in evaluation mode too."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        states = self.layer(*args, **kwargs)
        return states + torch.randn(states.shape)


def test_a_model_that_draws_numbers_is_refused() -> None:
    model, tokenizer = deepcopy(tiny.bert())
    model.bert.encoder.layer[1] = Random(model.bert.encoder.layer[1])
    with pytest.raises(Unanswerable, match="differently each time"):
        assay.explain((model, tokenizer), TEXT, "leave_one_out")


def test_a_model_that_draws_its_chunks_in_longer_rows_is_refused() -> None:
    model, tokenizer = unusual.reformer()
    config = deepcopy(model.config)
    config.attn_layers, config.hash_seed = ["lsh"], None
    with pytest.raises(Unanswerable, match="differently each time"):
        assay.explain((tiny.seeded(lambda: type(model)(config)), tokenizer), TEXT, "leave_one_out")


def test_a_language_model_that_looks_ahead_has_no_continuations() -> None:
    decoder, tokenizer = tiny.causal_lm("bert")
    config = deepcopy(decoder.config)
    config.is_decoder = False
    model = tiny.seeded(lambda: hf.BertLMHeadModel(config))
    assert not {Predict, InputGradient, Attention} & set(assay.load((decoder, tokenizer)).missing)
    with pytest.raises(Unanswerable, match="looks at the words that follow"):
        assay.explain((model, tokenizer), ("a film", " was good"), "leave_one_out")


def test_span_readers_have_no_piece_that_looks() -> None:
    config = deepcopy(tiny.bert()[0].config)
    config.num_labels = 2
    model = assay.load((tiny.seeded(lambda: hf.BertForQuestionAnswering(config)), tiny.wordpiece()))
    assert Attention not in model.answers
    with pytest.raises(Unanswerable, match="read from all pieces of the context"):
        assay.explain(model, ("who ran ?", "two dogs run"), "attention")

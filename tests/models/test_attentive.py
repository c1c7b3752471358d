"""Attentive models: the network against loops over words, padding and company, and attention taken out and put back."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import tiny
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput, UnknownName
from assay.models.own.attentive import AttentiveConfig, AttentiveForSequenceClassification, words
from assay.models.own.masked_softmax import masked_softmax
from assay.models.transformers.handlers.adversary import attack, jsd
from assay.questions.base import Aim
from assay.questions.gradients import InputGradient
from assay.questions.inside import Attention, Depth
from assay.questions.interventions import Adversary, InterveneAttention, Search
from assay.questions.predict import Predict
from assay.text.text import Text

TEXTS = list(tiny.CORPUS[:8])
ENCODERS, ATTENTIONS = ("lstm", "cnn", "average"), ("additive", "dot", "uniform")
every_network = pytest.mark.parametrize(("encoder", "attention"), [(e, a) for e in ENCODERS for a in ATTENTIONS])


def attentive(encoder: str = "lstm", attention: str = "additive", **more: Any) -> Any:
    return assay.load(tiny.attentive(encoder, attention, **more))


def by_hand(network: Any, ids: list[int]) -> tuple[Any, Any]:
    """Logits and attention of one text without padding, from the equations."""
    x = network.embedding.weight[ids]
    n = len(ids)
    if network.config.encoder == "lstm":
        h = tiny.bilstm(network.encoder)(x[None])[0][0]
    elif network.config.encoder == "average":
        h = torch.stack([torch.tanh(network.encoder.projection(v)) for v in x])
    else:
        parts = []
        for layer in network.encoder.convolutions:
            half = layer.kernel_size[0] // 2
            padded = torch.cat([torch.zeros(half, x.shape[1]), x, torch.zeros(half, x.shape[1])])
            windows = [padded[i : i + 2 * half + 1] for i in range(n)]
            parts.append(torch.stack([(layer.weight * w.T[None]).sum((1, 2)) + layer.bias for w in windows]).relu())
        h = torch.cat(parts, dim=1)
    own = network.attention
    if network.config.attention == "additive":
        score = torch.stack([own.score.weight[0] @ torch.tanh(own.state.weight @ v + own.state.bias) for v in h])
    elif network.config.attention == "dot":
        score = torch.stack([own.score.weight[0] @ v for v in h]) / h.shape[1] ** 0.5
    else:
        score = torch.zeros(n)
    a = torch.zeros(n)
    a[1:-1] = score[1:-1].softmax(0)
    logits = network.projection(sum(w * v for w, v in zip(a, h, strict=True)))
    return (torch.cat([-logits, logits]) / 2 if network.config.num_labels == 2 else logits), a


@every_network
@pytest.mark.parametrize("labels", [2, 3])
def test_the_network_is_what_the_equations_say(encoder: str, attention: str, labels: int) -> None:
    network, tokenizer = tiny.attentive(encoder, attention, labels)
    model = assay.load((network, tokenizer))
    found = Engine(model).ask(Predict(*map(Text.of, TEXTS))).logits
    for text, row in zip(TEXTS, found, strict=True):
        with torch.no_grad():
            logits, own = by_hand(network, tokenizer(text)["input_ids"])
        assert row == pytest.approx(logits.numpy(), abs=1e-5)
        maps = Engine(model).ask(Attention(Text.of(text)))
        assert maps.weights[0, 0, 0] == pytest.approx(own.numpy(), abs=1e-5)
        assert maps.weights[0, 0, 0, [0, -1]].tolist() == [0.0, 0.0]


@every_network
@pytest.mark.parametrize("pair", [False, True])
def test_company_and_padding_change_nothing(encoder: str, attention: str, pair: bool) -> None:
    model = attentive(encoder, attention, pair=pair)
    texts: list[Any] = list(zip(TEXTS, reversed(TEXTS), strict=True)) if pair else TEXTS
    together = model.predict(texts)
    for text, row in zip(texts, together, strict=True):
        assert model.predict([text])[0] == pytest.approx(row, abs=1e-6)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_padding_has_no_attention(encoder: str) -> None:
    network, tokenizer = tiny.attentive(encoder)
    inputs = tokenizer(TEXTS, padding=True, return_tensors="pt")
    with torch.no_grad():
        read = network.read(inputs["input_ids"], inputs["attention_mask"])
    outside = inputs["attention_mask"].bool().logical_not()
    assert outside.any()
    assert (read.own[outside] == 0).all()
    assert read.own.sum(1).numpy() == pytest.approx(1, abs=1e-6)


def test_a_text_without_a_word_to_look_at() -> None:
    network, tokenizer = tiny.attentive()
    with torch.no_grad():
        nothing = network(torch.tensor([[tokenizer.bos_token_id, tokenizer.eos_token_id]]))
    assert nothing.logits[0].numpy() == pytest.approx(network.projection.bias.detach().numpy(), abs=1e-6)


@given(st.lists(st.floats(-80, 80), min_size=1, max_size=6), st.data())
@settings(max_examples=200, deadline=None)
def test_weights_are_a_distribution_over_what_is_shown(scores: list[float], data: Any) -> None:
    shown = data.draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores)))
    found = masked_softmax(torch.tensor([scores]), torch.tensor([shown]))[0].numpy()
    assert np.isfinite(found).all()
    assert (found[~np.array(shown)] == 0).all()
    assert found.sum() == pytest.approx(1.0 if any(shown) else 0.0, abs=1e-5)


def test_gradients_against_finite_differences() -> None:
    network, tokenizer = deepcopy(tiny.attentive("lstm", "additive", 2))
    network.double()
    text = Text.of(TEXTS[0])
    ids = torch.tensor([tokenizer(TEXTS[0])["input_ids"]])
    found = Engine(assay.load((network, tokenizer))).ask(InputGradient(text, aim=Aim(1, "probability")))[0].scores[0]
    vectors = network.embedding(ids).detach()
    hold: dict[str, Any] = {}
    network.embedding.register_forward_hook(lambda *_: hold["v"])

    def chance(v: Any) -> float:
        hold["v"] = v
        with torch.no_grad():
            return float(network(ids).logits.softmax(-1)[0, 1])

    slow = []
    for i in range(1, ids.shape[1] - 1):
        step = torch.zeros_like(vectors)
        step[0, i] = vectors[0, i] * 1e-5
        slow.append((chance(vectors + step) - chance(vectors - step)) / 2e-5)
    owners = Engine(attentive()).ask(Attention(text)).owners
    assert found == pytest.approx(owners.per_word(np.array([0.0, *slow, 0.0])), abs=1e-7)


def test_cut_attention_is_a_constant_to_gradients() -> None:
    network, tokenizer = tiny.attentive("lstm", "additive", 2)
    model = assay.load((network, tokenizer))
    text, aim = Text.of(TEXTS[0]), Aim(1, "logit")
    question = InputGradient(text, aim=aim)
    question.model = "@cut_attention"
    engine = Engine(model)
    cut, whole = engine.ask(question)[0].scores[0], engine.ask(InputGradient(text, aim=aim))[0].scores[0]
    vectors = network.embedding(torch.tensor([tokenizer(TEXTS[0])["input_ids"]])).detach().requires_grad_()
    h = tiny.bilstm(network.encoder)(vectors)[0][0]
    with torch.no_grad():
        own = by_hand(network, tokenizer(TEXTS[0])["input_ids"])[1]
    (g,) = torch.autograd.grad(network.projection((own[:, None] * h).sum(0))[0], vectors)
    owners = engine.ask(Attention(text)).owners
    assert cut == pytest.approx(owners.per_word((g * vectors)[0].sum(-1).detach().double().numpy()), abs=1e-5)
    assert np.abs(cut - whole).max() > 1e-4
    assert network.cut is False


def test_intervening_with_its_own_weights_changes_nothing() -> None:
    for pair in (False, True):
        model = attentive(pair=pair)
        text = Text.of((TEXTS[0], TEXTS[1]) if pair else TEXTS[0], names=model.fields, focus=(model.fields[0],))
        engine = Engine(model)
        own = engine.ask(Attention(text)).owners.per_word(engine.ask(Attention(text)).weights[0, 0, 0])
        answers = engine.ask(InterveneAttention(text, np.stack([own, own[::-1]]))).logits
        assert answers[0] == pytest.approx(engine.ask(Predict(text)).logits[0], abs=1e-5)
        assert np.abs(answers[1] - answers[0]).max() > 1e-4


def test_intervening_uses_exactly_the_given_weights() -> None:
    network, tokenizer = tiny.attentive("average")
    text = Text.of("a funny film")
    given_weights = np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0], [2.0, 5.0, 3.0]])
    found = Engine(assay.load((network, tokenizer))).ask(InterveneAttention(text, given_weights)).logits
    h = network.encoder.projection(network.embedding.weight[tokenizer("a funny film")["input_ids"][1:-1]]).tanh()
    slow = network.projection(torch.tensor(given_weights[:2]).float() @ h).detach().numpy()
    assert found[:2] == pytest.approx(slow, abs=1e-5)
    assert found[2] == pytest.approx(found[0], abs=1e-6)
    with pytest.raises(BadInput, match="not below zero"):
        InterveneAttention(text, -given_weights)
    with pytest.raises(BadInput, match="3 words need 3"):
        InterveneAttention(text, np.ones((2, 6)))
    with pytest.raises(BadInput, match="not below zero"):
        Adversary(text, Search(), weights=np.array([0.5, np.nan, 0.5]))


def test_many_interventions_of_texts_of_all_lengths_together() -> None:
    model, rng = attentive(), np.random.default_rng(0)
    texts = [Text.of(text) for text in TEXTS]
    tables = [rng.random((3 + i, len(text))) for i, text in enumerate(texts)]

    def talk(text: Text, table: Any) -> Any:
        return (yield InterveneAttention(text, table)).logits

    together = [outcome.get() for outcome in Engine(model).run(map(talk, texts, tables))]
    for text, table, found in zip(texts, tables, together, strict=True):
        assert found.shape == (len(table), 3)
        assert Engine(model).ask(InterveneAttention(text, table)).logits == pytest.approx(found, abs=1e-6)


def test_adversaries_are_the_same_alone_and_in_company() -> None:
    model, search = attentive(num_labels=2), Search(k=3, steps=60)

    def talk(text: Text) -> Any:
        return (yield Adversary(text, search, seed=7))

    texts = [Text.of(text) for text in TEXTS]
    together = [outcome.get() for outcome in Engine(model).run(map(talk, texts))]
    for text, found in zip(texts, together, strict=True):
        alone = Engine(model).ask(Adversary(text, search, seed=7))
        assert alone.weights == pytest.approx(found.weights, abs=1e-4)
        assert found.weights.sum(axis=1) == pytest.approx(1, abs=1e-5)
        again = Engine(model).ask(InterveneAttention(text, found.weights)).logits
        assert again == pytest.approx(found.answers.logits, abs=1e-4)
        own = Engine(model).ask(Attention(text))
        assert found.weights[0] == pytest.approx(own.owners.per_word(own.weights[0, 0, 0]), abs=1e-6)


def test_the_attack_against_a_slow_loop() -> None:
    """One text, its objective written out, optimised by itself."""
    torch.manual_seed(0)
    values, own = torch.randn(5, 2), torch.tensor([0.1, 0.2, 0.3, 0.4, 0.0])
    mask = torch.tensor([[True, True, True, True, False]])
    search = Search(k=2, steps=25, rate=0.05, tolerance=0.02, penalty=3.0)
    found = attack(lambda used: (used @ values).softmax(-1), own[None], mask, search, [5])[0]
    start = np.random.default_rng(5).normal(0, search.spread, (2, 4))
    logs = torch.tensor(start, dtype=torch.float32, requires_grad=True)
    optimiser = torch.optim.Adam([logs], lr=search.rate, amsgrad=True)
    target = (own @ values).softmax(-1)

    def divergence(p: Any, q: Any) -> Any:
        total = torch.zeros(())
        for a, b in zip(p, q, strict=True):
            m = (a + b) / 2
            total = total + a * torch.log(a / m) / 2 + b * torch.log(b / m) / 2
        return total

    for _ in range(search.steps):
        loss = torch.zeros(())
        tried = [row.softmax(0) for row in logs]
        for one in tried:
            moved = ((one @ values[:4]).softmax(-1) - target).abs().sum()
            loss = loss - divergence(one, own[:4]) + search.penalty * torch.relu(moved - search.tolerance)
        loss = loss - divergence(tried[0], tried[1])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert found[:, :4].numpy() == pytest.approx(logs.softmax(-1).detach().numpy(), abs=1e-4)
    assert (found[:, 4] == 0).all()


def test_divergence_of_exact_zeros() -> None:
    p, q = torch.tensor([1.0, 0.0, 0.0]), torch.tensor([0.0, 0.0, 1.0])
    assert float(jsd(p, q)) == pytest.approx(np.log(2), abs=1e-6)
    assert float(jsd(p, p)) == 0.0


def test_digits_case_and_offsets() -> None:
    tokenizer = words([("Film No. 1 of 1999 isn't 2nd-rate",)])
    assert tokenizer.tokenize("FILM 77 3rd") == ["film", "qqq", "qqq"]
    told = tokenizer("It was 2nd-rate", return_offsets_mapping=True)
    assert 7 <= told["offset_mapping"][3][0] < told["offset_mapping"][3][1] == 10  # within 2nd, so it is that word's
    assert tokenizer.convert_ids_to_tokens(told["input_ids"]) == "<sos> <unk> <unk> qqq - rate <eos>".split()


def test_contractions_and_anonymous_names() -> None:
    tokenizer = words([("Isn't @entity12 the film's 12th? They'll don’t can't",)])
    found = "is n't @entity12 the film 's qqq ? they 'll do n’t ca n't".split()
    assert tokenizer.tokenize("Isn't @entity12 the film's 12th? They'll don’t can't") == found
    assert tokenizer.tokenize("@entity13") == ["<unk>"]


def test_rare_words_are_unknown() -> None:
    tokenizer = words([("good film",), ("good plot",), ("bad plot",)], rarest=2, also=["zebra"])
    assert set(tokenizer.get_vocab()) == {"<pad>", "<unk>", "<sos>", "<eos>", "zebra", "good", "plot"}
    assert tokenizer.get_vocab()["<pad>"] == 0
    with pytest.raises(BadInput, match="no word occurs in 9"):
        words([("good film",)], rarest=9)


def test_rows_are_cut_at_blanks_as_the_tokenizer_does_it() -> None:
    assert attentive().encoder.by_chunks


def test_only_labels_that_stand_in_the_text_can_be_the_answer() -> None:
    tokenizer = words([("the cat sat near the dog", "who sat ?")])
    ids = [tokenizer.get_vocab()[word] for word in ("cat", "dog", "who")]
    config = AttentiveConfig(pair=True, vocab_size=len(tokenizer), embedding_size=8, hidden_size=8, candidates=ids)
    config.num_labels = 3
    model = assay.load((AttentiveForSequenceClassification(config).eval(), tokenizer))
    chances = model.predict([("the cat sat", "who sat ?"), ("near", "who ?")])
    assert chances[0] == pytest.approx([1, 0, 0], abs=1e-6)
    assert (chances[1] > 1e-3).all()


def test_saved_and_loaded(tmp_path: Any) -> None:
    network, tokenizer = tiny.attentive("cnn", "dot", 3, True)
    network.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    model = assay.load(tmp_path)
    pairs = [(TEXTS[0], TEXTS[1])]
    assert isinstance(model.model, AttentiveForSequenceClassification)
    assert model.fields == ("paragraph", "question")
    assert model.predict(pairs) == pytest.approx(assay.load((network, tokenizer)).predict(pairs), abs=1e-6)


@pytest.mark.parametrize("name", "attention integrated_gradients leave_one_out lime kernel_shap anchors".split())
def test_methods_explain_it(name: str) -> None:
    e = assay.explain(attentive(), TEXTS[0], name, progress=False)
    assert len(e.words) > 3


def test_the_rollout_of_one_attention_is_that_attention() -> None:
    own, rolled = (assay.explain(attentive(), TEXTS[0], n, progress=False) for n in ("attention", "attention_rollout"))
    assert rolled.scores == pytest.approx(own.scores, abs=1e-7)


def test_what_it_is_made_of_is_checked() -> None:
    with pytest.raises(UnknownName, match="did you mean 'lstm'"):
        AttentiveConfig(encoder="lstmm")  # type: ignore[arg-type]


def test_the_check_of_randomised_weights_reaches_it() -> None:
    model = attentive()
    assert Engine(model).ask(Depth()) == 2  # the encoder and the attention
    assert np.abs(model.derived("randomized:head:0").predict(TEXTS) - model.predict(TEXTS)).max() > 1e-3
    one, two = (model.derived(f"randomized:cascade:{n}:0").model for n in (1, 2))
    own = model.model
    assert torch.equal(one.encoder.forwards.weight_ih_l0, own.encoder.forwards.weight_ih_l0)
    assert not torch.equal(two.encoder.forwards.weight_ih_l0, own.encoder.forwards.weight_ih_l0)
    assert not torch.equal(one.attention.state.weight, own.attention.state.weight)
    assert torch.equal(two.embedding.weight, own.embedding.weight)

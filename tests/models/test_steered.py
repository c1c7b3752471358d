"""Transformers under other attention, against the bare model whose softmax is replaced, text by text, unpadded."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import tiny
import torch
import transformers as hf
from torch import Tensor, nn

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput, Unanswerable
from assay.models.transformers.attending import CUT
from assay.models.transformers.handlers import spread
from assay.models.transformers.handlers.adversary import attack
from assay.models.transformers.handlers.rerun import Rerun
from assay.questions.base import Aim
from assay.questions.gradients import InputGradient
from assay.questions.inside import Attention, Relevance
from assay.questions.interventions import Adversary, InterveneAttention, Search, Where
from assay.questions.predict import Predict
from assay.text.text import Text

TEXTS = [Text.of(text) for text in (*tiny.CORPUS[:4], "a funny film", "unpredictable")]
FAMILIES = {
    name: build for name, build in {**tiny.FAMILIES, "llama": tiny.llama}.items() if name not in ("deberta", "slow")
}
every_family = pytest.mark.parametrize("family", FAMILIES)
QUICK = Search(k=3, steps=12, rate=0.1)


def built(family: str = "bert") -> tuple[Any, Any]:
    return deepcopy(FAMILIES[family]())


def deep_bert(layers: int = 3) -> tuple[Any, Any]:
    tokenizer = tiny.wordpiece()
    return tiny._bert_model(tokenizer, num_hidden_layers=layers), tokenizer


def weights_for(text: Text, k: int = 3, seed: int = 0) -> Any:
    return np.random.default_rng(seed).dirichlet(np.ones(len(text)), k)


@contextmanager
def softmax_as(change: Any) -> Iterator[None]:
    """Within it `change` gets the number of each softmax that is called and its outcome, and gives another one."""
    true, calls = nn.functional.softmax, iter(range(10**6))

    def softmax(*args: Any, **kwargs: Any) -> Tensor:
        return change(next(calls), true(*args, **kwargs))  # type: ignore[no-any-return]

    nn.functional.softmax = softmax  # type: ignore[assignment]
    try:
        yield
    finally:
        nn.functional.softmax = true


def eager(model: Any) -> Any:
    copy = deepcopy(model)
    copy.set_attn_implementation("eager")
    return copy


def slow(model: Any, adapter: Any, text: Text, weights: Any, where: Where = Where()) -> Any:
    """Logits of the bare model, one attention after the other, with the sum over pieces written as loops."""
    bare, pieces, own = eager(model), adapter.task.pieces(text), []
    ids = {"input_ids": torch.tensor([pieces.ids])}
    if pieces.types is not None and "token_type_ids" in adapter.network.takes:
        ids["token_type_ids"] = torch.tensor([pieces.types])

    def keep(number: int, probabilities: Tensor) -> Tensor:
        own.append(probabilities)
        return probabilities

    with torch.no_grad(), softmax_as(keep):
        bare(**ids)
    layer = range(len(own))[where.layer]
    reader = 0 if own[0][0, 0].triu(1).any() else len(pieces) - 1

    def replaced(row: Any) -> Any:
        def change(number: int, probabilities: Tensor) -> Tensor:
            if number != layer:
                return probabilities
            looked = probabilities.clone()
            for h in range(looked.shape[1]) if where.head is None else [where.head]:
                looked[0, h, reader] = by_hand(looked[0, h, reader], row, pieces)
            torch.testing.assert_close(looked.sum(-1), torch.ones_like(looked.sum(-1)))
            return looked

        return change

    told = []
    for row in weights:
        with torch.no_grad(), softmax_as(replaced(row)):
            told.append(bare(**ids).logits[0].numpy())
    return np.array(told)


def by_hand(own: Tensor, row: Any, pieces: Any) -> Tensor:
    links = list(zip(pieces.piece.tolist(), pieces.word.tolist(), pieces.share.tolist(), strict=True))
    mass = sum(float(own[p]) * s for p, _, s in links)
    reached = {w for _, w, _ in links}
    total = sum(float(row[w]) for w in reached)
    new = own.clone()
    for p in {p for p, _, _ in links}:
        new[p] = 0.0
    for p, w, s in links:
        in_word = sum(float(own[q]) * t for q, v, t in links if v == w)
        new[p] += mass * float(row[w]) / total * float(own[p]) * s / in_word
    return new


@every_family
def test_its_own_attention_changes_nothing(family: str) -> None:
    model = assay.load(built(family))
    for text in TEXTS[:3]:
        maps, plain = Engine(model).ask(Attention(text)), Engine(model).ask(Predict(text)).logits[0]
        for layer, head in np.ndindex(*maps.weights.shape[:2]):
            own = maps.owners.per_word(maps.weights[layer, head, maps.readers[0]])
            under = Engine(model).ask(InterveneAttention(text, own, Where(layer, head))).logits
            np.testing.assert_allclose(under, plain[None], atol=1e-5)


@every_family
@pytest.mark.parametrize("where", [Where(), Where(0), Where(-1, 1), Where(0, 0)])
def test_other_attention_is_what_a_replaced_softmax_gives(family: str, where: Where) -> None:
    bare, tokenizer = built(family)
    model = assay.load((bare, tokenizer))
    for text in TEXTS[1:3]:
        weights = weights_for(text)
        found = Engine(model).ask(InterveneAttention(text, weights, where)).logits
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, slow(bare, model, text, weights, where), atol=1e-5)
        assert np.ptp(found, axis=0).max() > 1e-3


@pytest.mark.parametrize("layer", [0, 1, 2, -2])
def test_a_layer_in_the_middle(layer: int) -> None:
    bare, tokenizer = deep_bert()
    model, text = assay.load((bare, tokenizer)), TEXTS[0]
    found = Engine(model).ask(InterveneAttention(text, weights_for(text), Where(layer))).logits
    np.testing.assert_allclose(found, slow(bare, model, text, weights_for(text), Where(layer)), atol=1e-5)


def test_words_of_one_field_of_a_pair() -> None:
    bare, tokenizer = built()
    model = assay.load((bare, tokenizer))
    text = Text.of(("a funny film", "it is unpredictable"), names=("premise", "hypothesis"), focus=("hypothesis",))
    weights = weights_for(text)
    assert weights.shape[1] == 3
    found = Engine(model).ask(InterveneAttention(text, weights)).logits
    np.testing.assert_allclose(found, slow(bare, model, text, weights), atol=1e-5)


def asked(model: Any, questions: list[Any], budget: int | None = None) -> list[Any]:
    def talk(question: Any) -> Any:
        return (yield question)

    return [outcome.get() for outcome in Engine(model, budget=budget).run(map(talk, questions))]


@every_family
@pytest.mark.parametrize("layer", [-1, 0])
def test_company_changes_nothing(family: str, layer: int) -> None:
    model = assay.load(built(family))
    # Other numbers of attentions and other heads, so that rows of several kinds share a batch.
    told = [(t, weights_for(t, 1 + i % 3, i), Where(layer, None if i % 2 else 1)) for i, t in enumerate(TEXTS)]
    together = asked(model, [InterveneAttention(*one) for one in told], budget=4000)
    for one, found in zip(told, together, strict=True):
        assert found.logits.shape == (len(one[1]), 3)
        np.testing.assert_allclose(Engine(model).ask(InterveneAttention(*one)).logits, found.logits, atol=1e-5)


@pytest.mark.parametrize("layer", [-1, -2])
def test_many_attentions_go_in_parts(layer: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model, text, sizes = assay.load(deep_bert()), TEXTS[0], []
    whole = Engine(model).ask(InterveneAttention(text, weights_for(text, 50), Where(layer))).logits
    model.preferred_tokens, plain = 64, model.task.logits
    monkeypatch.setattr(model.task, "logits", lambda rows: [sizes.append(sum(len(i) for i, _ in rows)), plain(rows)][1])
    parts = Engine(model).ask(InterveneAttention(text, weights_for(text, 50), Where(layer))).logits
    assert max(sizes) <= 64
    np.testing.assert_allclose(parts, whole, atol=1e-5)


@pytest.mark.parametrize("head", [None, 1])
def test_what_is_put_in_is_attention_without_padding(head: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    model, seen, run = assay.load(built()), [], Rerun.__call__

    def spied(self: Rerun, used: Tensor) -> Tensor:
        seen.append((used, [len(one) for one in self.reading.pieces]))
        return run(self, used)

    monkeypatch.setattr(Rerun, "__call__", spied)
    asked(model, [InterveneAttention(text, weights_for(text), Where(-1, head)) for text in TEXTS], budget=4000)
    assert max(len(lengths) for _, lengths in seen) > 1
    for used, lengths in seen:
        np.testing.assert_allclose(used.sum(-1).numpy(), 1.0, atol=1e-6)
        for row, n in zip(used, lengths, strict=True):
            assert (row[:, :, n:] == 0).all()
            assert (row[:, :, :n] > 0).all()


def test_where_all_words_are_alike_attention_is_free() -> None:
    bare, tokenizer = built("words")
    bare.bert.embeddings.position_embeddings.weight.data.zero_()
    model, text = assay.load((bare, tokenizer)), Text.of("film film film film")
    np.testing.assert_allclose(
        Engine(model).ask(InterveneAttention(text, weights_for(text, 5))).logits,
        np.repeat(Engine(model).ask(Predict(text)).logits, 5, axis=0),
        atol=1e-5,
    )


class Counted(nn.Module):
    """A pooler that reads the first piece, and counts the others: one piece alone is something else to it."""

    def forward(self, states: Tensor) -> Tensor:
        return states[:, 0] * (1 + states.shape[1] / 8)


def test_a_short_cut_that_a_model_does_not_allow_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    bare, tokenizer = deep_bert()
    ways, text = [], TEXTS[0]
    ask, of = (lambda m: Engine(m).ask(InterveneAttention(text, weights_for(text))).logits), Rerun.of

    def spied(*args: Any) -> Rerun:
        ways.append(of(*args))
        return ways[-1]

    monkeypatch.setattr(Rerun, "of", spied)
    ask(assay.load((bare, tokenizer)))
    bare.bert.pooler = Counted()
    model = assay.load((bare, tokenizer))
    np.testing.assert_allclose(ask(model), slow(bare, model, text, weights_for(text)), atol=1e-5)
    Engine(model).ask(Adversary(text, QUICK))
    assert [way.way for way in ways] == ["reader", "above", "above"]


class Restless(nn.Module):
    """A layer that gives something else every time."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer, self.calls = layer, 0

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        return self.layer(*args, **kwargs) * self.calls


def test_a_model_that_answers_something_else_every_time_is_refused() -> None:
    bare, tokenizer = built()
    bare.bert.encoder.layer[1] = Restless(bare.bert.encoder.layer[1])
    with pytest.raises(Unanswerable, match="cannot be replaced"):
        Engine(assay.load((bare, tokenizer))).ask(InterveneAttention(TEXTS[0], weights_for(TEXTS[0])))
    assert bare.config._attn_implementation == "sdpa"


def state(model: Any) -> Any:
    hooks = [(*module._forward_hooks, *module._forward_pre_hooks) for module in model.modules()]
    patched = [module.__dict__.get("forward") for module in model.modules()]
    modes = [module.training for module in model.modules()]
    gradients = [parameter.grad for parameter in model.parameters()]
    return hooks, patched, modes, gradients, model.config._attn_implementation


@pytest.mark.parametrize("way", ["sdpa", "eager"])
@pytest.mark.parametrize("layer", [-1, 1])
def test_the_users_model_stays_as_it_is(way: str, layer: int) -> None:
    bare, tokenizer = deep_bert()
    bare.set_attn_implementation(way)
    bare.train()
    bare.bert.pooler.eval()
    own = bare.bert.encoder.layer[0].forward
    bare.bert.encoder.layer[0].forward = own  # as some libraries do
    before, weights = state(bare), deepcopy(bare.state_dict())
    model, text = assay.load((bare, tokenizer)), TEXTS[0]
    random = torch.get_rng_state()
    Engine(model).ask(InterveneAttention(text, weights_for(text), Where(layer)))
    Engine(model).ask(Adversary(text, QUICK, where=Where(layer)))
    model.derived("cut_attention").predict([TEXTS[0]])
    assert torch.equal(torch.get_rng_state(), random)
    assert state(bare) == before
    assert all(torch.equal(one, bare.state_dict()[name]) for name, one in weights.items())


def test_nothing_is_left_behind_when_the_model_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    bare, tokenizer = deep_bert()
    model, before, plain = assay.load((bare, tokenizer)), state(bare), []

    def fails(rows: Any) -> Any:
        plain.append(rows)
        raise RuntimeError("CUDA out of memory" if len(plain) > 1 else "no")

    assert model.answers[InterveneAttention].heads(model) == [2, 2, 2]
    monkeypatch.setattr(model.task, "logits", fails)
    with pytest.raises(assay.AssayError):
        Engine(model).ask(InterveneAttention(TEXTS[0], weights_for(TEXTS[0])))
    assert state(bare) == before


def test_it_works_within_inference_mode() -> None:
    model, text = assay.load(built()), TEXTS[0]
    with torch.inference_mode():
        under = Engine(model).ask(Adversary(text, QUICK))
    np.testing.assert_allclose(under.weights, Engine(model).ask(Adversary(text, QUICK)).weights, atol=1e-6)


@pytest.mark.parametrize("half", ["weights", "forwards"])
def test_half_precision(half: str) -> None:
    bare, tokenizer = built()
    full = Engine(assay.load((bare, tokenizer))).ask(InterveneAttention(TEXTS[0], weights_for(TEXTS[0]))).probabilities
    low = (
        assay.load((bare, tokenizer), dtype="bf16") if half == "forwards" else assay.load((bare.bfloat16(), tokenizer))
    )
    found = Engine(low).ask(InterveneAttention(TEXTS[0], weights_for(TEXTS[0]))).probabilities
    np.testing.assert_allclose(found, full, atol=0.05)
    assert np.abs(found - full).max() > 0
    adversaries = Engine(low).ask(Adversary(TEXTS[0], QUICK))
    again = Engine(low).ask(InterveneAttention(TEXTS[0], adversaries.weights)).probabilities
    np.testing.assert_allclose(again, adversaries.answers.probabilities, atol=0.02)


def test_words_that_no_piece_belongs_to_get_nothing() -> None:
    bare, tokenizer = built()
    model = assay.load((bare, tokenizer))
    text = Text.of("a \u0301 funny film")  # an accent alone, which this tokenizer takes away
    assert sorted(set(model.task.pieces(text).word.tolist())) == [0, 2, 3]
    found = Engine(model).ask(InterveneAttention(text, [[0.2, 0.5, 0.2, 0.1], [0.4, 0.0, 0.4, 0.2]])).logits
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)
    assert (Engine(model).ask(Adversary(text, QUICK)).weights[:, 1] == 0).all()


@pytest.mark.parametrize(
    ("where", "said"), [(Where(2), "no layer 2: there are 2"), (Where(-3), "no layer"), (Where(0, 5), "no head 5")]
)
def test_layers_and_heads_that_are_not_there(where: Where, said: str) -> None:
    model = assay.load(built())
    with pytest.raises(BadInput, match=said):
        Engine(model).ask(InterveneAttention(TEXTS[0], weights_for(TEXTS[0]), where))
    with pytest.raises(BadInput, match=said):
        Engine(model).ask(Adversary(TEXTS[0], QUICK, where=where))


def test_a_text_of_which_the_tokenizer_finds_nothing() -> None:
    with pytest.raises(BadInput, match="finds none"):
        Engine(assay.load(built())).ask(InterveneAttention(Text.of("\u0301"), [[1.0]]))


@pytest.mark.parametrize("wrong", [-0.1, np.nan, np.inf])
def test_weights_that_are_none_are_refused_and_their_company_is_not(wrong: float) -> None:
    model, bad = assay.load(built()), weights_for(TEXTS[1])
    bad[0, 0] = wrong

    def talk(*question: Any) -> Any:
        return (yield InterveneAttention(*question))

    good, refused = Engine(model).run([talk(TEXTS[0], weights_for(TEXTS[0])), talk(TEXTS[1], bad)])
    assert good.get().logits.shape == (3, 3)
    with pytest.raises(BadInput, match="below zero"):
        refused.get()


@pytest.mark.parametrize("pair", [tiny.deberta, tiny.slow, lambda: tiny.linear_bow()[:2], tiny.token_tagger])
def test_models_whose_attention_cannot_be_replaced_do_not_say_so(pair: Any) -> None:
    assert not {InterveneAttention, Adversary} & assay.load(pair()).answers.keys()


@every_family
def test_adversaries(family: str) -> None:
    model = assay.load(built(family))
    together = asked(model, [Adversary(text, QUICK, seed=i) for i, text in enumerate(TEXTS)], budget=4000)
    for i, (text, found) in enumerate(zip(TEXTS, together, strict=True)):
        maps = Engine(model).ask(Attention(text))
        own = maps.owners.per_word(maps.weights[-1, :, maps.readers[0]].mean(axis=0))
        np.testing.assert_allclose(found.weights[0], own / own.sum(), atol=1e-5)
        assert found.weights.shape == (4, len(text))
        np.testing.assert_allclose(found.weights.sum(axis=1), 1.0, atol=1e-6)
        fresh = Engine(model).ask(InterveneAttention(text, found.weights)).logits
        np.testing.assert_allclose(found.answers.logits, fresh, atol=1e-5)
        alone = Engine(model).ask(Adversary(text, QUICK, seed=i))
        np.testing.assert_allclose(alone.weights, found.weights, atol=1e-5)


def test_searches_from_given_weights_and_from_the_models_own_do_not_mix() -> None:
    model = assay.load(built())
    given = weights_for(TEXTS[1])[0]
    questions = [Adversary(TEXTS[0], QUICK, seed=1), Adversary(TEXTS[1], QUICK, weights=given, seed=1)]
    for order in (questions, questions[::-1]):
        for question, found in zip(order, asked(model, order, budget=4000), strict=True):
            np.testing.assert_allclose(found.weights, Engine(model).ask(question).weights, atol=1e-5)


@pytest.mark.parametrize("where", [Where(), Where(0), Where(-1, 1)])
@pytest.mark.parametrize("given", [False, True])
def test_the_search_is_that_of_the_bare_model(where: Where, given: bool) -> None:
    """The same steps, each with a forward pass of the whole model in which a softmax is replaced."""
    bare, tokenizer = built("words")
    model, text = assay.load((bare, tokenizer)), Text.of("the best and most unpredictable comedy of the year")
    pieces, copy = model.task.pieces(text), eager(bare)
    assert pieces.piece.tolist() == [1 + i for i in range(len(text))]  # a word is a piece
    maps = Engine(model).ask(Attention(text))
    heads = range(2) if where.head is None else [where.head]
    own = torch.tensor(maps.weights[where.layer, list(heads), 0][:, pieces.piece].mean(axis=0))
    own = torch.tensor(weights_for(text, 1)[0], dtype=torch.float32) if given else own / own.sum()

    def answer(tried: Tensor) -> Tensor:
        def change(number: int, probabilities: Tensor) -> Tensor:
            if number != range(2)[where.layer]:
                return probabilities
            looked = probabilities.clone()
            for h in heads:
                mass = probabilities[:, h, 0][:, pieces.piece].sum(-1, keepdim=True)
                looked[:, h, 0, 1:-1] = mass * tried[0]
            return looked

        with softmax_as(change):
            return copy(torch.tensor([pieces.ids] * tried.shape[1])).logits.softmax(-1)[None]

    slow = attack(answer, own[None], torch.ones(1, len(text), dtype=torch.bool), QUICK, [5])[0]
    found = Engine(model).ask(Adversary(text, QUICK, weights=own.numpy() if given else None, where=where, seed=5))
    np.testing.assert_allclose(found.weights[0], own.numpy(), atol=1e-5)
    np.testing.assert_allclose(found.weights[1:], slow.numpy(), atol=1e-4)


def test_a_search_keeps_within_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of a model that has no short cut are as many tokens as the text; then fewer texts go together."""
    bare, tokenizer = deep_bert()
    bare.bert.pooler = Counted()
    model, held = assay.load((bare, tokenizer)), []
    said = str(TEXTS[0]).split()
    turns = (said[i:] + said[:i] for i in range(5))  # as long as each other, as its pooler reads padding too
    texts = [Text.of(" ".join(turn)) for turn in turns]
    alone = [Engine(model).ask(Adversary(text, QUICK)).weights for text in texts]
    model.preferred_tokens, true = 170, spread.attack

    def spied(answer: Any, own: Tensor, *args: Any) -> Tensor:
        held.append(len(own) * QUICK.k * len(model.task.pieces(texts[0])))
        return true(answer, own, *args)

    monkeypatch.setattr(spread, "attack", spied)
    together = asked(model, [Adversary(text, QUICK) for text in texts], budget=170)
    assert 100 < max(held) <= 170
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_allclose(one, other.weights, atol=1e-5)


def test_a_longer_search_finds_attention_that_is_far_and_says_the_same() -> None:
    model, text = assay.load(built()), TEXTS[0]
    found = Engine(model).ask(Adversary(text, Search(k=3, steps=400, rate=0.05)))
    moved = np.abs(found.answers.probabilities[1:] - found.answers.probabilities[0]).sum(axis=1) / 2
    assert (moved < 0.05).all()
    assert np.abs(found.weights[1:] - found.weights[0]).sum(axis=1).min() > 0.3


def gradient(model: Any, text: Text, where: str | None = None) -> Any:
    question = InputGradient(text, aim=Aim(1, "logit"))
    question.model = where
    return Engine(model).ask(question)[0].scores[0]


@every_family
def test_the_graph_is_cut_at_the_attention(family: str) -> None:
    bare, tokenizer = built(family)
    model, copy = assay.load((bare, tokenizer)), eager(bare)
    for text in TEXTS[:2]:
        pieces, hold = model.task.pieces(text), []
        types = None if pieces.types is None else torch.tensor([pieces.types])

        def leaf(module: Any, args: Any, output: Tensor, hold: list[Tensor] = hold) -> Tensor:
            hold.append(output.detach().requires_grad_())
            return hold[-1]

        handle = copy.get_input_embeddings().register_forward_hook(leaf)
        with softmax_as(lambda number, probabilities: probabilities.detach()):
            inputs = {"input_ids": torch.tensor([pieces.ids])} | ({} if types is None else {"token_type_ids": types})
            logit = copy(**inputs).logits[0, 1]
        handle.remove()
        (at,) = torch.autograd.grad(logit, hold[0])
        per_piece = (at * hold[0]).sum(-1)[0].detach().double().numpy()
        expected = Engine(model).ask(Attention(text)).owners.per_word(per_piece)
        found = gradient(model, text, "@cut_attention")
        np.testing.assert_allclose(found, expected, atol=1e-4, rtol=1e-4)
        assert np.abs(found - gradient(model, text)).max() > 1e-3


@every_family
def test_the_cut_model_is_the_same_model(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = assay.load(built(family))
    cut = model.derived("cut_attention")
    texts = [str(text) for text in TEXTS]
    np.testing.assert_allclose(cut.predict(texts), model.predict(texts), atol=1e-5)
    assert all(a is b for a, b in zip(cut.model.parameters(), model.model.parameters(), strict=True))
    assert cut.model.config._attn_implementation == CUT
    assert Relevance not in cut.answers
    maps = [Engine(one).ask(Attention(TEXTS[0])).weights for one in (model, cut)]
    np.testing.assert_allclose(*maps, atol=1e-6)
    packed = pickle.dumps(cut)
    monkeypatch.delitem(hf.AttentionInterface._global_mapping, CUT)  # as in another process
    sent = pickle.loads(packed)
    np.testing.assert_allclose(gradient(sent, TEXTS[0]), gradient(cut, TEXTS[0]), atol=1e-6)


def test_only_attention_that_can_be_reached_is_cut() -> None:
    with pytest.raises(Unanswerable, match="cut_attention"):
        assay.load(tiny.deberta()).derived("cut_attention")
    with pytest.raises(Unanswerable, match="cut_attention"):
        assay.load(lambda texts: np.full(len(texts), 0.5)).derived("cut_attention")


def test_electra() -> None:
    tokenizer = tiny.wordpiece()
    config = hf.ElectraConfig(
        **tiny._settings(tokenizer, **tiny._SMALL), embedding_size=16, max_position_embeddings=tiny.WINDOW
    )
    bare = tiny.seeded(lambda: hf.ElectraForSequenceClassification(config))
    model, text = assay.load((bare, tokenizer)), TEXTS[0]
    found = Engine(model).ask(InterveneAttention(text, weights_for(text))).logits
    np.testing.assert_allclose(found, slow(bare, model, text, weights_for(text)), atol=1e-5)

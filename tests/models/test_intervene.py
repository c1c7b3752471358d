"""Interventions at heads, neurons and layers beside hooks written by hand; company; nothing is left behind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiny
import torch

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.questions.base import Conversation
from assay.questions.intervene import Activations, Intervene, Site, UnitCounts
from assay.questions.predict import Settle
from assay.text.text import Text
from hooks_by_hand import by_hand

TEXT, OTHER = Text.of("that film was good"), Text.of("good that was film")
LONG = Text.of("an utterly charming comedy with a big heart")


SITES = [
    (Site(0, "head", 1),),
    (Site(1, "head", 0),),
    (Site(0, "head"),),
    (Site(1, "neuron", 3),),
    (Site(0, "neuron"),),
    (Site(0, "layer"),),
    (Site(0, "layer", None, 2),),
    (Site(0, "head", 0, -1),),
    (Site(0, "neuron", 5, 1),),
    (Site(0, "head", 0), Site(0, "head", 1), Site(1, "neuron", 2)),
]


@pytest.mark.parametrize("value", ["zero", "mean", "text"])
def test_a_classifier_beside_hooks_by_hand(value: Any) -> None:
    network, tokenizer = tiny.bert()
    given = OTHER if value == "text" else value
    found = Engine(assay.load((network, tokenizer))).ask(Intervene(TEXT, SITES, given)).logits
    ids = tokenizer(TEXT.strings[0], return_tensors="pt")
    donor = tokenizer(OTHER.strings[0], return_tensors="pt") if value == "text" else None
    with torch.no_grad():
        expected = [by_hand(network, ids, sites, value, donor)[0].numpy() for sites in SITES]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    own = Engine(assay.load((network, tokenizer))).ask(Intervene(TEXT, [()])).logits[0]
    assert np.abs(found - own).max(axis=1).min() > 1e-6  # every one of them matters


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_a_causal_model_beside_hooks_by_hand(family: str) -> None:
    network, tokenizer = tiny.causal_lm(family)
    model = assay.load((network, tokenizer))
    engine = Engine(model)
    prompts = ["the film was good and", "the good was film and"]
    text, other = engine.ask(
        Settle(*(Text.of({"prompt": p, "continuation": " long"}, focus=("prompt",)) for p in prompts))
    )
    found = engine.ask(Intervene(text, SITES, other)).logits[:, 1]
    word = tokenizer(" long", add_special_tokens=False)["input_ids"]
    ids, donor = ({"input_ids": torch.tensor([[*tokenizer(prompt)["input_ids"], *word[:-1]]])} for prompt in prompts)
    for one, logp in zip(SITES, found, strict=True):
        logits = by_hand(network, ids, one, "text", donor)[0].log_softmax(-1)
        start = ids["input_ids"].shape[1] - len(word)
        assert logp == pytest.approx(sum(float(logits[start + j, t]) for j, t in enumerate(word)), abs=1e-4)


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_words_behind_one_prompt_are_one_row(family: str) -> None:
    """Two words of one piece behind one prompt are read off the same rows; longer words keep rows of their own."""
    network, tokenizer = tiny.causal_lm(family)
    model = assay.load((network, tokenizer))
    engine, prompts = Engine(model), ("the film was good and", "the good was film and")
    pieces = {word: len(tokenizer(word, add_special_tokens=False)["input_ids"]) for word in (" good", " film", " long")}
    short = [word for word, count in pieces.items() if count == min(pieces.values())][:2]
    longer = max(pieces, key=lambda word: pieces[word])
    fields = model.fields[:2]

    def both(word: str) -> list[Text]:
        texts = [Text.of(dict(zip(fields, (p, word), strict=True)), focus=fields[:1]) for p in prompts]
        return list(engine.ask(Settle(*texts)))

    asked = [Intervene(text, SITES, other) for text, other in map(both, [*short, longer])]
    alone = [Engine(model).ask(one).logits for one in asked]
    sizes: list[int] = []
    body = network.get_input_embeddings().register_forward_hook(lambda module, args, out: sizes.append(len(out)))

    def talk(question: Intervene) -> Conversation[Any]:
        return (yield question).logits

    together = [outcome.get() for outcome in Engine(model, budget=10_000).run([talk(one) for one in asked[:2]])]
    rows = max(sizes)
    body.remove()
    for one, other in zip(together, alone, strict=False):
        np.testing.assert_allclose(one, other, atol=1e-5)
    first = asked[0].pairs[0][0]
    asked += [Intervene(first, SITES, "zero"), Intervene(first, SITES[:3], first)]
    mixed = [outcome.get() for outcome in Engine(model, budget=10_000).run([talk(one) for one in asked])]
    for question, found in zip(asked, mixed, strict=True):
        np.testing.assert_allclose(found, Engine(model).ask(question).logits, atol=1e-5)
    assert np.abs(together[0] - together[1]).max() > 1e-3
    assert rows == len(SITES) * (1 if min(pieces.values()) == 1 else 2)


def test_words_beside_each_other_stay_in_one_batch() -> None:
    """Small batches do not part the two words of a set of sites, so no set goes through the model twice."""
    network, tokenizer = tiny.causal_lm("gpt2")
    engine, fields = Engine(assay.load((network, tokenizer)), budget=30), ("prompt", "continuation")
    (text, other), (beside, value) = (
        engine.ask(Settle(*(Text.of(dict(zip(fields, (p, word), strict=True)), focus=fields[:1]) for p in prompts)))
        for prompts in [("the film was good and", "the good was film and")]
        for word in (" good", " film")
    )
    alone = [engine.ask(Intervene(*one)).logits for one in ((text, SITES, other), (beside, SITES, value))]
    rows: list[int] = []
    body = network.get_input_embeddings().register_forward_hook(lambda module, args, out: rows.append(len(out)))
    found = Engine(engine.model, budget=30).ask(Intervene(text, SITES, other, beside=[(beside, value)])).logits
    body.remove()
    np.testing.assert_allclose(found[::2], alone[0], atol=1e-5)
    np.testing.assert_allclose(found[1::2], alone[1], atol=1e-5)
    assert np.abs(alone[0] - alone[1]).max() > 1e-3
    # Batches of four rows are two readings; single rows are the other text, whose states each batch needs.
    assert [size for size in rows if size > 1] == [2] * (len(SITES) // 2)


def test_the_same_alone_and_in_company() -> None:
    model = assay.load(tiny.bert())
    asked = [Intervene(TEXT, SITES, OTHER), Intervene(OTHER, SITES, TEXT), Intervene(LONG, SITES, "mean")]
    asked += [Intervene(LONG, [(Site(1, "head", 0, -1),)], TEXT), Intervene(TEXT, SITES, "zero")]

    def talk(question: Intervene) -> Conversation[Any]:
        return (yield question).logits

    for budget in (8, 200, 5000):
        together = [outcome.get() for outcome in Engine(model, budget=budget).run([talk(one) for one in asked])]
        for question, found in zip(asked, together, strict=True):
            np.testing.assert_allclose(found, Engine(model).ask(question).logits, atol=1e-5)


def test_full_batches() -> None:
    model = assay.load(tiny.bert())
    engine = Engine(model, budget=600)
    table = engine.ask(UnitCounts())
    assert (table.heads, table.neurons) == ((2, 2), (32, 32))
    before = engine.batcher.batches
    sites = [(site,) for site in table.sites("neuron")]
    engine.ask(Intervene(TEXT, sites, OTHER))
    length = len(model.task.pieces(TEXT))
    assert engine.batcher.batches - before <= -(-len(sites) * length // 600) + 1


def test_swapping_all_of_the_input_gives_the_other_answer() -> None:
    """What the first layer gives is all that the rest of the model sees."""
    model = assay.load(tiny.bert())
    engine = Engine(model)
    own, other = (engine.ask(Intervene(text, [()])).logits[0] for text in (TEXT, OTHER))
    swapped = engine.ask(Intervene(TEXT, [(Site(0, "layer"),)], OTHER)).logits[0]
    np.testing.assert_allclose(swapped, other, atol=1e-5)
    assert np.abs(own - other).max() > 0.01


def test_activations_are_those_of_a_hook() -> None:
    network, tokenizer = tiny.bert()
    model = assay.load((network, tokenizer))
    seen: list[torch.Tensor] = []
    handle = network.bert.encoder.layer[1].output.dense.register_forward_pre_hook(lambda m, a: seen.append(a[0]))
    with torch.no_grad():
        network(**tokenizer(TEXT.strings[0], return_tensors="pt"))
    handle.remove()
    found = Engine(assay.load((network, tokenizer))).ask(Activations(TEXT, -1)).values
    np.testing.assert_allclose(found, seen[0][0].numpy(), atol=1e-5)
    with pytest.raises(BadInput, match="there is no layer 2: there are 2"):
        Engine(model).ask(Activations(TEXT, 2))


def test_nothing_is_left_behind() -> None:
    network, tokenizer = tiny.bert.__wrapped__()  # its own: a test that asks transformers for states leaves hooks
    model = assay.load((network, tokenizer))
    weights = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    Engine(model).ask(Intervene(TEXT, SITES, OTHER))
    with pytest.raises(BadInput):
        Engine(model).ask(Intervene(TEXT, [(Site(0, "head", 9),)]))
    for one in (network, model.network.model):
        assert not any(module._forward_hooks or module._forward_pre_hooks for module in one.modules())
    assert network.config._attn_implementation == "sdpa"
    assert all(torch.equal(tensor, weights[name]) for name, tensor in network.state_dict().items())


@pytest.mark.parametrize(
    ("sites", "value", "said"),
    [
        ((Site(5, "head", 0),), "zero", "there is no layer 5: there are 2, counted from 0"),
        ((Site(0, "head", 2),), "zero", "there is no head 2 in layer 0: there are 2"),
        ((Site(0, "neuron", 99),), "zero", "there is no neuron 99"),
        ((Site(0, "layer", None, 40),), "zero", "there is no piece 40"),
        ((Site(0, "layer"),), LONG, "pieces and .* has .*: intervene at one position"),
        ((Site(0, "layer", 3),), "zero", "a site is a layer, or a head or neuron"),
        ((Site(0, "tail"),), "zero", "a site is a layer, or a head or neuron"),
        ((), "two", "is zero, mean or a text"),
    ],
)
def test_what_cannot_be_done_is_said(sites: Any, value: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        Engine(assay.load(tiny.bert())).ask(Intervene(TEXT, [sites], value))

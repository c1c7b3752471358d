"""Models with weights drawn anew: which weights, from which distribution, and that the user's model stays."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import tiny
import torch

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput, Unanswerable
from assay.models.transformers.drawing import OwnDraws
from assay.questions.inside import Depth

HEADS = {
    "bert": {"classifier"},
    "roberta": {"classifier.dense", "classifier.out_proj"},
    "distilbert": {"pre_classifier", "classifier"},
    "albert": {"classifier"},
    "deberta": {"pooler.dense", "classifier"},
    "gpt2": {"score"},
}


def loaded(family: str) -> Any:
    return assay.load(tiny.FAMILIES[family]())


def changed(model: Any, twin: Any) -> set[str]:
    """The modules that own a weight which is not the model's own."""
    ours, theirs = model.model.state_dict(), twin.model.state_dict()
    assert list(ours) == list(theirs)
    return {name.rpartition(".")[0] for name in ours if not torch.equal(ours[name], theirs[name])}


def bits(model: Any) -> dict[str, bytes]:
    return {name: tensor.numpy().tobytes() for name, tensor in model.model.state_dict().items()}


@pytest.mark.parametrize("family", HEADS)
def test_only_the_head_is_new(family: str) -> None:
    model = loaded(family)
    before, state = bits(model), torch.get_rng_state()
    twin = model.derived("randomized:head:0")
    assert changed(model, twin) == HEADS[family]
    assert bits(model) == before
    assert torch.equal(torch.get_rng_state(), state)
    assert all(tensor.isfinite().all() for tensor in twin.model.state_dict().values())


@pytest.mark.parametrize("family", HEADS)
def test_seeds_make_models(family: str) -> None:
    model = loaded(family)
    one, same, other = (bits(model.derived(f"randomized:head:{seed}")) for seed in (1, 1, 2))
    assert one == same
    assert one != other


@pytest.mark.parametrize("family", HEADS)
def test_the_global_generator_is_untouched_while_weights_are_drawn(family: str, monkeypatch: Any) -> None:
    """Another thread may draw from it at any moment."""
    model = loaded(family)
    kind, seen = type(model.model), []
    own, before = kind._init_weights, torch.get_rng_state()

    def watched(self: Any, module: Any) -> None:
        own(self, module)
        seen.append(torch.get_rng_state())

    monkeypatch.setattr(kind, "_init_weights", watched)
    model.derived("randomized:cascade:1:3")
    assert len(seen) > 1
    assert all(torch.equal(state, before) for state in seen)


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_the_weights_are_those_of_the_seed(family: str) -> None:
    """As the architecture itself draws them after torch.manual_seed."""
    model = loaded(family)
    twin = model.derived("randomized:head:7")
    (name,) = HEADS[family]
    copy = deepcopy(model.model)
    for parameter in copy.parameters():
        parameter._is_hf_initialized = False
    with torch.random.fork_rng():
        torch.manual_seed(7)
        copy._init_weights(copy.get_submodule(name))
    assert torch.equal(copy.get_submodule(name).weight, twin.model.get_submodule(name).weight)


def test_what_draws_without_a_generator_uses_the_seed_too() -> None:
    with torch.random.fork_rng():
        torch.manual_seed(5)
        expected = torch.randn(4), torch.rand(3), torch.randperm(6)
    before = torch.get_rng_state()
    with OwnDraws(5):
        drawn = torch.randn(4), torch.rand(3), torch.randperm(6)
    assert all(torch.equal(a, b) for a, b in zip(drawn, expected, strict=True))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(("dropout", "train", "draws"), [(0.0, True, False), (0.5, False, False), (0.5, True, True)])
def test_a_recurrent_layer_of_a_card_draws_for_its_dropout_alone(dropout: float, train: bool, draws: bool) -> None:
    """cuDNN's op is marked as one that draws whatever its dropout; here it is only asked, without a card."""
    op = torch.ops.aten._cudnn_rnn.default
    given = {"dropout": dropout, "train": train}
    args = [given.get(argument.name) for argument in op._schema.arguments]

    class Asked:
        tags, _schema, overloadpacket = op.tags, op._schema, op.overloadpacket

        def __call__(self, *args: object) -> str:
            return "asked"

    assert torch.Tag.nondeterministic_seeded in op.tags
    if draws:
        with pytest.raises(Unanswerable, match="takes no generator"):
            OwnDraws(5).__torch_dispatch__(Asked(), (), args)
    else:
        assert OwnDraws(5).__torch_dispatch__(Asked(), (), args) == "asked"


def test_weights_that_stay_are_shared() -> None:
    model = loaded("bert")
    twin = model.derived("randomized:cascade:1:0")
    ours, theirs = dict(model.model.named_parameters()), dict(twin.model.named_parameters())
    assert theirs["bert.encoder.layer.0.output.dense.weight"] is ours["bert.encoder.layer.0.output.dense.weight"]
    assert theirs["bert.encoder.layer.1.output.dense.weight"] is not ours["bert.encoder.layer.1.output.dense.weight"]
    assert {name for name, _ in twin.model.named_modules()} == {name for name, _ in model.model.named_modules()}


@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert", "deberta", "gpt2"])
def test_a_cascade_goes_down_layer_by_layer(family: str) -> None:
    model = loaded(family)
    assert Engine(model).ask(Depth()) == 2
    sets = [changed(model, model.derived(f"randomized:cascade:{k}:0")) for k in range(3)]
    assert HEADS[family] <= sets[0] < sets[1] < sets[2]
    embedded = {name for name in sets[2] if "embeddings" in name or "wte" in name or "wpe" in name}
    assert not embedded
    layer = {"distilbert": "transformer.layer", "gpt2": "transformer.h"}.get(family, "encoder.layer")
    assert not any(f"{layer}.0." in name for name in sets[1])
    assert any(f"{layer}.1." in name for name in sets[1])
    assert any(f"{layer}.0." in name for name in sets[2])


def test_the_pooler_belongs_to_the_cascade() -> None:
    model = loaded("bert")
    assert changed(model, model.derived("randomized:cascade:0:0")) == {"classifier", "bert.pooler.dense"}


def test_more_layers_than_there_are() -> None:
    with pytest.raises(BadInput, match="has 2 layers; 3"):
        loaded("bert").derived("randomized:cascade:3:0")


def test_the_head_is_drawn_as_the_architecture_draws_it() -> None:
    """For BERT: normal with the deviation that the config names, biases zero."""
    model = loaded("bert")
    weights = [model.derived(f"randomized:head:{s}").model.classifier for s in range(60)]
    values = torch.cat([layer.weight.flatten() for layer in weights])
    assert values.std().item() == pytest.approx(model.model.config.initializer_range, rel=0.05)
    assert values.mean().item() == pytest.approx(0, abs=0.02)
    assert all((layer.bias == 0).all() for layer in weights)


def test_the_released_way_keeps_the_bias() -> None:
    network, tokenizer = tiny.bert()
    network = deepcopy(network)
    torch.nn.init.constant_(network.classifier.bias, 0.25)
    model = assay.load((network, tokenizer))
    layers = [model.derived(f"randomized:released:{seed}").model.classifier for seed in range(60)]
    bound = np.sqrt(6 / (24 + 3))
    values = torch.cat([layer.weight.flatten() for layer in layers]).detach().numpy()
    assert np.abs(values).max() <= bound
    assert np.abs(values).max() > 0.99 * bound
    assert values.std() == pytest.approx(bound / np.sqrt(3), rel=0.05)
    assert all((layer.bias == 0.25).all() for layer in layers)


def test_a_tied_head_lets_go_of_the_embeddings() -> None:
    model = assay.load(tiny.masked_lm())
    twin = model.derived("randomized:released:0")
    assert torch.equal(twin.model.get_input_embeddings().weight, model.model.get_input_embeddings().weight)
    assert changed(model, twin)


def test_models_of_the_users_own() -> None:
    """Without a base model the last linear layer counts, drawn by its own rule; without one there is an error."""
    bow = tiny.linear_bow()
    with pytest.raises(Unanswerable, match="no linear layer"):
        assay.load((bow.model, bow.tokenizer)).derived("randomized:head:0")


def test_the_mode_and_the_labels_are_the_same() -> None:
    model = loaded("bert")
    twin = model.derived("randomized:head:0")
    assert (twin.labels, twin.fields, twin.model.training) == (model.labels, model.fields, False)
    assert twin.name == f"{model.name}@randomized:head:0"


@pytest.mark.parametrize("family", ["bert", "roberta", "gpt2"])
def test_an_untrained_model_has_no_weight_of_the_trained_one(family: str) -> None:
    network, tokenizer = deepcopy(tiny.FAMILIES[family]())
    with torch.no_grad():  # tiny models are as they were drawn: their constants would be drawn again as they are
        for weight in network.parameters():
            weight.add_(0.01)
    model = assay.load((network, tokenizer))
    before = bits(model)
    twin, again, other = (model.derived(f"randomized:all:{seed}") for seed in (1, 1, 2))
    ours, theirs = model.model.state_dict(), twin.model.state_dict()
    assert all(not torch.equal(ours[name], theirs[name]) for name, _ in model.model.named_parameters())
    assert bits(twin) == bits(again) != bits(other)
    assert bits(model) == before
    assert all(tensor.isfinite().all() for tensor in theirs.values())

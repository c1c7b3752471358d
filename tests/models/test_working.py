"""The twin that Assay runs: the user's own weights in modules of its own, and what the user changes later is seen."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import tiny
import torch
from torch import nn

import assay
from assay.models.transformers.working import Working

TEXTS = ["a good film", "the plot is not good", "a bad bad film and a dull plot"]


def fresh() -> tuple[Any, Any]:
    net, tokenizer = tiny.bert.__wrapped__()
    return deepcopy(net), tokenizer


def scores(model: Any, method: str = "leave_one_out") -> list[Any]:
    return [e.scores for e in assay.explain(model, list(TEXTS), method, progress=False)]


def test_a_twin_has_the_weights_and_buffers_of_the_model_and_modules_of_its_own() -> None:
    net, tokenizer = fresh()
    network = assay.load((net.train(), tokenizer)).network  # type: ignore[attr-defined]
    assert network.own is net
    assert not set(network.model.modules()) & set(net.modules())
    assert network.model.config is not net.config
    ours, theirs = (dict([*one.named_parameters(), *one.named_buffers()]) for one in (network.model, net))
    assert {name: tensor.data_ptr() for name, tensor in ours.items()} == {n: t.data_ptr() for n, t in theirs.items()}
    assert all(module.training for module in net.modules())
    assert not any(module.training for module in network.model.modules())
    assert all(weight.requires_grad for weight in net.parameters())


def test_tied_weights_are_tied_in_the_twin() -> None:
    net, _ = tiny.masked_lm()
    twin = Working(deepcopy(net)).model
    assert twin.get_output_embeddings().weight is twin.get_input_embeddings().weight


def doubled(net: Any) -> None:
    with torch.no_grad():
        net.classifier.weight.mul_(2)


def loaded(net: Any) -> None:
    net.load_state_dict({name: tensor * 0.5 for name, tensor in net.state_dict().items()})


def assigned(net: Any) -> None:
    net.load_state_dict({name: tensor * 0.5 for name, tensor in net.state_dict().items()}, assign=True)


def other_data(net: Any) -> None:
    net.classifier.weight.data = net.classifier.weight.data * 3


def other_type(net: Any) -> None:
    net.double()


def other_layer(net: Any) -> None:
    old = net.classifier
    net.classifier = nn.Linear(old.in_features, old.out_features)


def other_setting(net: Any) -> None:
    net.bert.encoder.layer[0].output.LayerNorm.eps = 0.5


def listening(net: Any) -> None:
    net.classifier.register_forward_hook(lambda module, args, output: output * 2)


def other_forward(net: Any) -> None:
    forward = net.classifier.forward
    net.classifier.forward = lambda states: forward(states) * 2


CHANGES = (doubled, loaded, assigned, other_data, other_type, other_layer, other_setting, listening, other_forward)


@pytest.mark.parametrize("change", CHANGES, ids=[change.__name__ for change in CHANGES])
@pytest.mark.parametrize("method", ["leave_one_out", "integrated_gradients"])
def test_what_the_user_changes_later_is_seen(change: Callable[[Any], None], method: str) -> None:
    net, tokenizer = fresh()
    net.eval()
    model = assay.load((net, tokenizer))
    before = scores(model, method)
    torch.manual_seed(3)
    change(net)
    after = scores(model, method)
    for one, other in zip(after, scores(assay.load((net, tokenizer)), method), strict=True):
        np.testing.assert_array_equal(one, other)
    assert any(not np.array_equal(one, other) for one, other in zip(before, after, strict=True))


def test_an_object_whose_method_is_a_hook_is_not_copied_with_it() -> None:
    class Counter:
        def __init__(self) -> None:
            self.calls = 0

        def count(self, *_: Any) -> None:
            self.calls += 1

    counter, (net, tokenizer) = Counter(), fresh()
    net.classifier.register_forward_hook(counter.count)
    scores(assay.load((net, tokenizer)))
    assert counter.calls


class Uncopyable:
    def __deepcopy__(self, memo: Any) -> Any:
        raise TypeError("there is only one of me")


def test_a_model_that_cannot_be_copied_is_worked_on_itself_by_one_thread_at_a_time() -> None:
    (net, tokenizer), (other, _) = fresh(), fresh()
    expected = {
        name: scores(assay.load((other, tokenizer)), name) for name in ("leave_one_out", "integrated_gradients")
    }
    net.something = Uncopyable()
    models = [assay.load((net.train(), tokenizer)) for _ in range(2)]
    assert models[0].network.model is net  # type: ignore[attr-defined]
    ready = threading.Barrier(4)

    def explained(i: int) -> None:
        ready.wait(30)
        for name in expected:
            for one, wanted in zip(scores(models[i % 2], name), expected[name], strict=True):
                np.testing.assert_array_equal(one, wanted)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(explained, range(4)))
    assert all(module.training for module in net.modules())

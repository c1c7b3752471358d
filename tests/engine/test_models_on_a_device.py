"""Other models that questions name: they run on the device of the explained model."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import tiny

import assay
from assay.engine.engine import Engine
from assay.models import TextModel


def named(model: TextModel) -> TextModel:
    writer = assay.load(deepcopy(tiny.causal_lm("gpt2")))
    return Engine(model, resolve=lambda name: writer).models["writer"]


def test_a_writer_is_moved_to_the_device_of_the_explained_model() -> None:
    elsewhere = assay.load(deepcopy(tiny.bert())).on_device("meta")  # in the place of a GPU
    assert named(elsewhere).device.type == "meta"  # type: ignore[attr-defined]


def test_beside_a_model_on_the_cpu_and_one_without_a_device_it_stays() -> None:
    for model in (assay.load(tiny.bert()), assay.BlackBox(lambda texts: np.zeros(len(texts)), labels=["a", "b"])):
        assert named(model).device.type == "cpu"  # type: ignore[attr-defined]

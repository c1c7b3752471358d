"""What the sweep found and was mended, cell by cell; each of them was wrong or raised."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

import assay
from sweep.compared import METHODS
from sweep.made_tiny import tiny
from sweep.run import read, swept

FOUND = {
    ("albert", "span", "leave_one_out"): "right",  # an answer behind a lone mark of a blank was another answer
    ("deberta-v2", "masked", "leave_one_out"): "right",  # the first word of a text, without its mark
    ("doge", "classification", "value_zeroing"): "right",  # its attention is called by keywords
    ("falcon", "classification", "attention"): "refused",  # asked for its maps it gives another answer
    ("gpt_oss", "classification", "attn_lrp"): "right",  # a row that is booked alone stood beside its own copies
    ("reformer", "span", "leave_one_out"): "right",  # beside a row of more chunks it answers otherwise
    ("reformer", "masked", "attn_lrp"): "refused",  # it lets no gradient back in evaluation mode
    ("rwkv", "causal", "attn_lrp"): "refused",  # it writes over what its gradient needs
    ("gemma3n_text", "causal", "heads"): "refused",  # its layers give several vectors a piece
    ("gemma4_text", "causal", "written"): "right",  # each of its layers has its own number of heads
    ("roformer", "classification", "projections"): "right",  # its places are read from a shape, not from tokens
    (
        "longformer",
        "classification",
        "tracin_all_layers",
    ): "right",  # "memory" in an error was taken for too little of it
    ("roformer", "classification", "tracin_all_layers"): "right",  # its vectors of places are looked up by a shape
    ("qwen2_moe", "tagging", "neurons"): "refused",  # the gate of an expert was taken for what neurons feed
    ("roberta", "causal", "written"): "right",  # told to count its places from 0, it wrote something else
    ("t5", "classification", "replacements"): "refused",  # the gradient of a text that is read twice
    ("t5", "tagging", "heads"): "right",  # a layer was its attention alone
    ("t5gemma", "tagging", "input_x_gradient"): "refused",  # its decoder reads the text again
    ("t5gemma", "tagging", "attention_rollout"): "refused",
    ("xmod", "classification", "value_zeroing"): "right",  # its layers take a language for each text
}


@pytest.mark.parametrize(("kind", "task", "method"), FOUND)
def test_is_mended(kind: str, task: str, method: str) -> None:
    cell = swept(kind, task, [method])["cells"][method]
    assert (cell["state"], method in METHODS) == (FOUND[kind, task, method], True), cell


def test_results_of_several_runs_are_one_line(tmp_path: Path) -> None:
    lines = [
        {"kind": "bert", "task": "span", "code": "new", "cells": {"a": 1, "b": 1}},
        {"kind": "bert", "task": "span", "code": "old", "cells": {"c": 1}},
        {"kind": "bert", "task": "span", "code": "new", "cells": {"b": 2}},
        {"kind": "doge", "task": "span", "code": "new", "left_out": "large"},
    ]
    path = tmp_path / "results.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    found = read(path, "new")
    assert found["bert", "span"]["cells"] == {"a": 1, "b": 2}
    assert found["doge", "span"]["left_out"] == "large"
    assert read(path)["bert", "span"]["cells"] == {"a": 1, "b": 2, "c": 1}


def test_a_weight_without_dimensions_can_be_fingerprinted() -> None:
    model, tokenizer = tiny("bert", "classification")
    model.register_parameter("temperature", torch.nn.Parameter(torch.tensor(1.0)))
    before = assay.load((model, tokenizer)).fingerprint()
    model.temperature.data.fill_(2.0)
    assert assay.load((model, tokenizer)).fingerprint() != before

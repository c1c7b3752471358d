"""The packed encoder as the adapters' recipes see it: dequantised, with a fresh head, ready to train or to score."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from transformers import BertTokenizer

from assay_zoo.loading import ARCHITECTURES, CONFIG, ENCODER, TOKENIZER, assemble, configure, tokenizer
from assay_zoo.packing import State, dequantise, merge

Facts = dict[str, Any]
Model = Any  # the parts of a transformers model are known when it runs, not when it is checked
READS = [ENCODER, CONFIG, TOKENIZER]
PAD, CLS, SEP, MASK = 0, 101, 102, 103


def state(out: Path) -> State:
    """The encoder's weights, after dequantising."""
    if not (out / ENCODER).exists():
        raise SystemExit(f"{out / ENCODER} is missing: run zoo/recipes/mlm.py with the same --out first")
    return dequantise(load_file(out / ENCODER))


def pieces(out: Path) -> BertTokenizer:
    """The tokenizer."""
    return tokenizer(out / TOKENIZER)


def config(out: Path, labels: tuple[str, ...]) -> Any:
    """The configuration (a BertConfig) with a task's labels."""
    return configure(out / CONFIG, labels=labels, attn_implementation=None)


def fresh(out: Path, task: str, labels: tuple[str, ...]) -> Model:
    """A model for a task with a random head on the encoder."""
    weights, settings = state(out), config(out, labels)
    return assemble(ARCHITECTURES[task], settings, head(task, settings) | weights)


def head(task: str, settings: Any) -> State:
    """Random weights for the layers above the encoder."""
    width = settings.hidden_size
    if task == "question-answering":
        return linear("qa_outputs", 2, width)
    return linear("bert.pooler.dense", width, width) | linear("classifier", settings.num_labels, width)


def linear(name: str, rows: int, columns: int) -> State:
    """A random linear layer."""
    return {f"{name}.weight": 0.02 * torch.randn(rows, columns), f"{name}.bias": torch.zeros(rows)}


def packed(out: Path, task: str, labels: tuple[str, ...], adapter: State) -> Model:
    """The model as a user will load it: the encoder with the stored adapter merged."""
    return assemble(ARCHITECTURES[task], config(out, labels), merge(state(out), adapter))


def dump(path: Path, facts: Facts) -> None:
    """Write json."""
    path.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")

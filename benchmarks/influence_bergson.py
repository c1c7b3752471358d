"""TracIn of a language model beside bergson: the same products of gradients, in one process, taking turns.

    python benchmarks/influence_bergson.py [--rows 2000] [--queries 50] [--turns 3]
    pip install --no-deps bergson datasets dill multiprocess xxhash jaxtyping wadler-lindig ml_dtypes natsort peft \
        petname simple-parsing docstring-parser torchopt optree       # bergson 2.5 names more, which it does not import

The model is a Llama with random weights, the texts are made by code; speed does not depend on what they say. Explained
is the log-probability of the last word of each query, by the gradients of all linear layers of the decoder. Neither
tool projects them: bergson keeps those of the queries in memory and scores each batch of training texts as its
gradients come by (`InMemoryCollector` with a `Scorer`), which writes nothing to disk. Ours is from texts to
explanations; bergson is given token ids and the queries as one batch after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import torch
import typer
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

import assay
from assay.engine.engine import Engine
from texts import sentences

BATCH = 64


def made(texts: list[str], width: int, layers: int) -> tuple[Any, Any]:
    """A Llama with random weights that knows the words of these texts."""
    words = sorted({word for text in texts for word in text.split()})
    known = {word: i for i, word in enumerate(["[PAD]", "[UNK]", "[EOS]", *words])}
    inner = Tokenizer(models.WordLevel(known, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="[PAD]", unk_token="[UNK]", eos_token="[EOS]", padding_side="left"
    )
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(known),
        hidden_size=width,
        intermediate_size=3 * width,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=64,
        pad_token_id=0,
        eos_token_id=2,
        bos_token_id=None,
    )
    return LlamaForCausalLM(config).eval(), tokenizer


def bergson_scores(network: Any, tokenizer: Any, train: list[str], asked: list[tuple[str, str]]) -> np.ndarray:
    """[queries, rows]: the gradient of each query's loss with that of each text's mean loss."""
    from bergson import CollectorComputer, InMemoryCollector
    from bergson.config.config import IndexConfig
    from bergson.score.score_writer import InMemorySequenceScoreWriter
    from bergson.score.scorer import Scorer
    from datasets import Dataset

    rows = Dataset.from_dict({"input_ids": tokenizer(train)["input_ids"]})
    ids = [(tokenizer(one)["input_ids"], tokenizer(two)["input_ids"]) for one, two in asked]
    queries = Dataset.from_dict({"input_ids": [a + b for a, b in ids], "labels": [[-100] * len(a) + b for a, b in ids]})

    def collected(out: str, data: Any, reduction: str, scorer: Any = None) -> Any:
        cfg = IndexConfig(run_path=f"{out}/{reduction}", loss_reduction=reduction)
        Path(f"{cfg.run_path}.part").mkdir()  # it counts its texts there
        collector = InMemoryCollector(model=network.base_model, data=data, cfg=cfg, scorer=scorer)
        order = sorted(range(len(data)), key=lambda i: len(data[i]["input_ids"]))
        batches = [order[at : at + BATCH] for at in range(0, len(order), BATCH)]
        CollectorComputer(network, data, collector=collector, batches=batches, cfg=cfg).run_with_collector_hooks()
        return collector

    network.requires_grad_(True)
    with TemporaryDirectory() as out:
        known = collected(out, queries, "sum").gradients
        writer = InMemorySequenceScoreWriter(len(rows), len(queries))
        scorer = Scorer(known, list(known), writer, torch.device("cpu"), torch.float32)
        found = collected(out, rows, "mean", scorer).scores
    network.requires_grad_(False)
    return np.asarray(found.numpy().T)


def timed(job: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    began = perf_counter()
    found = job()
    return perf_counter() - began, found


def main(
    rows: int = 2000, queries: int = 50, turns: int = 3, words: int = 16, width: int = 256, layers: int = 4
) -> None:
    texts = sentences(rows + queries, words)
    train, asked = texts[:rows], [tuple(text.rsplit(" ", 1)) for text in texts[rows:]]
    network, tokenizer = made(texts, width, layers)
    model: Any = assay.load((network, tokenizer))

    def ours(some: list[str], of: list[Any]) -> np.ndarray:
        found = assay.explain(
            None, of, "tracin", engine=Engine(model), train=some, layers="proj", scalar="logit", progress=False
        )
        return np.array([e.scores for e in found])

    theirs = partial(bergson_scores, network, tokenizer)
    ours(train[:64], asked[:2]), theirs(train[:64], asked[:2])  # what is done once
    pairs = [(timed(lambda: ours(train, asked)), timed(lambda: theirs(train, asked))) for _ in range(turns)]
    ratios = sorted(other[0] / own[0] for own, other in pairs)
    (own, found), (other, peer) = pairs[-1]
    size = sum(one.numel() for name, one in network.named_parameters() if "proj" in name)
    print(f"{rows} x {queries}, {size / 1e6:.1f} million weights: ours {own:.1f} s, bergson {other:.1f} s")
    print(f"  bergson / ours {median(ratios):.2f} [{ratios[0]:.2f}, {ratios[-1]:.2f}] over {turns} turns")
    far = np.abs(found - peer).max() / np.abs(peer).max()
    least = min(np.corrcoef(a, b)[0, 1] for a, b in zip(found, peer, strict=True))
    print(f"  largest distance beside the largest score {far:.1e}, least r {least:.6f}", flush=True)


if __name__ == "__main__":
    typer.run(main)

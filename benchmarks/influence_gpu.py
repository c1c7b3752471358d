"""An index of gradients of a large training set: rows a second, bytes a row, and what a query takes.

    python benchmarks/influence_gpu.py [--rows 100000] [--device cuda] [--project 512] [--layers all]
    python benchmarks/influence_gpu.py --rows 300 --device cpu --turns 1 --layers last:1         # a small try

The model is an encoder of six layers, 384 wide, with 22.7 million parameters drawn at random, and the texts are words
of its vocabulary drawn at random: speed does not depend on what they say. `index` writes the projected gradients of all
parameters. The bare pass is the same rows, forward and backward, with nothing around it: ids made beforehand, sorted by
length, packed by tokens; each row's gradients are not told apart there. A query is `explain -m trak --index DIR`: the
first one reads the index and factors its second moments, later ones are a gradient and a matrix product.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import torch
import typer
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

import assay
from assay.engine.engine import Engine

VOCABULARY, SPECIAL = 30522, ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def made(device: str) -> tuple[Any, Any]:
    """The model and its tokenizer, from one seed."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1536,
        max_position_embeddings=128,
        num_labels=2,
        id2label={0: "negative", 1: "positive"},
        label2id={"negative": 0, "positive": 1},
    )
    words = [*SPECIAL, *(f"w{i}" for i in range(VOCABULARY - len(SPECIAL)))]
    inner = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    named = {name: f"[{name[:-6].upper()}]" for name in ("pad_token", "unk_token", "cls_token", "sep_token")}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, mask_token="[MASK]", **named)
    return BertForSequenceClassification(config).eval().to(device), tokenizer


def texts(count: int, longest: int, seed: int = 0) -> list[str]:
    """Of random words, from 4 to `longest` of them."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(4, longest + 1, count)
    words = rng.integers(0, VOCABULARY - len(SPECIAL), int(lengths.sum()))
    return [" ".join(f"w{i}" for i in part) for part in np.split(words, np.cumsum(lengths)[:-1])]


def bare(network: Any, tokenizer: Any, rows: list[str], tokens: int) -> Callable[[], None]:
    """Forward and backward over the rows in full batches."""
    ids = sorted((tokenizer(text)["input_ids"] for text in rows), key=len)
    device = network.device

    def run() -> None:
        at = 0
        while at < len(ids):
            size = max(1, tokens // len(ids[min(at + 1, len(ids) - 1)]))
            batch = [torch.tensor(one) for one in ids[at : at + size]]
            padded = torch.nn.utils.rnn.pad_sequence(batch, batch_first=True).to(device)
            network(input_ids=padded, attention_mask=(padded > 0).long()).logits[:, 0].sum().backward()
            network.zero_grad()
            at += size

    return run


def timed(job: Callable[[], Any], device: str) -> tuple[float, Any]:
    began = perf_counter()
    found = job()
    if device != "cpu":
        torch.cuda.synchronize()
    return perf_counter() - began, found


def main(
    rows: int = 100_000,
    project: int = 512,
    layers: str = "all",
    device: Annotated[str, typer.Option()] = "cuda" if torch.cuda.is_available() else "cpu",
    turns: int = 5,
    longest: int = 40,
    profile: bool = False,
) -> None:
    network, tokenizer = made(device)
    model: Any = assay.load((network, tokenizer))
    size = sum(one.numel() for one in network.parameters())
    name = torch.cuda.get_device_name() if device != "cpu" else "CPU"
    print(
        f"{size / 1e6:.1f} million parameters on {name}, torch {torch.__version__}, layers {layers}, project {project}"
    )
    made_up = texts(rows, longest)
    train = [(text, ("negative", "positive")[i % 2]) for i, text in enumerate(made_up)]
    some = min(rows, 2000)
    timed(lambda: assay.explain(model, made_up[0], "tracin", train=train[:64], progress=False), device)
    seconds, _ = timed(bare(network, tokenizer, made_up[:some], model.preferred_tokens), device)
    print(f"bare forward and backward: {some / seconds:,.0f} rows a second", flush=True)
    with TemporaryDirectory() as out:
        build(model, train, Path(out) / "index", layers, project, device, profile)
        query(model, texts(turns + 1, longest, seed=1), Path(out) / "index", device)
    if device != "cpu":
        print(f"most memory on the device: {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")


def build(
    model: Any, train: list[tuple[str, str]], out: Path, layers: str, project: int, device: str, profile: bool
) -> None:
    job = lambda: assay.index(model, train, out, layers=layers, project=project, progress=False)  # noqa: E731
    if profile:
        import cProfile
        import pstats

        profiler = cProfile.Profile()
        profiler.runcall(job)
        pstats.Stats(profiler).sort_stats("tottime").print_stats(25)
        return
    seconds, index = timed(job, device)
    held = sum(path.stat().st_size for path in out.iterdir())
    numbers = sum(path.stat().st_size for path in out.glob("*.safetensors"))
    print(f"index of {len(index):,} rows: {seconds:.1f} s, {len(index) / seconds:,.0f} rows a second")
    print(f"bytes a row: {held / len(index):,.0f}, of which gradients {numbers / len(index):,.0f}", flush=True)


def query(model: Any, asked: list[str], out: Path, device: str) -> None:
    """The first one, and the median of the others, each an explanation of its own."""
    engine, times = Engine(model), []
    for text in asked:
        job = lambda text=text: assay.explain(model, text, "trak", index=out, engine=engine, progress=False)  # noqa: E731
        seconds, e = timed(job, device)
        times.append(seconds)
    later = sorted(times[1:])
    print(
        f"first query {times[0]:.2f} s; each later one {1000 * later[len(later) // 2]:.0f} ms, median of {len(later)}"
    )
    print(json.dumps({"scores": len(e.scores), "finite": bool(np.isfinite(e.scores).all())}))


if __name__ == "__main__":
    typer.run(main)

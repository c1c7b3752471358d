"""phrases: the second part of the masked language model, a low-rank adapter that has read phrases without a sentence.

The encoder learned from sentences and longer windows. Of a bare phrase ("hot [MASK] balloons") it knows little, and
repeats what stands beside the hole. Changing the encoder would change the ground under the other adapters, so this is
an adapter like theirs: half of its batches are cut out of the stream anywhere, three to ten pieces long, the others are
those of mlm.py, so that sentences are filled as well as before. Run after mlm.py; it scores both and writes the card.
"""

import time
from typing import Any

import card
import corpus
import encoder
import masked
import mlm
import numpy as np
import torch
from corpus import Corpus
from encoder import Model
from lora import adapter_state, add_lora
from masked import Reader
from options import Options, options
from pretrain import FINISH
from safetensors.torch import save_file
from torch import Tensor, nn
from train import Plan, half_precision, slope
from transformers import BertForMaskedLM

from assay_zoo.loading import assemble

PLAN = Plan(epochs=1, batch=2048, rate=3e-4, rank=32)  # a batch is counted in token slots
STEPS = 400  # ten minutes of one core
WIDTHS = {5: 0.2, 6: 0.15, 8: 0.1, 12: 0.05}  # of phrases with [CLS] and [SEP]; sentences and windows have the rest
LOOK = 100


def run(chosen: Options) -> None:
    """Train, pack, score what was packed, write the card of the masked language model."""
    began = time.perf_counter()
    text = corpus.build(chosen.data, encoder.pieces(chosen.out).backend_tokenizer, limit=40 if chosen.quick else None)
    print(text.counts, f"{time.perf_counter() - began:.0f}s", flush=True)
    adapter = train(chosen, text)
    save_file(adapter, chosen.out / "mlm.safetensors")
    shares = {str(width): share for width, share in WIDTHS.items()}
    own = PLAN.facts() | {"steps": steps(chosen), "phrases by width": shares}
    own |= card.machine(chosen.device, time.perf_counter() - began, chosen.seed)
    mlm.finish(chosen, text, card.read(chosen.out, "mlm")["training"] | {"adapter": own})


def steps(chosen: Options) -> int:
    """How many updates."""
    return 12 if chosen.quick else chosen.steps or STEPS


def train(chosen: Options, text: Corpus) -> dict[str, Tensor]:
    """The adapter and its head."""
    model = begun(chosen)
    readers = kinds(text, PLAN.batch, chosen.device)
    counts = {name: max(1, masked.hidden_count(reader)) for name, reader in readers.items()}
    trainable = [tensor for tensor in model.parameters() if tensor.requires_grad]
    optimiser = torch.optim.AdamW(trainable, PLAN.rate, (0.9, 0.98), weight_decay=PLAN.decay)
    rng, names, shares, total = np.random.default_rng(chosen.seed), list(readers), mixture(readers), steps(chosen)
    began = time.perf_counter()
    for step in range(total):
        name = names[rng.choice(len(names), p=shares)]
        optimiser.param_groups[0]["lr"] = PLAN.rate * slope(step / total, PLAN.warm_up)
        value = update(model, optimiser, readers[name], counts[name], trainable, chosen.device)
        if step % LOOK == 0:
            print(f"step {step}/{total} {name} {value.item():.3f} {time.perf_counter() - began:.0f}s", flush=True)
    return adapter_state(model)


def begun(chosen: Options) -> Model:
    """The packed masked language model with low-rank changes to learn; its decoder stays the embedding table."""
    model: Model = assemble(BertForMaskedLM, encoder.config(chosen.out, ()), encoder.state(chosen.out))
    add_lora(model, PLAN.rank)
    return model.to(chosen.device)


def kinds(text: Corpus, slots: int, device: str) -> dict[str, Reader]:
    """The readers of mlm.py, and phrases."""
    stream = torch.from_numpy(text.stream.astype("int32")).to(device)
    phrases = {f"phrase {width}": Reader(stream, width, slots // width) for width in WIDTHS}
    return phrases | masked.readers(text, slots, device)


def mixture(readers: dict[str, Reader]) -> Any:
    """How often each kind of batch comes."""
    rest = 1 - sum(WIDTHS.values())
    shares = [WIDTHS[reader.width] if "phrase" in name else rest * FINISH[name] for name, reader in readers.items()]
    return np.array(shares) / sum(shares)


def update(
    model: Model, optimiser: torch.optim.Optimizer, reader: Reader, count: int, trainable: list[Any], device: str
) -> Tensor:
    """One step."""
    ids, _ = reader.draw()
    inputs, places, wanted = masked.hide(ids, count)
    with half_precision(device):
        hidden = masked.states(model.bert, inputs, reader.source.dim() == 2)
        value = masked.head_loss(model.cls, hidden.flatten(0, 1)[places], wanted)
    optimiser.zero_grad()
    value.backward()
    nn.utils.clip_grad_norm_(trainable, 1.0)
    optimiser.step()
    return value.detach()


if __name__ == "__main__":
    run(options(__doc__))

"""mlm: the masked language model that all adapters stand on, all-MiniLM-L6-v2 fine-tuned in full.

Batches of 65,536 token slots: windows of 128 and 512 pieces of a stream, and single sentences; the share of sentences
grows while training goes on. The number of steps is what fits into --minutes on the device at hand, or --steps.
"""

import time
from dataclasses import replace
from typing import Any

import base
import card
import clean
import cloze
import corpus
import data as read
import encoder
import masked
import torch
from corpus import Corpus
from encoder import Model
from masked import Reader
from options import Options, options
from pretrain import DECAY, FINISH, RATE, START, WARM_UP, Clock, Job, pretrain
from safetensors.torch import load_file, save_file
from torch import nn
from train import half_precision
from transformers import BertForMaskedLM

from assay_zoo.loading import CONFIG, ENCODER, TOKENIZER, assemble
from assay_zoo.packing import State, quantise

SLOTS = 65_536
TASK, ADAPTER = "fill-mask", "mlm.safetensors"
LICENCES = {
    "wikipedia": ("English Wikipedia, paragraphs", "CC BY-SA 3.0"),
    "imdb": ("IMDb train reviews", "no explicit licence, research use, cite Maas et al. 2011"),
    "sst": ("SST train sentences", "research use, cite Socher et al. 2013"),
    "snippets": ("movie snippets and plots (subjectivity data set)", "CC BY 4.0, Pang and Lee 2004"),
    "pairs": ("SNLI and counterfactual NLI pairs", "SNLI CC BY-SA 4.0; counterfactual data Apache-2.0"),
}
KEPT_OUT = (
    "SST dev and test sentences (also inside reviews; snippets that share six words in a row with one), the pairs of "
    "the clean SNLI premises, the Wikipedia paragraphs scored below, IMDb test."
)


def run(chosen: Options) -> None:
    """Train, pack, score what was packed, write the card."""
    began = time.perf_counter()
    where = base.folder(chosen.base)
    base.tokenizer(where).save(str(chosen.out / TOKENIZER))
    encoder.dump(chosen.out / CONFIG, base.config(where))
    text = corpus.build(chosen.data, base.tokenizer(where), limit=40 if chosen.quick else None)
    print(text.counts, f"{time.perf_counter() - began:.0f}s", flush=True)
    model = fresh(base.weights(where), encoder.config(chosen.out, ()), chosen.device)
    job = prepare(model, text, chosen)
    told = pretrain(job, Clock(60 * chosen.minutes, 12 if chosen.quick else chosen.steps, began))
    save_file(quantise(stored(model)), chosen.out / ENCODER)
    (chosen.out / ADAPTER).unlink(missing_ok=True)  # that of phrases.py fits another encoder
    seconds = time.perf_counter() - began
    print(f"packed after {seconds:.0f}s", told, flush=True)
    finish(chosen, text, settings(chosen) | told | card.machine(chosen.device, seconds, chosen.seed))


def fresh(weights: State, config: Any, device: str) -> Model:
    """The base encoder under a fresh masked-LM head whose decoder is the embedding table; without dropout."""
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
    width = config.hidden_size
    head = encoder.linear("cls.predictions.transform.dense", width, width)
    head |= {"cls.predictions.transform.LayerNorm.weight": torch.ones(width)}
    head |= {"cls.predictions.transform.LayerNorm.bias": torch.zeros(width)}
    head |= {"cls.predictions.bias": torch.zeros(config.vocab_size)}
    model: Model = assemble(BertForMaskedLM, config, head | weights)
    return model.to(device).train()


def prepare(model: Model, text: Corpus, chosen: Options) -> Job:
    """The readers, with what the untouched encoder thinks of every sentence."""
    readers = masked.readers(text, 2048 if chosen.quick else SLOTS, chosen.device)
    if chosen.keep > 0:
        readers = {name: with_meaning(model, reader, chosen.device) for name, reader in readers.items()}
    near = nn.Linear(model.config.hidden_size, model.config.hidden_size, bias=False).to(chosen.device)
    nn.init.eye_(near.weight)
    return Job(model, readers, near, chosen.keep, chosen.device, chosen.seed)


def with_meaning(model: Model, reader: Reader, device: str) -> Reader:
    """A reader of sentences that knows what the base thought of each."""
    if reader.source.dim() == 1:
        return reader
    with half_precision(device):
        return replace(reader, meaning=masked.meanings(model.bert, reader.source))


def stored(model: Model) -> State:
    """The weights that are stored: the decoder is the embedding table and is not stored twice."""
    return {name: t.detach().cpu() for name, t in model.state_dict().items() if ".decoder." not in name}


def settings(chosen: Options) -> dict[str, Any]:
    """What the card tells about how it was trained."""
    shares = {"batches_at_first": START, "batches_at_last": FINISH}
    return {"peak_rate": RATE, "warm_up": WARM_UP, "decay": DECAY, "masked": masked.RATE, "keep": chosen.keep, **shares}


def finish(chosen: Options, text: Corpus, training: dict[str, Any]) -> None:
    """Score the packed model and write its card."""
    adapter = chosen.out / ADAPTER
    model: Model = encoder.packed(chosen.out, TASK, (), load_file(adapter) if adapter.exists() else {})
    metrics = score(model.to(chosen.device), chosen)
    fills = cloze.examples(model, encoder.pieces(chosen.out), chosen.device)
    print(metrics, fills, flush=True)
    command = f"python zoo/recipes/mlm.py --data DIR --minutes {chosen.minutes} --keep {chosen.keep}"
    more = {"reads": [*encoder.READS, ADAPTER]} if adapter.exists() else {}
    then = "; then python zoo/recipes/phrases.py --data DIR" if adapter.exists() else ""
    card.write(chosen.out, facts(text, metrics, fills, training) | {"recipe": command + then} | more)


def score(model: Model, chosen: Options) -> dict[str, Any]:
    """The figures of every clean part."""
    texts = {name: part[: 4 if chosen.quick else None] for name, part in parts(chosen).items()}
    clozes = {name: cloze.hide_each(encoder.pieces(chosen.out), part) for name, part in texts.items()}
    both = [cloze.figures(model, name, rows, device=chosen.device) for name, rows in clozes.items()]
    return {name: figures for one in both for name, figures in one.items()}


def parts(chosen: Options) -> dict[str, list[tuple[str, ...]]]:
    """The clean texts on which it is scored."""
    return {
        "SST-2 dev": [texts for texts, _ in read.sst2(chosen.data, "dev")],
        "Wikipedia, unread paragraphs": [(text,) for text in corpus.scoring_paragraphs(chosen.data)[:40]],
        "SNLI test, clean pairs": [texts for texts, _ in clean.snli_clean(chosen.data, "test")[:200]],
    }


def facts(text: Corpus, metrics: dict[str, Any], fills: dict[str, Any], training: dict[str, Any]) -> dict[str, Any]:
    """What the card holds."""
    worst = min(metrics, key=lambda name: float(metrics[name]["accuracy"]))
    return {
        "name": "mlm",
        "title": "masked language model",
        "task": TASK,
        "labels": [],
        "fields": ["text"],
        "reads": encoder.READS,
        "data": [[title, text.counts[name], licence] for name, (title, licence) in LICENCES.items()],
        "kept_out": KEPT_OUT,
        "metrics": metrics,
        "fills": fills,
        "weak": [
            f"{worst}: the first guess is right in {metrics[worst]['accuracy']:.1%} of the places.",
            "It knows few facts, and several hidden words in a row are filled one by one, blind to each other.",
        ],
        "training": training | {name: n for name, n in text.counts.items() if name not in LICENCES},
    }


if __name__ == "__main__":
    run(options(__doc__))

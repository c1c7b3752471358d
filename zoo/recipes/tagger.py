"""tagger: the part of speech of every word, an adapter trained on the English Web Treebank (Silveira et al. 2014).

Universal parts of speech of UD English EWT. Every piece of a word learns the word's tag; a word's tag is read off its
first piece, as Assay does. The text is read as it was written, so that tags do not depend on a tokenisation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import card
import encoder
import numpy as np
import scores
import torch
from data import lines
from lora import adapter_state, add_lora
from options import Options, options
from rows import Rows, in_order
from safetensors.torch import save_file
from torch import Tensor
from torch.nn.functional import cross_entropy
from train import Plan, fit

TAGS = (
    *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM"),
    *("PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"),
)
NAME, TASK, NOTHING = "tagger", "token-classification", -100
PLAN = Plan(epochs=3, batch=32, rate=1.5e-3, width=128, cpu_half=True)
QUICK = 48
Sentence = tuple[str, list[tuple[int, int, int]]]  # a text, and start, end and tag of its words


def sentences(data: Path, split: str) -> list[Sentence]:
    """The treebank's sentences; those whose words are not all found in their text are left out."""
    found, text, words = [], "", []
    for line in [*lines(data / "ud_english_ewt" / f"en_ewt-ud-{split}.conllu.xz"), ""]:
        columns = line.split("\t")
        if line.startswith("# text = "):
            text = line.removeprefix("# text = ")
        elif len(columns) > 3 and columns[0].isdigit():
            words.append((columns[1], columns[3]))
        elif not line and words:
            placed = spans(text, words)
            found += [(text, placed)] if placed else []
            words = []
    return found


def spans(text: str, words: Sequence[tuple[str, str]]) -> list[tuple[int, int, int]]:
    """Where the words stand, one after the other; nothing, where one is missing."""
    placed, at = [], 0
    for form, tag in words:
        start = text.find(form, at)
        if start < 0 or tag not in TAGS:
            return []
        at = start + len(form)
        placed.append((start, at, TAGS.index(tag)))
    return placed


class PieceTags:
    """The tags of rows, as a batch needs them: as wide as its ids are."""

    def __init__(self, tags: list[list[int]]) -> None:
        self.tags = tags

    def __getitem__(self, chosen: Sequence[int]) -> Tensor:
        width = -(-max(len(self.tags[i]) for i in chosen) // 8) * 8
        return torch.tensor([self.tags[i] + [NOTHING] * (width - len(self.tags[i])) for i in chosen])


@dataclass(frozen=True)
class Tagged:
    """Rows whose every piece has a tag, and the first piece of each word."""

    rows: Rows
    firsts: list[list[tuple[int, int]]]  # of each row, (piece, tag)


def coded(tokenizer: Any, given: Sequence[Sentence], width: int) -> Tagged:
    """Sentences as tokens; a piece has the tag of the word that it touches first."""
    table = tokenizer([text for text, _ in given], truncation=True, max_length=width, return_offsets_mapping=True)
    tags, firsts = [], []
    for offsets, (_, words) in zip(table["offset_mapping"], given, strict=True):
        owners = [next((w for w, (a, b, _) in enumerate(words) if a < end and start < b), None) if end else None
                  for start, end in offsets]  # fmt: skip
        tags.append([NOTHING if w is None else words[w][2] for w in owners])
        touched = [
            (next((p for p, (start, end) in enumerate(offsets) if a < end and start < b), None), tag)
            for a, b, tag in words
        ]
        firsts.append([(p, tag) for p, tag in touched if p is not None])
    rows: Any = Rows(table["input_ids"], table["token_type_ids"], PieceTags(tags))  # type: ignore[arg-type]
    return Tagged(rows, firsts)


def loss(outputs: Any, tags: Tensor) -> Tensor:
    """Cross-entropy over all pieces that belong to a word."""
    return cross_entropy(outputs.logits.float().flatten(0, 1), tags.flatten(), ignore_index=NOTHING)


@torch.inference_mode()
def score(model: Any, given: Tagged, device: str) -> dict[str, Any]:
    """The figures of one part, word by word, in fp32."""
    chances, truth = [], []
    for chosen in in_order(given.rows, 64):
        logits = model(**given.rows.batch(chosen, device)).logits.softmax(-1).double().cpu().numpy()
        for own, i in zip(logits, chosen, strict=True):
            chances += [own[piece] for piece, _ in given.firsts[i]]
            truth += [tag for _, tag in given.firsts[i]]
    return scores.labelled(np.array(chances), np.array(truth), TAGS)


def run(chosen: Options) -> None:
    """Train, pack, score what was packed, write the card."""
    few = QUICK if chosen.quick else None
    tokenizer = encoder.pieces(chosen.out)
    rows = sentences(chosen.data, "train")[:few]
    model = encoder.fresh(chosen.out, TASK, TAGS).to(chosen.device)
    add_lora(model, PLAN.rank)
    plan = Plan(**(PLAN.facts() | {"epochs": 1 if chosen.quick else chosen.epochs or PLAN.epochs}))
    seconds = fit(model, coded(tokenizer, rows, plan.width).rows, plan, loss, device=chosen.device, seed=chosen.seed)
    adapter = adapter_state(model)
    save_file(adapter, chosen.out / f"{NAME}.safetensors")
    training = plan.facts() | card.machine(chosen.device, seconds, chosen.seed)
    card.write(chosen.out, facts(len(rows), figures(chosen, adapter), training))


def figures(chosen: Options, adapter: Any) -> dict[str, Any]:
    """Dev and test of the treebank, by the model as a user will load it."""
    model = encoder.packed(chosen.out, TASK, TAGS, adapter).to(chosen.device)
    return measured(model, chosen)


def measured(model: Any, chosen: Options) -> dict[str, Any]:
    """The same by a model that is there."""
    few, tokenizer = QUICK if chosen.quick else None, encoder.pieces(chosen.out)
    parts = {f"EWT {split}": sentences(chosen.data, split)[:few] for split in ("dev", "test")}
    return {name: score(model, coded(tokenizer, part, PLAN.width), chosen.device) for name, part in parts.items()}


def facts(rows: int, metrics: dict[str, Any], training: dict[str, Any]) -> dict[str, Any]:
    """What the card holds."""
    worst = {part: min(one["recall"].items(), key=lambda item: item[1]) for part, one in metrics.items()}
    return {
        "name": NAME,
        "title": "universal parts of speech",
        "task": TASK,
        "labels": list(TAGS),
        "fields": ["text"],
        "kept_out": "dev and test of the treebank; training read its train part alone.",
        "reads": [*encoder.READS, f"{NAME}.safetensors"],
        "data": [["UD English EWT, train", rows, "CC BY-SA 4.0"]],
        "metrics": metrics,
        "weak": [
            *(f"{part}: {tag} is found in {recall:.1%} of its words." for part, (tag, recall) in worst.items()),
            "It reads lower case only: names are hard to tell from nouns.",
        ],
        "training": training,
        "recipe": f"python zoo/recipes/{NAME}.py --data DIR",
    }


if __name__ == "__main__":
    run(options(__doc__))

"""What the contracts share: the models, hard texts, and a picture of everything that must not change."""

from __future__ import annotations

import atexit
import os
import random
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import cache
from io import StringIO
from tempfile import NamedTemporaryFile
from types import MappingProxyType
from typing import Any

import numpy as np
import tiny
import torch
from rich.console import Console

import assay
from assay.data.highlights import Highlights
from assay.engine.engine import Engine
from assay.models import TextModel
from assay.text.example import Example, Mark
from planted_writers import PlantedEditor, PlantedWriter

BOX_WORDS = {"good": 2.0, "funny": 1.5, "film": 0.2, "dull": -2.0, "not": -1.0}


def word_counter(texts: list[Any]) -> np.ndarray:
    """A black box that knows five words and counts characters, so that every word matters a little."""
    joined = [text if isinstance(text, str) else " ".join(text) for text in texts]
    known = np.array([[text.count(word) for word in BOX_WORDS] for text in joined]) @ np.array([*BOX_WORDS.values()])
    other = np.array([len(text) % 97 for text in joined]) / 50
    return 1 / (1 + np.exp(-np.clip(known + other, -9, 9)))


@cache
def language_model() -> TextModel:
    return assay.load(tiny.masked_lm())


@cache
def writer() -> TextModel:
    """A decoder with a window for long prompts."""
    network, tokenizer = deepcopy(tiny.causal_lm("llama"))
    network.config.max_position_embeddings = tokenizer.model_max_length = 20_000
    return assay.load((network, tokenizer))


MODELS: Mapping[str, Callable[[], TextModel]] = {
    "bert": lambda: assay.load(tiny.bert()),
    "roberta": lambda: assay.load(tiny.roberta()),
    "attentive": lambda: assay.load(tiny.attentive()),
    "black_box": lambda: assay.BlackBox(word_counter, labels=["bad", "good"], name="word counter"),
}


@cache
def opened(model: str) -> TextModel:
    """The same one for all tests that only ask it; to open a model takes longer than to ask it a few short texts."""
    return MODELS[model]()


@cache
def tagger() -> TextModel:
    return assay.load(tiny.token_tagger())


def fresh(model: str) -> TextModel:
    """A model that no test has touched before: some changes are made only once, at the first call."""
    if model == "black_box":
        return MODELS[model]()
    network, tokenizer = {"bert": tiny.bert, "roberta": tiny.roberta, "attentive": tiny.attentive}[model].__wrapped__()
    return assay.load((network, deepcopy(tokenizer)))


# Methods that draw samples or search draw fewer here: the contracts are about keeping promises, not about precision.
QUICK: Mapping[str, Any] = {"samples": 64, "limit": 300, "cap": 40, "max_tokens": 8}


def quick(card: Any) -> dict[str, Any]:
    """The settings of a short run: what is needed, and those of QUICK that are less than its own."""
    known = {name: field.default for name, field in card.parameters.items()}
    less = {name: value for name, value in QUICK.items() if isinstance(known.get(name), int) and known[name] > value}
    return less | NEEDED.get(card.name, {})


def engine(model: TextModel, budget: int | None = None) -> Engine:
    """An engine whose second model, where a method wants one, is tiny and local."""
    return Engine(model, budget=budget, resolve=_resolved)


def _resolved(name: str) -> TextModel:
    if name == "tagger":
        return tagger()
    if "paraphraser" in name:
        return PlantedWriter(_reworded)
    if "editor" in name:
        return PlantedEditor(("dull", "good", "not", "two dogs", "[EMPTY]"))
    return writer() if "writer" in name else language_model()


def _reworded(text: str) -> dict[str, float]:
    """The text, and the text with each word replaced by one that the models know."""
    words = text.split()
    new = [" ".join([*words[:i], other, *words[i + 1 :]]) for i in range(len(words)) for other in ("dull", "good")]
    found = list(dict.fromkeys([text, *new]))[:40]
    return dict.fromkeys(found, 1 / len(found))


TEXTS: list[Any] = [
    "a funny film",
    "dull",
    "the plot was not good , not funny and not a film",
    "The plot was dull, the acting worse; I wouldn't watch it again!",
    "good good good good",
    "naïve café 東京 🙂",
    "an utterly charming comedy with a big heart and a sharp tongue that never lets go of its audience",
    "no.",
    "two dogs run through the tall grass",
    "x.y,z a_b 1st",
    "it is what it is",
    "one of the funniest, warmest and cleverest films of the decade",
]

HARD: Mapping[str, Any] = {
    "empty": "",
    "blank": " \n\t ",
    "zero width": "\u200b\u200d",
    "one word": "film",
    "one sign": "!",
    "2,000 words": " ".join(["a dull film , really"] * 400),
    "repeated": "film film film film film",
    "arabic": "كان الفيلم جميلا جدا",
    "chinese": "这部电影非常好看，我很喜欢。",
    "thai": "ภาพยนตร์เรื่องนี้สนุกมาก",
    "emoji": "🙂👍🏽 👩‍👩‍👧‍👦 🇩🇪",
    "unseen by the tokenizer": "\ufffd film",
    "special tokens": "[MASK] <mask> [SEP] </s> [PAD] film",
    "pair": ("a man sleeps", "a man"),
    "pair with an empty field": ("a man sleeps", ""),
    "lone surrogate": "a \ud800 film",
    "not a text": 5,
}

# Without a word to explain, or not to be read at all: these have errors of their own.
BOUNDLESS = {"attentive", "black_box"}  # models that have no window
REFUSED = {"empty", "blank", "zero width", "lone surrogate", "not a text"}


def picture(model: TextModel) -> dict[str, Any]:
    """The model, the tokenizer and the global generators, bit by bit."""
    seen: dict[str, Any] = {
        "python": random.getstate(),
        "numpy": repr(np.random.get_state()),
        "torch": torch.get_rng_state().tolist(),
        "gradients on": torch.is_grad_enabled(),
    }
    return seen | (_of_torch(model) if hasattr(model, "tokenizer") else {})


def _of_torch(adapter: Any) -> dict[str, Any]:
    model, tokenizer = adapter.model, adapter.tokenizer
    modules = dict(model.named_modules())
    return {
        "weights": {name: tensor.numpy().tobytes() for name, tensor in model.state_dict().items()},
        "buffers": {name: tensor.numpy().tobytes() for name, tensor in model.named_buffers()},
        "training": {name: module.training for name, module in modules.items()},
        "hooks": {name: _hooks(module) for name, module in modules.items()},
        "grads": {name: (p.grad, p.requires_grad) for name, p in model.named_parameters()},
        "config": model.config.to_json_string(),
        "tokenizer": tokenizer.backend_tokenizer.to_str(),
        "vocabulary": len(tokenizer),
        "sides": (tokenizer.padding_side, tokenizer.truncation_side, tokenizer.model_max_length),
    }


def _hooks(module: Any) -> tuple[int, ...]:
    return len(module._forward_hooks), len(module._forward_pre_hooks), len(module._backward_hooks)


def printed(renderable: Any) -> str:
    """What a terminal of 100 columns without colour would show."""
    stream = StringIO()
    Console(file=stream, width=100, color_system=None).print(renderable)
    return stream.getvalue()


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [name for name in before if before[name] != after[name]]


def _marked(text: Any) -> Example:
    """The first word of each text, marked."""
    words = assay.Text.of(text)
    return Example("", words.strings, None, ((Mark(0, *words.spans[0]),),))


def _everything() -> Highlights:
    return Highlights.of(_marked(text) for text in [*TEXTS, *(HARD[name] for name in HARD if name not in REFUSED)])


@cache
def _treebank() -> str:
    """A small file of sentences with tags and trees; each word hangs on the one before it."""
    tags = {"a": "DET", "the": "DET", "film": "NOUN", "plot": "NOUN", "dull": "ADJ", "runs": "VERB"}
    rng, lines = np.random.default_rng(0), []
    for _ in range(25):
        words = rng.choice(list(tags), int(rng.integers(2, 7))).tolist()
        lines += [f"{i + 1}\t{word}\t_\t{tags[word]}\t_\t_\t{i}\tdep\t_\t_" for i, word in enumerate(words)] + [""]
    with NamedTemporaryFile("w", suffix=".conllu", delete=False, encoding="utf-8") as file:
        file.write("\n".join(lines))
    atexit.register(os.unlink, file.name)
    return file.name


@cache
def _judge() -> str:
    """A file of vectors of all words of a tiny vocabulary: what word_intrusion asks instead of GloVe."""
    words = sorted({word for name in ("bert", "roberta") for word in MODELS[name]().tokenizer.get_vocab()})
    drawn = np.random.default_rng(0).normal(size=(len(words), 8))
    with NamedTemporaryFile("w", suffix=".txt", delete=False, encoding="utf-8") as file:
        names = (word.lstrip("Ġ").lower() or "x" for word in words)
        rows = zip(names, drawn.tolist(), strict=True)
        file.write("\n".join(" ".join([name, *map(str, row)]) for name, row in rows if " " not in name))
    atexit.register(os.unlink, file.name)
    return file.name


class Recall:
    """Trains in no time: a black box that gives every label its share among the training texts, and knows lengths."""

    settings: Mapping[str, Any] = MappingProxyType({"trainer": "recall"})

    def train(self, texts: Sequence[Any], labels: Sequence[str], seed: int) -> TextModel:
        names = sorted(set(labels))
        base = np.array([labels.count(name) for name in names], dtype=float)
        sizes = [np.mean([len(t[0]) for t, own in zip(texts, labels, strict=True) if own == name]) for name in names]

        def chances(given: list[Any]) -> np.ndarray:
            lengths = np.array([len(text if isinstance(text, str) else text[0]) for text in given])
            near = base * np.exp(-np.abs(lengths[:, None] - np.array(sizes)) / 50)
            return near / near.sum(axis=1, keepdims=True)

        return assay.BlackBox(chances, labels=names, name="recall")


_TRAIN = {"train": [(text, f"LABEL_{i % 3}") for i, text in enumerate([*TEXTS[:5], "a film , and a dull one"])]}

# What a method or check cannot do without, and only its user can give; a tuned threshold would depend on the company.
NEEDED: Mapping[str, dict[str, Any]] = {
    "adversarial_attention": {"steps": 5, "k": 2},
    "attention_permutation": {"permutations": 11},
    "counterfactual_faithfulness": {"tries": 6, "flips_only": False},  # tiny models do not mind a word
    "expected_gradients": {"corpus": ["two dogs run", "a film, and a dull one", "it is what it is"]},
    "influence_functions": _TRAIN,
    "representer_points": {**_TRAIN, "decay": 0.1},  # a weak penalty multiplies the rounding of float32
    "source": _TRAIN,
    "tracin": _TRAIN,
    "trak": {**_TRAIN, "layers": "head", "project": 32},
    "exact_retraining": {"recipe": Recall(), "rows": 2},
    "linear_datamodeling": {"recipe": Recall(), "subsets": 3, "share": 0.9},
    "removal_retraining": {"recipe": Recall(), "share": 0.1},
    "human_agreement": {"highlights": _everything(), "threshold": 0.3},
    "hotflip": {"flips": 1, "candidates": 5},
    "input_reduction": {"beam": 2},
    "label_kept": {"judge": "@randomized:head:0"},
    "mice": {"top": 3, "levels": 1, "rounds": 1, "share": 0.2},
    "polyjuice": {"variants": 1, "samples": 2, "importance": "leave_one_out"},
    "sea": {"samples": 6, "threshold": 0.0, "similar": -1.0},
    "structural_probe": {"task": "pos", "corpus": _treebank(), "steps": 5},
    "word_intrusion": {"judge": _judge()},
    "shortcut_recovery": {"planted": _everything()},
}

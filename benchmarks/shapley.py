"""The error of KernelSHAP against the rows it asks: ours, captum and shap, on games whose Shapley values are known.

    python benchmarks/shapley.py [--texts 6] [--seeds 5] [--model sst2] [--plot errors.png]

The games have 11 or 12 players, and all their coalitions are enumerated: random networks with two layers, thresholds of
sums with pair interactions, both over word presence; a tiny BERT with random weights (as rough as a model can be); and
a real model where one is named. The error is the mean absolute difference to the exact values, relative to their mean
absolute value; the rows are those that the model runs, the whole and the empty text included. The last lines say how
many rows of ours reach the error that a peer has with 512. shap runs with l1_reg=False, which is its best setting here.
"""

from __future__ import annotations

import argparse
import logging
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import shap
import torch
import transformers as hf
from captum.attr import KernelShap as CaptumKernelShap
from tokenizers import Tokenizer, models, pre_tokenizers, processors

import assay
from assay.engine.engine import Engine
from assay.explanations.case import Case
from assay.methods.input_features.coalitions import every, shapley
from assay.methods.input_features.kernel_shap import KernelShap
from assay.questions.answers import Predictions
from assay.questions.predict import Predict
from assay.statistics.arrays import Floats
from assay.text.text import Masks, Text
from assay.text.variants import Variants
from texts import sentence

ROWS = (64, 128, 256, 512, 1024)
AT = 512
Game = Floats
Contestant = Callable[[Game, int, int], Floats]
Errors = dict[tuple[str, str, int], list[float]]


def players(game: Game) -> int:
    return (len(game) - 1).bit_length()


def looked_up(game: Game, keep: Any) -> Floats:
    return np.asarray(game[np.asarray(keep, dtype=bool) @ (1 << np.arange(players(game)))])


def network(n: int, seed: int) -> Game:
    """Two layers with random weights."""
    rng = np.random.default_rng([n, seed])
    first, bias, second = rng.normal(size=(n, 16)), rng.normal(size=16), rng.normal(size=16)
    return np.asarray(np.tanh(every(n) @ first + bias) @ second)


def pairwise(n: int, seed: int) -> Game:
    """Words and pairs of words vote, and a threshold is laid over the sum."""
    rng = np.random.default_rng([n, seed, 1])
    words = rng.normal(size=n)
    pairs = np.triu(rng.normal(size=(n, n)), 1) * (rng.random((n, n)) < 0.3) / 2
    keep = every(n).astype(float)
    return np.asarray(3 * np.tanh(0.7 * (keep @ words + ((keep @ pairs) * keep).sum(axis=1))))


def of_model(model: Any, text: str) -> Game:
    """The log-odds of the predicted label for every coalition of the words."""
    words = Text.of(text)
    answers: Predictions = Engine(model).ask(Predict(Variants(words, every(len(words)))))
    return answers.value(int(answers[-1:].argmax()[0]))


def tiny_bert(texts: Sequence[str]) -> Any:
    """A BERT of two small layers with wide random weights, over the words of these texts."""
    words = sorted({word for text in texts for word in Text.of(text).words})
    vocabulary = {word: i for i, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, [("[CLS]", 2), ("[SEP]", 3)])
    fast = hf.PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]")
    config = hf.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
        initializer_range=0.4,
    )
    with torch.random.fork_rng():
        torch.manual_seed(7)
        return assay.load((hf.BertForSequenceClassification(config).eval(), fast))


def games(count: int, model: str | None) -> Mapping[str, list[Game]]:
    rng = random.Random(0)
    texts = [sentence(rng, 11 + i % 2) for i in range(count)]
    kinds = {
        "network": [network(11 + i % 2, i) for i in range(count)],
        "pairs": [pairwise(11 + i % 2, i) for i in range(count)],
        "tiny BERT": [of_model(tiny_bert(texts), text) for text in texts],
    }
    return kinds | ({model: [of_model(assay.load(model), text) for text in texts]} if model else {})


def ours(game: Game, rows: int, seed: int, **settings: Any) -> Floats:
    """The method itself, its questions answered from the table."""
    n = players(game)
    text = Text.of(" ".join(f"w{i}" for i in range(n)))
    talk = KernelShap(samples=rows, exact_up_to=0, **settings).explain(Case(text, 1, seed=seed))
    question: Any = next(talk)
    keep = np.concatenate([part.keep if isinstance(part, Variants) else whole(n) for part in question.inputs])
    assert len(keep) <= rows
    values = looked_up(game, keep)
    try:
        talk.send(Predictions(np.stack([np.zeros(len(values)), values], axis=1)))
    except StopIteration as stop:
        return np.asarray(stop.value.scores)
    raise AssertionError("one question, one answer")


def whole(n: int) -> Masks:
    return np.ones((1, n), dtype=bool)


def linear(game: Game, rows: int, seed: int) -> Floats:
    return ours(game, rows, seed, surrogate="linear")


def captum(game: Game, rows: int, seed: int) -> Floats:
    def forward(masks: torch.Tensor) -> torch.Tensor:
        return torch.tensor(looked_up(game, masks.numpy() > 0.5))

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        text, nothing = torch.ones(1, players(game)), torch.zeros(1, players(game))
        told = CaptumKernelShap(forward).attribute(text, nothing, n_samples=rows, perturbations_per_eval=rows)
    return np.asarray(told[0].numpy())


def shaps(game: Game, rows: int, seed: int) -> Floats:
    """Two rows go to the whole and the empty text, which shap asks besides."""
    np.random.seed(seed)  # shap takes the global generator
    n = players(game)
    explainer = shap.KernelExplainer(lambda masks: looked_up(game, masks > 0.5), np.zeros((1, n)))
    return np.asarray(explainer.shap_values(np.ones(n), nsamples=rows - 2, l1_reg=False, silent=True))


CONTESTANTS: Mapping[str, Contestant] = {"ours": ours, "ours, linear": linear, "captum": captum, "shap": shaps}


def measured(kinds: Mapping[str, list[Game]], seeds: int) -> Errors:
    errors: Errors = {}
    for kind, some in kinds.items():
        for game in some:
            truth = shapley(game)
            for name, contestant in CONTESTANTS.items():
                for rows in ROWS:
                    made = [np.abs(contestant(game, rows, seed) - truth).mean() for seed in range(seeds)]
                    errors.setdefault((kind, name, rows), []).extend(np.array(made) / np.abs(truth).mean())
    return errors


def curve(errors: Errors, kind: str, name: str) -> Floats:
    return np.array([np.mean(errors[kind, name, rows]) for rows in ROWS])


def reaching(goal: float, errors: Floats) -> float:
    """How many rows have this error, on a straight line between the measured ones in logarithms."""
    return float(np.exp(np.interp(-np.log(goal), -np.log(errors), np.log(ROWS))))


def told(errors: Errors, kinds: Sequence[str]) -> None:
    for kind in kinds:
        print(f"\n{kind:<14}" + "".join(f"{rows:>9}" for rows in ROWS) + "   rows")
        for name in CONTESTANTS:
            print(f"  {name:<12}" + "".join(f"{error:9.4f}" for error in curve(errors, kind, name)))
    print(f"\nrows of ours that reach a peer's error at {AT}")
    for kind in kinds:
        for peer in ("captum", "shap"):
            rows = reaching(curve(errors, kind, peer)[ROWS.index(AT)], curve(errors, kind, "ours"))
            bound = "at least " if rows <= ROWS[0] else ""
            print(f"  {kind:<12} {peer:<8} {rows:6.0f}   {bound}{AT / rows:.1f}x fewer")


def drawn(errors: Errors, kinds: Sequence[str], path: Path) -> None:
    """The curves, where matplotlib is installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("matplotlib is not installed: no plot")
        return
    figure = Figure(figsize=(4 * len(kinds), 3.6), layout="constrained")
    for axes, kind in zip(np.atleast_1d(figure.subplots(1, len(kinds))), kinds, strict=True):
        for name, style in zip(CONTESTANTS, ("o-", "o:", "s--", "^--"), strict=True):
            axes.loglog(ROWS, curve(errors, kind, name), style, label=name, markersize=4)
        axes.set_title(kind)
        axes.set_xticks(ROWS, [str(rows) for rows in ROWS], minor=False)
        axes.set_xticks([], minor=True)
        axes.set_xlabel("model rows")
        axes.grid(alpha=0.3, which="both")
    figure.axes[0].set_ylabel("mean absolute error, relative")
    figure.axes[0].legend(frameon=False)
    figure.savefig(path, dpi=150)
    print(f"plot: {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--texts", type=int, default=6)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--model", help="a real model beside the made-up games")
    parser.add_argument("--plot", type=Path, help="a PNG to write the curves to")
    options = parser.parse_args()
    logging.getLogger("shap").setLevel(logging.ERROR)
    kinds = games(options.texts, options.model)
    errors = measured(kinds, options.seeds)
    told(errors, list(kinds))
    if options.plot:
        drawn(errors, list(kinds), options.plot)


if __name__ == "__main__":
    main()

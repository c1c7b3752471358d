"""Logits over a vocabulary are bounded: a batch has no more places than the model says, and answers stay the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import tiny
import torch
from torch import nn

import assay
from assay.engine.engine import Engine
from assay.models.batching import Batcher
from assay.models.row_sizes import RowSizes
from assay.questions.fill import Fill
from assay.questions.generation import Generate, Prompt
from assay.questions.predict import Predict, Settle
from assay.statistics.arrays import Ints
from assay.text.text import Text
from assay.text.variants import Variants

WORDS = "a gripping funny film is the best of all".split()


@contextmanager
def projected(vocabulary: int) -> Iterator[list[int]]:
    """How many places each call of the head, the layer as wide as the vocabulary, was given."""
    seen: list[int] = []

    def count(module: nn.Module, args: Any, output: Any) -> None:
        if isinstance(module, nn.Linear) and module.out_features == vocabulary:
            seen.append(output[..., 0].numel())

    handle = nn.modules.module.register_module_forward_hook(count)
    try:
        yield seen
    finally:
        handle.remove()


def texts(count: int) -> list[Text]:
    random = np.random.default_rng(0)
    return [Text.of(" ".join(random.choice(WORDS, random.integers(3, 9)))) for _ in range(count)]


def filled(lm: Any) -> list[Any]:
    random, engine = np.random.default_rng(1), Engine(lm, budget=10_000, resolve=lambda _: lm)
    asked = [Fill(Variants(text, random.random((6, len(text))) < 0.5), model="lm", k=4) for text in texts(8)]

    def conversation(question: Fill) -> Any:
        return (yield question)

    return [fill for outcome in engine.run(map(conversation, asked)) for fill in outcome.get()]


def test_holes_in_pieces_are_filled_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = assay.load(tiny.masked_lm("bert"))
    assert filled(lm)  # it is tried when it is first asked
    size = lm.model.config.vocab_size
    with projected(size) as at_once:
        whole = filled(lm)
    monkeypatch.setattr(lm, "most_places", 8)
    with projected(size) as in_pieces:
        pieces = filled(lm)
    assert max(at_once) > 100
    assert max(in_pieces) <= 8
    assert sum(in_pieces) == sum(at_once)
    for one, other in zip(whole, pieces, strict=True):
        assert one.words == other.words
        assert one.probabilities == pytest.approx(other.probabilities, abs=1e-6)


def predicted(lm: Any) -> Any:
    settled, _ = Batcher(10_000).answers(lm, Settle, texts(12))
    return np.array(Batcher(10_000).answers(lm, Predict, [text.strings for text in settled])[0])


def written(lm: Any) -> list[str]:
    rows = [row for text in texts(12) for row in Generate(Prompt(str(text)), max_tokens=3).rows(lm)]
    return [one.texts[0].text for one in Batcher(10_000).answers(lm, Generate, rows)[0]]


@pytest.mark.parametrize("make", [tiny.causal_lm, tiny.seq2seq], ids=["gpt2", "t5"])
@pytest.mark.parametrize("asked", [predicted, written])
def test_language_models_project_no_more_than_they_may(
    make: Callable[[], Any], asked: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = assay.load(make())
    whole, size = asked(lm), lm.model.config.vocab_size
    monkeypatch.setattr(lm, "most_places", 10)
    with projected(size) as seen:
        pieces = asked(lm)
    assert 1 < max(seen) <= 10
    assert pieces == whole if asked is written else pieces == pytest.approx(whole, abs=1e-5)


def test_what_has_no_vocabulary_is_not_counted() -> None:
    classifier = assay.load(tiny.bert())
    assert classifier.vocabulary_places(Predict, classifier.encode(Predict, [("a film",)])) is None


def test_the_bound_is_half_a_gigabyte_of_float32() -> None:
    lm = assay.load(tiny.masked_lm("bert"))
    assert lm.most_places * lm.model.config.vocab_size * torch.float32.itemsize <= 1 << 29
    assert (lm.most_places + 1) * lm.model.config.vocab_size * torch.float32.itemsize > 1 << 29


def by_a_loop(sizes: RowSizes, waiting: Ints, budget: int) -> list[int]:
    """As many rows as fit, one after the other."""
    longest, chosen = int(sizes.lengths[waiting[0]]), [int(waiting[0])]
    for i in waiting[1:].tolist():
        more = [*chosen, i]
        assert sizes.places is not None
        if sizes.sequences[more].sum() * longest > budget or sizes.places[more].sum() > sizes.most_places:
            break
        chosen = more
    return chosen


@pytest.mark.parametrize("seed", range(20))
def test_batches_are_those_of_a_loop(seed: int) -> None:
    random = np.random.default_rng(seed)
    lengths = np.sort(random.integers(1, 20, 40))[::-1]
    sizes = RowSizes(lengths, random.integers(1, 4, 40), random.integers(0, 9, 40), 10**9, 1, None, 25)
    waiting = np.arange(random.integers(0, 20), 40)
    assert sizes.next_batch(waiting, 100).tolist() == by_a_loop(sizes, waiting, 100)

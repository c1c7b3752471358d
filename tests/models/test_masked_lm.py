"""Masked language models: the holes get what the bare model says at the masks, with all of the text projected."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import tiny
import torch
from torch import Tensor

import assay
from assay.engine.engine import Engine
from assay.errors import AssayError, ModelNotLoaded, Unanswerable
from assay.models.batching import Batcher
from assay.questions.answers import Fills
from assay.questions.fill import Fill
from assay.questions.predict import Predict
from assay.text.text import Text
from assay.text.variants import Variants

FAMILIES = ["bert", "bert_cased", "roberta", "distilbert"]
family = pytest.mark.parametrize("name", FAMILIES)


def engine(name: str, budget: int | None = None) -> Engine:
    lm = assay.load(tiny.masked_lm(name))
    return Engine(assay.load(tiny.bert()), budget=budget, resolve=lambda _: lm)


def asked(engine: Engine, text: Text, holes: list[list[int]], k: int = 5, whole_words: bool = True) -> list[Fills]:
    keep = np.ones((len(holes), len(text)), bool)
    for row, gone in zip(keep, holes, strict=True):
        row[gone] = False
    return engine.ask(Fill(Variants(text, keep), model="lm", k=k, whole_words=whole_words))  # type: ignore[no-any-return]


def allowed(tokenizer: Any, size: int, whole_words: bool) -> Tensor:
    tokens = tokenizer.convert_ids_to_tokens(list(range(size)))
    special = set(tokenizer.all_special_tokens)
    byte_level = "Ġ" in "".join(tokens)
    whole = [t.startswith("Ġ") and len(t) > 1 if byte_level else not t.startswith("##") for t in tokens]
    readable = ["\ufffd" not in tokenizer.decode([i]) for i in range(size)]
    usable = zip(tokens, whole, readable, strict=True)
    return torch.tensor([t not in special and ((w and r) or not whole_words) for t, w, r in usable])


def bare(name: str, text: Text, holes: list[int], k: int, whole_words: bool) -> list[list[tuple[str, float]]]:
    """The full projection, one text at a time; the masks are found by their characters."""
    model, tokenizer = tiny.masked_lm(name)
    masked = text.with_words([tokenizer.mask_token if i in holes else word for i, word in enumerate(text.words)])
    told = deepcopy(tokenizer)([masked.strings[0]], return_tensors="pt", return_offsets_mapping=True)
    ends = [end for _, end in told.pop("offset_mapping")[0].tolist()]
    with torch.no_grad():
        chances = model(**told).logits[0].softmax(-1)
    chances[:, ~allowed(tokenizer, chances.shape[1], whole_words)] = 0
    result = []
    for hole in holes:
        at = next(p for p, end in enumerate(ends) if end == masked.spans[hole][1])
        assert told["input_ids"][0, at] == tokenizer.mask_token_id
        top = chances[at].topk(k)
        words = [tokenizer.decode([i]).strip().removeprefix("##") for i in top.indices.tolist()]
        result.append(list(zip(words, top.values.tolist(), strict=True)))
    return result


TEXTS = [
    ("a gripping, funny film", [[0], [1], [4], [1, 3], [0, 1, 2, 3, 4]]),
    ("the film isn't the film", [[0], [2], [4], [0, 4]]),
    ("the [MASK] is a <mask> fine film", [[0], [5], [9, 10]]),
    ("東京 is big 🙂", [[0], [1, 2], [4]]),
]


@family
@pytest.mark.parametrize("whole_words", [True, False])
@pytest.mark.parametrize(("string", "holes"), TEXTS)
def test_fill_is_the_bare_model(name: str, whole_words: bool, string: str, holes: list[list[int]]) -> None:
    text = Text.of(string)
    for budget in (1, 10_000):
        for fill, gone in zip(asked(engine(name, budget), text, holes, 5, whole_words), holes, strict=True):
            expected = bare(name, text, gone, 5, whole_words)
            assert [list(words) for words in fill.words] == [[word for word, _ in hole] for hole in expected]
            assert fill.probabilities == pytest.approx(np.array([[p for _, p in hole] for hole in expected]), abs=1e-6)


@family
def test_whole_words_are_whole(name: str) -> None:
    (fill,) = asked(engine(name), Text.of("a funny film"), [[0, 1, 2]], k=40)
    for words in fill.words:
        assert all(word and not word.startswith(("##", "[", "<")) and word == word.strip() for word in words)
        assert "\ufffd" not in "".join(words)
        assert len(set(words)) == len(words)


def test_each_variant_has_its_own_number_of_holes_and_of_candidates() -> None:
    here, text = engine("bert"), Text.of("a funny film")
    none, one, three = asked(here, text, [[], [1], [0, 1, 2]], k=3)
    assert (none.words, none.probabilities.size) == ((), 0)
    assert [len(one.words), len(three.words)] == [1, 3]
    assert one.probabilities.shape == (1, 3)


def test_more_candidates_than_there_are_words() -> None:
    """All of them, or an error with a name; never a special token as a word."""
    try:
        (fill,) = asked(engine("bert"), Text.of("a funny film"), [[1]], k=395)
    except AssayError:
        return
    assert not {"[PAD]", "[MASK]", "[CLS]"} & set(fill.words[0])


def test_a_hole_beyond_the_window_is_an_error_of_its_row_alone() -> None:
    lm, text = assay.load(tiny.masked_lm("bert")), Text.of("a funny film " * tiny.WINDOW)
    keep = np.ones((4, len(text)), bool)
    keep[[0, 1, 2, 3], [1, len(text) - 1, 5, 7]] = False
    rows = Fill(Variants(text, keep), model="lm", k=3).rows(lm)
    first, beyond, *others = Batcher(10_000).answers(lm, Fill, rows)[0]
    assert isinstance(beyond, Unanswerable)
    for row, told in zip([rows[0], *rows[2:]], [first, *others], strict=True):
        ((alone,), _) = Batcher(10_000).answers(lm, Fill, [row])
        assert told.probabilities == pytest.approx(alone.probabilities, abs=1e-6)
        assert told.words == alone.words


def test_pairs_keep_their_fields() -> None:
    text = Text.of(("the film", "the film"), focus=["hypothesis"])
    (fill,) = asked(engine("bert"), text, [[1]])
    model, tokenizer = tiny.masked_lm("bert")
    told = deepcopy(tokenizer)(["the film"], ["the [MASK]"], return_tensors="pt")
    with torch.no_grad():
        chances = model(**told).logits[0, -2].softmax(-1)
    chances[~allowed(tokenizer, len(chances), True)] = 0
    assert fill.probabilities[0] == pytest.approx(chances.topk(5).values.numpy(), abs=1e-6)


def test_the_model_is_left_as_it_was() -> None:
    model, tokenizer = tiny.masked_lm("bert")
    model = deepcopy(model).train()
    lm = assay.load((model, tokenizer))
    here = Engine(assay.load(tiny.bert()), resolve=lambda _: lm)
    (fill,) = asked(here, Text.of("a funny film"), [[1]])
    (expected,) = asked(engine("bert"), Text.of("a funny film"), [[1]])
    assert fill.words == expected.words
    assert all(module.training for module in model.modules())
    assert not any(module._forward_hooks for module in model.modules())


def test_a_masked_language_model_does_not_classify() -> None:
    here = Engine(assay.load(tiny.masked_lm("bert")))
    with pytest.raises(Unanswerable, match="cannot answer Predict"):
        here.ask(Predict(Text.of("a film")))
    with pytest.raises(Unanswerable, match="cannot answer Fill"):
        Engine(assay.load(tiny.bert()), resolve=lambda _: assay.load(tiny.bert())).ask(
            Fill(Variants(Text.of("a"), np.zeros((1, 1), bool)), model="lm")
        )


def test_a_tokenizer_without_mask_is_refused() -> None:
    with pytest.raises(ModelNotLoaded, match="mask token"):
        assay.load((tiny.masked_lm("bert")[0], tiny.byte_level_without_pad()))

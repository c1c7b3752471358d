"""Resampling one word after the other, as in the released Deletion_BERT: against a slow loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiny
import torch

import assay
from assay.engine.engine import Engine
from assay.questions.erasers import Resample, cumulative, eraser
from assay.text.text import Text
from assay.text.variants import Variants

HOW = Resample("lm", "one_by_one")
TEXT = Text.of("a gripping film that never lets go of its audience")
RANKING = [2, 0, 5, 9, 1]


def run(conversation: Any) -> Variants:
    lm = assay.load(tiny.masked_lm("bert"))
    found: Variants = next(Engine(assay.load(tiny.bert()), resolve=lambda name: lm).run([conversation])).get()
    return found


def likeliest_other(words: list[str], hole: int, old: str) -> str:
    """The likeliest whole word but the original one for a mask among words that stay, as transformers answers."""
    net, tokenizer = tiny.masked_lm("bert")
    inputs = tokenizer(" ".join([*words[:hole], "[MASK]", *words[hole + 1 :]]), return_tensors="pt")
    at = inputs["input_ids"][0].tolist().index(tokenizer.mask_token_id)
    with torch.no_grad():
        order = net(**inputs).logits[0, at].argsort(descending=True).tolist()
    tokens = [t for t in tokenizer.convert_ids_to_tokens(order) if not t.startswith(("##", "["))][:8]
    return next((t for t in tokens if t.lower() != old.lower()), tokens[0])


def test_against_a_slow_loop() -> None:
    keep = cumulative([*RANKING, *(i for i in range(len(TEXT)) if i not in RANKING)], len(RANKING))
    now, expected = list(TEXT.words), [TEXT.strings[0]]
    for hole in RANKING:
        now[hole] = likeliest_other(now, hole, TEXT.words[hole])
        expected.append(" ".join(now))
    assert [row for (row,) in run(HOW.erase(TEXT, keep)).rows({})] == expected


def test_the_first_hole_is_as_at_once_and_a_word_that_comes_back_is_the_own_one() -> None:
    keep = np.ones((3, len(TEXT)), bool)
    keep[0, 2] = keep[2, 4] = False
    first, second, third = run(HOW.erase(TEXT, keep)).rows({})
    at_once = run(Resample("lm").erase(TEXT, keep)).rows({})
    assert [first, second, third] == at_once
    assert second == TEXT.strings


def test_nothing_to_fill_asks_nothing() -> None:
    for keep in (np.ones((2, len(TEXT)), bool), np.ones((0, len(TEXT)), bool)):
        with pytest.raises(StopIteration) as stop:
            next(HOW.erase(TEXT, keep))
        assert stop.value.value.rows({}) == [TEXT.strings] * len(keep)


def test_it_is_spelt_like_the_others() -> None:
    assert eraser("resample:one_by_one") == Resample("mlm", "one_by_one")
    assert str(HOW) == "resample:lm:one_by_one"
    assert eraser(str(HOW)) == HOW

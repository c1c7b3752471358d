"""The first word of a text: a masked language model is asked for the pieces that its tokenizer spells there."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

import pytest
import tiny
import transformers as hf
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tokenizers import pre_tokenizers

import assay
from assay.models.transformers.tasks.masked_lm import MaskedLM
from assay.text.text import Text


def without_split(tokenizer: Any) -> Any:
    """The same with Metaspace alone, as some files of XLM-R and ALBERT have it: a line break is no blank."""
    other = deepcopy(tokenizer)
    other.backend_tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    return other


TOKENIZERS = {
    "wordpiece": tiny.wordpiece,
    "cased": lambda: tiny.wordpiece(lowercase=False),
    "byte_level": tiny.byte_level,
    "byte_level_prefix": lambda: tiny.byte_level(prefix=True),
    "unigram_xlm": tiny.unigram_xlm,
    "unigram_albert": tiny.unigram_albert,
    "unigram_metaspace": tiny.unigram_metaspace,
    "xlm_metaspace_alone": cache(lambda: without_split(tiny.unigram_xlm())),
    "albert_metaspace_alone": cache(lambda: without_split(tiny.unigram_albert())),
    "words": tiny.word_level,
    "words_punctuation": lambda: tiny.word_level(punctuation=True),
    "split_regex": tiny.split_regex,
}
FAMILIES = [name for name, make in TOKENIZERS.items() if make().mask_token is not None]
WORDS = ["the", "film", "a", "good", "dull", "plot", "was", "funny"]


@cache
def model(name: str) -> Any:
    tokenizer = TOKENIZERS[name]()
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    config = hf.BertConfig(vocab_size=len(tokenizer), max_position_embeddings=tiny.WINDOW, **sizes)
    return assay.load((tiny.seeded(lambda: hf.BertForMaskedLM(config)), tokenizer))


def asked(name: str, text: str, word: str) -> tuple[list[int], list[int]]:
    """The tokens that are asked for, and those that the text itself has where the masks stand."""
    lm = model(name)
    task = lm.task
    assert isinstance(task, MaskedLM)
    (settled,) = task.settle([task.opened(Text.of((text, word), names=lm.fields, focus=lm.focus))])
    assert isinstance(settled, Text)
    row: Any = task.rows([settled.strings])[0]
    ids = lm.tokenizer(text)["input_ids"]
    return list(row.tokens), [ids[place] for place in row.at]


def test_the_families_with_a_mask_are_there() -> None:
    assert {"wordpiece", "byte_level", "unigram_xlm", "unigram_albert"} <= set(FAMILIES)


@pytest.mark.parametrize("name", FAMILIES)
@settings(max_examples=20)
@given(first=st.sampled_from(WORDS), rest=st.lists(st.sampled_from([*WORDS, ",", "."]), max_size=5))
def test_the_first_word_is_asked_for_as_it_is_spelt_there(name: str, first: str, rest: list[str]) -> None:
    assume(model(name).tokenizer.unk_token_id not in model(name).tokenizer(first)["input_ids"])
    tokens, expected = asked(name, " ".join([first, *rest]), f"0:{first}")
    assert tokens == expected


@pytest.mark.parametrize("name", ["unigram_xlm", "unigram_albert", "xlm_metaspace_alone", "albert_metaspace_alone"])
def test_where_a_word_begins_with_a_blank_the_first_one_does(name: str) -> None:
    lm = model(name)
    e = assay.explain(lm, ("film was good", "film"), "leave_one_out")
    assert e.label == "film"
    tokens, expected = asked(name, "film was good", "film")
    assert tokens == expected
    assert lm.tokenizer.convert_ids_to_tokens(tokens[0]).startswith("▁")


@pytest.mark.parametrize("name", ["byte_level_prefix", "xlm_metaspace_alone", "albert_metaspace_alone"])
def test_it_is_not_asked_for_as_behind_other_characters(name: str) -> None:
    """Which was the fault: "film" behind a character that is no blank, instead of "▁film"."""
    tokens, expected = asked(name, "film was good", "film")
    assert tokens == expected
    assert tuple(tokens) != model(name).task.token_notes.known("film")

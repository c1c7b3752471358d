"""Hidden states that are pooled on the device, and rows of the input embedding, beside slow loops of our own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiny
import torch

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput, Unanswerable, UnknownName
from assay.questions import Conversation, Each, Embeddings, Hidden
from assay.text.text import Text

TEXT = Text.of("an utterly charming comedy, unwatchable!")
FAMILIES = ["bert", "roberta", "gpt2"]


def loaded(family: str) -> Any:
    return assay.load(getattr(tiny, family)())


def by_pieces(family: str) -> tuple[np.ndarray, list[list[int]]]:
    """All states, and the pieces of each word by the offsets of the tokenizer."""
    model, tokenizer = getattr(tiny, family)()
    encoded = tokenizer(TEXT.strings[0], return_offsets_mapping=True, return_tensors="pt")
    offsets = encoded.pop("offset_mapping")[0].tolist()
    with torch.no_grad():
        states = model(**encoded, output_hidden_states=True).hidden_states
    owned = [
        [i for i, (a, b) in enumerate(offsets) if a < b and max(a, start) < min(b, end)] for start, end in TEXT.spans
    ]
    return torch.stack(states)[:, 0].numpy(), owned


@pytest.mark.parametrize("family", FAMILIES)
def test_words_are_the_mean_of_their_pieces(family: str) -> None:
    states, owned = by_pieces(family)
    engine = Engine(loaded(family))
    expected = np.stack([states[:, pieces].mean(axis=1) for pieces in owned], axis=1)
    assert max(map(len, owned)) > 1
    np.testing.assert_allclose(engine.ask(Hidden(TEXT, pool="words")), expected, atol=1e-5)
    first = np.stack([states[:, pieces[0]] for pieces in owned], axis=1)
    np.testing.assert_allclose(engine.ask(Hidden(TEXT, pool="first")), first, atol=1e-5)
    some = engine.ask(Hidden(TEXT, pool="words", layers=(-1, 0), places=(3, 1)))
    np.testing.assert_allclose(some, expected[[-1, 0]][:, [3, 1]], atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_texts_are_one_vector(family: str) -> None:
    states, owned = by_pieces(family)
    engine = Engine(loaded(family))
    words = sorted({piece for pieces in owned for piece in pieces})
    np.testing.assert_allclose(engine.ask(Hidden(TEXT, pool="text"))[:, 0], states[:, words].mean(axis=1), atol=1e-5)
    np.testing.assert_allclose(engine.ask(Hidden(TEXT, pool="cls"))[:, 0], states[:, 0], atol=1e-5)
    reader = -1 if family == "gpt2" else 0
    np.testing.assert_allclose(engine.ask(Hidden(TEXT, pool="answer"))[:, 0], states[:, reader], atol=1e-5)


def test_alone_as_in_company() -> None:
    texts = [TEXT, Text.of("good"), Text.of("a slow and dull plot , really dull and slow and long")]

    def states(text: Text) -> Conversation[Any]:
        return (yield Hidden(text, pool="words"))

    def all_of_them() -> Conversation[Any]:
        return (yield Each(map(states, texts)))

    together = next(Engine(loaded("bert")).run([all_of_them()])).get()
    for text, found in zip(texts, together, strict=True):
        assert found.shape[1] == len(text)
        np.testing.assert_allclose(Engine(loaded("bert"), budget=1).ask(Hidden(text, pool="words")), found, atol=1e-5)


def test_what_there_is_not_is_an_error_of_that_row_alone() -> None:
    def asked(text: Text, layer: int) -> Conversation[Any]:
        return (yield Hidden(text, layers=[layer], pool="cls"))

    good, bad = Engine(loaded("bert")).run([asked(TEXT, 1), asked(TEXT, 9)])
    assert good.get().shape[:2] == (1, 1)
    with pytest.raises(BadInput, match="there is no layer 9"):
        bad.get()
    with pytest.raises(BadInput, match="there is no word 99"):
        Engine(loaded("bert")).ask(Hidden(TEXT, pool="words", places=[99]))
    with pytest.raises(UnknownName, match="did you mean 'words'"):
        Hidden(TEXT, pool="word")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="places are words"):
        Hidden(TEXT, pool="cls", places=[0])
    with pytest.raises(Unanswerable):
        Engine(assay.BlackBox(lambda texts: [[0.5, 0.5]] * len(texts))).ask(Hidden(TEXT))


@pytest.mark.parametrize(("family", "before"), [("bert", ""), ("roberta", " "), ("gpt2", " ")])
def test_embeddings_are_the_mean_of_the_pieces_of_a_word_inside_a_sentence(family: str, before: str) -> None:
    model, tokenizer = getattr(tiny, family)()
    words = ["film", "unwatchable", "naïve"]
    found = Engine(loaded(family)).ask(Embeddings(words))
    table = model.get_input_embeddings().weight.detach().numpy()
    blank = tokenizer.convert_tokens_to_ids("Ġ")  # a piece that is the blank alone is no part of the word
    encoded = [tokenizer(f"{before}{word}", add_special_tokens=False)["input_ids"] for word in words]
    ids = [[i for i in row if i != blank] for row in encoded]
    assert found.words == tuple(words)
    assert found.pieces == tuple(map(len, ids))
    assert max(found.pieces) > 1
    np.testing.assert_allclose(found.vectors, [table[row].mean(axis=0) for row in ids], atol=1e-6)
    assert all(found.known)


def test_a_word_that_the_model_does_not_know_is_marked() -> None:
    assert Engine(loaded("bert")).ask(Embeddings(["film", "ↈ"])).known == (True, False)
    with pytest.raises(BadInput, match="words that are not blank"):
        Embeddings(["film", " "])


@pytest.mark.parametrize("family", FAMILIES)
def test_the_vocabulary_is_its_whole_words(family: str) -> None:
    engine = Engine(loaded(family))
    found = engine.ask(Embeddings())
    assert len(set(found.words)) == len(found.words) == len(found.vectors)
    assert not {"[CLS]", "<s>", "[PAD]", "", "##a"} & set(found.words)
    i = next(i for i, word in enumerate(found.words) if word.isalpha() and word.isascii() and len(word) > 1)
    alone = engine.ask(Embeddings([found.words[i]]))
    if alone.pieces == (1,):
        np.testing.assert_allclose(alone.vectors[0], found.vectors[i], atol=1e-6)
    assert engine.totals.forwards == 0

"""HotFlip on models that read characters, beside every flip of every character tried by a real forward pass."""

from __future__ import annotations

from itertools import product
from string import ascii_lowercase
from typing import Any

import pytest
import tiny
import torch
from tokenizers import Regex, Tokenizer, models, pre_tokenizers

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.text.characters import in_characters
from assay.text.text import Text

TEXT = "a dull film"


def of_characters() -> Any:
    """Every character is a token, the blank too."""
    signs = [*tiny.BERT_SPECIALS, " ", ".", *ascii_lowercase]
    tokenizer = Tokenizer(models.WordLevel({sign: i for i, sign in enumerate(signs)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    return tiny.wrapped(tokenizer)


def of_bytes() -> Any:
    """Every byte is a token, as in ByT5."""
    signs = [*tiny.BERT_SPECIALS, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokenizer = Tokenizer(models.BPE({sign: i for i, sign in enumerate(signs)}, [], unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tiny.wrapped(tokenizer)


def network(tokenizer: Any, seed: int = 3) -> Any:
    """Its log-odds are a sum over characters: so the gradient is exact, and the best flip is known."""
    config = tiny.BagConfig(num_labels=2, pad_token_id=tokenizer.pad_token_id, max_position_embeddings=64)
    table = torch.randn(len(tokenizer), 4, generator=torch.Generator().manual_seed(seed))
    table[:5] = 0
    return tiny.BagForSequenceClassification(table, torch.tensor([0.5, -0.3, 0.2, 0.1]), config).eval()


@pytest.mark.parametrize("build", [of_characters, of_bytes])
def test_the_best_flip_of_one_character_is_that_of_all_flips_tried(build: Any) -> None:
    tokenizer = build()
    model = assay.load((network(tokenizer), tokenizer))
    e = assay.explain(model, TEXT, "hotflip", unit="characters", flips=1, candidates=5, versions=1)
    before = model.predict([TEXT])[0]
    target = int(before.argmax())
    signs = [sign for sign in tokenizer.get_vocab() if len(sign) == 1 and sign.isascii() and sign.isalnum()]
    places = [i for i, sign in enumerate(TEXT) if sign != " "]
    tried = [TEXT[:i] + new + TEXT[i + 1 :] for i, new in product(places, signs) if new.lower() != TEXT[i]]
    best = tried[int(model.predict(tried)[:, target].argmin())]
    found = e.edits[0] if e.edits else e.nearest
    assert found.text == best
    assert bool(e.edits) == (model.predict([best])[0].argmax() != target)
    ((kind, at, old, new),) = found.operations
    assert (kind, old) == ("replace", TEXT[places[at]])
    assert best[places[at]] == new


def test_several_characters_are_flipped_where_one_is_not_enough() -> None:
    tokenizer = of_characters()
    bare = network(tokenizer)
    model = assay.load((bare, tokenizer))
    sums = (bare.embedding.weight.detach() @ bare.direction).tolist()
    sure = max(ascii_lowercase, key=lambda sign: sums[tokenizer.get_vocab()[sign]]) * 4
    e = assay.explain(model, f"{sure} {sure}", "hotflip", unit="characters", flips=8)
    assert e.edits
    assert all(edit.flips and len(edit.text) == 9 for edit in e.edits)
    assert len(e.edits[0].operations) > 1
    assert {int(row.argmax()) for row in model.predict([edit.text for edit in e.edits])} == {1 - e.target}


def test_against_a_label_and_alone_and_in_company_the_same() -> None:
    tokenizer = of_bytes()
    config = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    made = tiny.hf.BertConfig(vocab_size=len(tokenizer), initializer_range=0.5, num_labels=3, **config)
    model = assay.load((tiny.seeded(lambda: tiny.hf.BertForSequenceClassification(made)), tokenizer))
    texts = [TEXT, "so good a story", "it is what it is"]
    settings = {"unit": "characters", "flips": 3, "candidates": 8, "beam": 2}
    together = assay.explain(model, texts, "hotflip", **settings)
    for text, e in zip(texts, together, strict=True):
        assert [one.text for one in assay.explain(model, text, "hotflip", **settings).edits] == [
            x.text for x in e.edits
        ]
    e = together[0]
    against = (e.target + 1) % 3
    wanted = assay.explain(model, TEXT, "hotflip", against=model.labels[against], **settings)
    shown = wanted.edits or (wanted.nearest,)
    assert all((int(model.predict([one.text])[0].argmax()) == against) == one.flips for one in shown)


def test_random_flips_are_of_characters_too() -> None:
    tokenizer = of_characters()
    model = assay.load((network(tokenizer), tokenizer))
    e = assay.explain(model, TEXT, "hotflip", unit="characters", flips=2)
    (other,) = e.random_like(1)
    assert all(len(one.text) == len(TEXT) for one in other.edits)
    (verdict,) = assay.check(model, [TEXT] * 1, ["hotflip"], ["flip_rate"], draws=3)
    assert verdict.mean in (0.0, 1.0)


def test_what_cannot_be_flipped_by_characters_is_refused() -> None:
    model = assay.load(tiny.bert())
    with pytest.raises(BadInput, match="cuts words into longer pieces"):
        assay.explain(model, TEXT, "hotflip", unit="characters")
    with pytest.raises(BadInput, match="synonyms and same_tag are about words"):
        assay.explain(model, TEXT, "hotflip", unit="characters", same_tag=True)


def test_a_text_in_characters_has_the_same_strings() -> None:
    text = in_characters(Text.of(("a b", "c, d")))
    assert text.strings == ("a b", "c, d")
    assert text.words == ("a", "b", "c", ",", "d")
    assert text.replace(0, "x").strings == ("x b", "c, d")


def test_the_engine_answers_words_and_characters_together() -> None:
    tokenizer = of_characters()
    engine = Engine(assay.load((network(tokenizer), tokenizer)))
    found = assay.explain(engine.model, [TEXT, "x y z"], "hotflip", engine=engine, unit="characters", flips=1)
    alone = [assay.explain(engine.model, text, "hotflip", unit="characters", flips=1) for text in (TEXT, "x y z")]
    assert [[x.text for x in e.edits] for e in found] == [[x.text for x in e.edits] for e in alone]

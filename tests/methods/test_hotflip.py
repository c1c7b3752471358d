from __future__ import annotations

from copy import deepcopy
from itertools import product

import numpy as np
import pytest
import tiny
import torch

import assay
from assay.engine.engine import Engine
from assay.errors import AssayError, BadInput
from assay.explanations.base import Explanation
from assay.explanations.edits import Edits
from assay.methods.adversarial.hotflip import HotFlip
from assay.questions.base import Aim
from assay.questions.replacements import Replacements, VocabularyWords
from assay.questions.tags import tags_of
from assay.text.stop_words import STOP_WORDS
from assay.text.text import Text

TEXTS = [
    "a funny film",
    "the plot was dull",
    "it is not good , it is just there",
    "two dogs run through the tall grass",
]


def sure(bow: tiny.Bow, words: int) -> str:
    """A text of so many words that speak for one label each, so that one flip may not be enough."""
    known = sorted(
        (w for w in bow.weights if w.isascii() and w.isalpha() and w.lower() not in STOP_WORDS), key=bow.weights.get
    )
    return " ".join(known[-words:])


@pytest.fixture(scope="module")
def bow() -> tiny.Bow:
    return tiny.linear_bow()


@pytest.fixture(scope="module")
def linear(bow: tiny.Bow) -> Engine:
    return Engine(assay.load((bow.model, bow.tokenizer)))


def test_first_order_changes_are_those_of_a_loop_over_the_vocabulary() -> None:
    network, tokenizer = tiny.bert()
    engine = Engine(assay.load((network, tokenizer)))
    text = Text.of("a funny film")
    (found,) = engine.ask(Replacements(text, aim=Aim(1), k=1000))
    ids = torch.tensor([tokenizer(text.strings[0])["input_ids"]])
    table = network.get_input_embeddings().weight.detach()
    vectors = table[ids].clone().requires_grad_()
    logits = network(inputs_embeds=vectors, attention_mask=torch.ones_like(ids)).logits[0]
    (gradient,) = torch.autograd.grad(logits[1] - logits[[0, *range(2, len(logits))]].logsumexp(0), vectors)
    pieces = {word: tokenizer(text.strings[0]).word_to_tokens(i) for i, word in enumerate(text.words)}
    for i, word in enumerate(text.words):
        span = range(pieces[word].start, pieces[word].end)
        before = sum(float(table[ids[0, p]] @ gradient[0, p]) for p in span)
        assert list(found.changes[i]) == sorted(found.changes[i])
        for new, change in zip(found.words[i], found.changes[i], strict=True):
            token = tokenizer.convert_tokens_to_ids(new)
            assert change == pytest.approx(float(table[token] @ gradient[0, span.start]) - before, abs=1e-5)


def test_the_best_single_flip_of_a_linear_model_is_the_one_that_moves_it_most(bow: tiny.Bow, linear: Engine) -> None:
    e = assay.explain(linear.model, "a funny film", "hotflip", engine=linear, stop_words="any", flips=1, versions=50)
    usable = linear.ask(Replacements(Text.of("funny"), aim=Aim(1), k=10_000))[0].words[0]
    sign = 1 if e.target else -1
    moved = {
        (i, new): sign * (bow.weights[new] - bow.weights[old])
        for (i, old), new in product(enumerate(e.words), usable)
        if new != old
    }
    (i, new) = min(moved, key=moved.__getitem__)
    assert e.edits, "the text can be flipped by one word"
    assert e.edits[0].operations == (("replace", i, e.words[i], new),)
    assert e.edits[0].text == e.text.replace(i, new).strings[0]


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_what_is_returned_flips_on_a_fresh_forward(family: str) -> None:
    network, tokenizer = getattr(tiny, family)()
    model = assay.load((network, tokenizer))
    found = assay.explain(model, TEXTS, "hotflip", stop_words="any", candidates=20)
    for e in found:
        before = max(e.prediction, key=e.prediction.get)
        for edit in e.edits:
            with torch.no_grad():
                logits = network(**tokenizer(edit.text, return_tensors="pt")).logits[0]
            assert model.labels[int(logits.argmax())] != before
            assert edit.flips
            assert len(edit.operations) == sum(a != b for a, b in zip(e.words, Text.of(edit.text).words, strict=True))
        assert bool(e.edits) != bool(e.warnings)
        assert (e.nearest is None) == bool(e.edits)


def test_several_words_go_where_one_is_not_enough(bow: tiny.Bow, linear: Engine) -> None:
    e = assay.explain(linear.model, sure(bow, 6), "hotflip", engine=linear, flips=6)
    assert e.edits
    assert len(e.edits[0].operations) > 1
    one = assay.explain(linear.model, sure(bow, 6), "hotflip", engine=linear, flips=1)
    assert one.edits == ()
    assert one.nearest is not None
    assert "no version was found" in one.warnings[0]
    assert not one.nearest.flips


def test_alone_and_in_company_the_same() -> None:
    engine = Engine(assay.load(tiny.bert()))
    together = assay.explain(engine.model, TEXTS, "hotflip", engine=engine)
    for text, e in zip(TEXTS, together, strict=True):
        alone = assay.explain(engine.model, text, "hotflip")
        assert [edit.text for edit in alone.edits] == [edit.text for edit in e.edits]


def test_constraints(tmp_path, bow: tiny.Bow, linear: Engine) -> None:
    text = sure(bow, 3)
    words = text.split()
    others = [w for w in bow.weights if w.isascii() and w.isalpha() and w not in words][:4]
    file = tmp_path / "synonyms.txt"
    file.write_text(f"{words[0]}\t{others[0]} {others[1]}\n{words[1]}, {others[2]}\n", encoding="utf-8")
    table = bow.model.embedding.weight.detach()
    index = bow.tokenizer.get_vocab()

    def cosine(a: str, b: str) -> float:
        return float(torch.cosine_similarity(table[index[a]], table[index[b]], dim=0))

    settings = {"flips": 1, "versions": 99, "candidates": 999}
    for kind in ({"synonyms": str(file)}, {"similar": 0.5}, {"stop_words": "keep"}):
        e = assay.explain(linear.model, text, "hotflip", engine=linear, **settings, **kind)
        for edit in e.edits or (e.nearest,):
            for _, i, old, new in edit.operations:
                assert old == e.words[i]
                assert old.lower() not in STOP_WORDS
                assert new.lower() not in STOP_WORDS
                assert "synonyms" not in kind or new in {words[0]: others[:2], words[1]: others[2:3]}[old]
                assert "similar" not in kind or cosine(old, new) >= 0.5 - 1e-6


def broken_constraints(e: Edits, bow: tiny.Bow, allowed: dict[str, set[str]], least: float) -> list[str]:
    """What the returned versions break, found from their strings alone."""
    table, index = bow.model.embedding.weight.detach(), bow.tokenizer.get_vocab()
    broken = []
    for edit in e.edits or (e.nearest,):
        pairs = [(a, b) for a, b in zip(e.words, Text.of(edit.text).words, strict=True) if a != b]
        for old, new in pairs:
            alike = torch.cosine_similarity(table[index[old]], table[index[new]], dim=0)
            broken += ["synonyms"] * (new not in allowed[old]) + ["similar"] * bool(alike < least - 1e-6)
            broken += ["stop words"] * (old in STOP_WORDS or new in STOP_WORDS)
    return broken


@pytest.mark.parametrize("ignored", [False, True])
def test_what_is_returned_meets_all_constraints_and_a_search_that_ignores_them_is_found_out(
    ignored: bool, tmp_path, bow: tiny.Bow, linear: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    if ignored:
        monkeypatch.setattr(HotFlip, "_may", lambda self, version, i, new: i not in version.changed)
    text = sure(bow, 3)
    others = [w for w in bow.weights if w.isascii() and w.isalpha() and w not in text.split() and w not in STOP_WORDS]
    allowed = {word: set(others[::2]) for word in text.split()}
    file = tmp_path / "synonyms.txt"
    file.write_text("".join(f"{word}\t{' '.join(sorted(some))}\n" for word, some in allowed.items()), encoding="utf-8")
    settings = {"flips": 3, "versions": 30, "candidates": 30, "similar": 0.1, "synonyms": str(file)}
    e = assay.explain(linear.model, text, "hotflip", engine=linear, **settings)
    assert any(edit.operations for edit in e.edits or (e.nearest,))
    found = broken_constraints(e, bow, allowed, 0.1)
    assert bool(found) == ignored, found


def test_a_new_word_has_the_tag_of_the_old_one(bow: tiny.Bow) -> None:
    """A tagger that reads words, in the place of the bundled one: nothing else of the search changes."""
    network, tokenizer = deepcopy(tiny.token_tagger())
    network.classifier.weight.data -= network.classifier.weight.data.mean(1, keepdim=True)  # else one tag wins always
    network.bert.embeddings.word_embeddings.weight.data *= 30
    tagger = assay.load((network, tokenizer))
    here = Engine(assay.load((bow.model, bow.tokenizer)), resolve=lambda name: tagger)
    settings = {"flips": 1, "versions": 99, "candidates": 60, "stop_words": "any"}
    text = sure(bow, 1)

    def edits(**more: bool) -> list[tuple[str, tuple[int, ...]]]:
        e = assay.explain(here.model, text, "hotflip", engine=here, **settings, **more)
        return [(str(edit.text), tuple(i for _, i, _, _ in edit.operations)) for edit in e.edits]

    def tags(string: str, places: tuple[int, ...]) -> dict[int, str]:
        return next(Engine(tagger).run([tags_of(string, places, None)])).get()

    same = [(string, places) for string, places in edits() if tags(string, places) == tags(text, places)]
    assert 0 < len(same) < len(edits())
    assert edits(same_tag=True) == same


def test_toward_a_label(bow: tiny.Bow, linear: Engine) -> None:
    e = assay.explain(linear.model, "a funny film", "hotflip", engine=linear, stop_words="any")
    other = next(label for label in linear.model.labels if label != e.label)
    toward = assay.explain(linear.model, "a funny film", "hotflip", engine=linear, stop_words="any", against=other)
    assert toward.edits
    assert all(max(edit.prediction, key=edit.prediction.get) == other for edit in toward.edits)


def test_what_cannot_be_flipped_is_refused() -> None:
    with pytest.raises(BadInput, match="answers freely"):
        assay.explain(assay.load(tiny.masked_lm()), {"text": "a [MASK] film", "word": "good"}, "hotflip")
    model = assay.load(tiny.bert())
    said = assay.explain(model, "a funny film", "leave_one_out").label
    other = next(label for label in model.labels if label != said)
    with pytest.raises(BadInput, match="predicts something else"):
        assay.explain(model, "a funny film", "hotflip", target=other)
    with pytest.raises(BadInput, match="cannot be read"):
        assay.explain(model, "a funny film", "hotflip", synonyms="there-is-no-such-file.txt")
    with pytest.raises(AssayError, match="flips, beam"):
        assay.explain(model, "a funny film", "hotflip", beam=0)


def test_of_a_pair_the_last_text_changes() -> None:
    engine = Engine(assay.load(tiny.bert()))
    pair = ("a man in a red shirt", "a man is playing music")
    e = assay.explain(engine.model, pair, "hotflip", engine=engine, stop_words="any", flips=2)
    for edit in e.edits or (e.nearest,):
        assert edit.strings[0] == pair[0]
        assert edit.text == edit.strings[1]
    first = assay.explain(engine.model, pair, "hotflip", engine=engine, stop_words="any", flips=2, field="premise")
    assert all(edit.strings[1] == pair[1] for edit in first.edits or (first.nearest,))


def test_saved_and_read_back() -> None:
    for e in assay.explain(assay.load(tiny.bert()), TEXTS, "hotflip", flips=1):
        again = Explanation.from_json(e.to_json())
        assert again.to_json() == e.to_json()
        assert again.form == "versions"
        assert {"text", "prediction", "operations", "flips"} <= set(
            (e.to_dict()["edits"] or [again.to_dict()["nearest"]])[0]
        )


def test_random_words_are_whole_words_and_the_same_for_a_seed() -> None:
    engine = Engine(assay.load(tiny.bert()))
    words = engine.ask(VocabularyWords(30, 1))
    assert words == engine.ask(VocabularyWords(30, 1)) != engine.ask(VocabularyWords(30, 2))
    assert all(word.isalpha() for word in words)
    e = assay.explain(engine.model, "a funny film , really", "hotflip", engine=engine, flips=2)
    sizes = sorted(len(edit.operations) for edit in e.edits or (e.nearest,))
    for random in e.random_like(20):
        assert sorted(len(edit.operations) for edit in random.edits) == sizes
        assert all(edit.text != e.text.strings[0] for edit in random.edits)
    assert len({edit.text for random in e.random_like(20) for edit in random.edits}) > 10
    assert (
        np.unique([r.edits[0].text for r in e.random_like(3)]).tolist()
        == np.unique([r.edits[0].text for r in e.random_like(3)]).tolist()
    )

"""Token classifiers: the tag of one word, against the bare model one text at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiny
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

import assay
import task_checks
from assay.engine.engine import Engine
from assay.errors import Unanswerable
from assay.models.transformers.tasks.places import around
from assay.questions.base import Aim
from assay.questions.erasers import Mask
from assay.questions.gradients import InputGradient
from assay.questions.inside import Attention
from assay.questions.predict import Predict
from assay.text.text import Text
from assay.text.variants import Variants

FAMILIES = ["bert", "roberta", "xlm_roberta"]
family = pytest.mark.parametrize("name", FAMILIES)
TEXT = "A dull film, said Ann; the film was not in São Paulo."
WORDS = Text.of(TEXT).words


def tags(name: str, string: str, start: int, pair: Any = None) -> torch.Tensor:
    """The logits of the first piece that has characters from `start` on, by the bare model."""
    model, tokenizer = pair or tiny.token_tagger(name)
    coded = tokenizer([string], return_tensors="pt", return_offsets_mapping=True)
    ends = [end for _, end in coded.pop("offset_mapping")[0].tolist()]
    at = next(i for i, end in enumerate(ends) if end > start)
    with torch.no_grad():
        return model(**coded).logits[0, at].double()


def odds(logits: torch.Tensor, target: int) -> Any:
    others = [i for i in range(len(logits)) if i != target]
    return logits[target] - logits[others].logsumexp(0)


@family
def test_by_default_the_word_with_the_likeliest_tag_that_is_not_o(name: str) -> None:
    told = assay.explain(tiny.token_tagger(name), TEXT, "leave_one_out")
    chances = [tags(name, TEXT, start).softmax(0) for start, _ in Text.of(TEXT).spans]
    best = int(np.argmax([float(chance[1:].max()) for chance in chances]))
    start, end = Text.of(TEXT).spans[best]
    assert told.text.strings == (TEXT[:start], TEXT[start:end], TEXT[end:])
    assert told.words == WORDS
    assert list(told.prediction.values()) == pytest.approx(chances[best].tolist(), abs=1e-5)
    assert told.target == int(chances[best].argmax())
    assert told.about.labels == ("O", "PER", "LOC")


@family
@pytest.mark.parametrize("word", ["5", "5:Ann", "Ann"])
def test_leave_one_out_against_a_plain_loop(name: str, word: str) -> None:
    told = assay.explain(tiny.token_tagger(name), (TEXT, word), "leave_one_out")
    assert told.text.fields[1].string == "Ann"
    whole = odds(tags(name, TEXT, TEXT.index("Ann")), told.target)
    for i, score in enumerate(told.scores):
        mask = tiny.token_tagger(name)[1].mask_token
        less = Text.of(TEXT).replace(i, mask) if i == 5 else Text.of(TEXT).without(i)
        start = less.spans[5 if i >= 5 else 4][0]
        assert score == pytest.approx(float(whole - odds(tags(name, less.strings[0], start), told.target)), abs=1e-4)


@given(st.text("ab ,(\n🙂東", min_size=1, max_size=12), st.data())
def test_three_parts_are_one_string_whatever_is_erased(string: str, data: st.DataObject) -> None:
    """The parts around a word, with any words left out or replaced, are the whole with the same words so."""
    (field,) = Text.of(string).fields
    assume(field.words)
    place = data.draw(st.integers(0, len(field.words) - 1))
    parts = Text(around(field, field.spans[place], "word"), ("before", "word", "after"))
    some: list[str | None] = [data.draw(st.sampled_from([word, None, "x"])) for word in field.words]
    some[place] = field.words[place]
    assert parts.words == field.words
    assert "".join(parts.row(some)) == field.join(some)
    read = parts.with_words(some).read.fields[0]
    assert (read.string, read.spans) == (field.with_words(some).string, field.with_words(some).spans)
    keep = np.array([[word is not None for word in some]])
    assert "".join(Variants(parts, keep).rows({})[0]) == Variants(Text.of(string), keep).rows({})[0][0]


def test_every_word_can_be_the_explained_one() -> None:
    model = assay.load(tiny.token_tagger())
    told = assay.explain(model, [(TEXT, str(i)) for i in range(len(WORDS))], "leave_one_out", target="LOC")
    for e, (start, _) in zip(told, Text.of(TEXT).spans, strict=True):
        assert e.words == WORDS
        assert e.prediction["LOC"] == pytest.approx(float(tags("bert", TEXT, start).softmax(0)[2]), abs=1e-5)


def test_other_erasers_stand_in_the_words_place() -> None:
    told = assay.explain(tiny.token_tagger(), (TEXT, "Ann"), "leave_one_out", eraser=Mask("film"))
    other = TEXT.replace("Ann", "film", 1)
    whole, less = (odds(tags("bert", string, TEXT.index("Ann")), told.target) for string in (TEXT, other))
    assert told.scores[5] == pytest.approx(float(whole - less), abs=1e-4)


def test_all_words_deleted_but_the_place() -> None:
    told = assay.explain(tiny.token_tagger(), ("Ann is in Rome", "Rome"), "kernel_shap")
    nothing = odds(tags("bert", "[MASK]", 0), told.target)
    assert told.facts["baseline"] == pytest.approx(float(nothing), abs=1e-4)


@family
def test_gradients_are_slopes(name: str) -> None:
    model, tokenizer = pair = task_checks.doubled(tiny.token_tagger(name))
    told = assay.explain(pair, (TEXT, "Ann"), "input_x_gradient")
    coded = tokenizer([TEXT], return_tensors="pt", return_offsets_mapping=True)
    spans = coded.pop("offset_mapping")[0].tolist()
    at = next(i for i, (_, end) in enumerate(spans) if end > TEXT.index("Ann"))
    owners = [[i for i, (a, b) in enumerate(spans) if a < end and start < b] for start, end in Text.of(TEXT).spans]

    def value(embedded: torch.Tensor) -> torch.Tensor:
        out = model(inputs_embeds=embedded, attention_mask=coded["attention_mask"])
        return odds(out.logits[0, at], told.target)

    embedded = model.get_input_embeddings()(coded["input_ids"]).detach()
    task_checks.gradient_times_input(told, embedded, owners, value)


@family
@pytest.mark.parametrize("deleted", [5, 4])
def test_gradients_of_a_text_from_which_the_word_itself_was_deleted(name: str, deleted: int) -> None:
    """The mask that stands there is read, and what it counts for is given to no other word."""
    model, tokenizer = pair = task_checks.doubled(tiny.token_tagger(name))
    here = Engine(assay.load(pair))
    text = assay.explain(here.model, (TEXT, "Ann"), "leave_one_out", engine=here).text.without(deleted)
    (got,) = here.ask(InputGradient(text, aim=Aim(1)))
    standing = Text.of(TEXT).replace(5, tokenizer.mask_token) if deleted == 5 else Text.of(TEXT).without(4)
    spans = [span for i, span in enumerate(standing.spans) if i != deleted or deleted != 5]
    coded = tokenizer([standing.strings[0]], return_tensors="pt", return_offsets_mapping=True)
    pieces = coded.pop("offset_mapping")[0].tolist()
    place = standing.spans[5 if deleted == 5 else 4]
    at = next(i for i, (a, b) in enumerate(pieces) if a < place[1] and place[0] < b)
    embedded = model.get_input_embeddings()(coded["input_ids"]).detach().requires_grad_()
    value = odds(model(inputs_embeds=embedded, attention_mask=coded["attention_mask"]).logits[0, at], 1)
    products = (torch.autograd.grad(value, embedded)[0] * embedded.detach())[0].sum(-1)
    want = [sum(float(products[i]) for i, (a, b) in enumerate(pieces) if a < end and start < b) for start, end in spans]
    assert got.values[0] == pytest.approx(value.item())
    np.testing.assert_allclose(got.scores[0], want, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(here.ask(Predict(text)).value(1), got.values, atol=1e-9)


@pytest.mark.parametrize("kind", [lambda text: InputGradient(text, aim=Aim(1)), Attention])
def test_a_text_without_a_place_for_the_word_is_refused_alone(kind: Any) -> None:
    """Words in front that grew push the explained one out of the window."""
    here = Engine(assay.load(tiny.token_tagger()))
    good = assay.explain(here.model, (TEXT, "Ann"), "leave_one_out", engine=here).text
    bad = good.replace(0, "dull " * 200)

    def talk(text: Text) -> Any:
        return (yield kind(text))

    one, other = here.run([talk(good), talk(bad)])
    assert one.get() is not None
    with pytest.raises(Unanswerable, match="no place for the explained word"):
        other.get()


def test_gradients_of_a_text_that_is_not_settled() -> None:
    with pytest.raises(Unanswerable, match="before it is settled"):
        Engine(assay.load(tiny.token_tagger())).ask(InputGradient(Text.of("film"), aim=Aim(1)))


@family
def test_company_does_not_matter(name: str) -> None:
    sources = ["film", TEXT, (TEXT, "5"), "the film was not good", ("東京 is a big 🙂", "東")]
    task_checks.company_does_not_matter(tiny.token_tagger(name), sources)


@task_checks.every_method
def test_every_method_runs(method: str) -> None:
    assert task_checks.runs(tiny.token_tagger(), (TEXT, "Ann"), method).words == WORDS


def test_the_attention_is_that_of_the_word() -> None:
    here = Engine(assay.load(tiny.token_tagger()))
    told = assay.explain(here.model, (TEXT, "Ann"), "leave_one_out", engine=here)
    maps = here.ask(Attention(told.text))
    looked = np.zeros(maps.owners.pieces)
    looked[list(maps.readers)] = 1
    assert told.words[int(np.argmax(maps.owners.per_word(looked)))] == "Ann"


def test_sentences_are_cut_at_the_word() -> None:
    told = assay.explain(tiny.token_tagger(), (TEXT, "Ann"), "leave_one_out", split="sentences")
    assert told.words == ("A dull film, said", "Ann", "; the film was not in São Paulo.")
    assert "".join(told.text.strings) == TEXT


def test_words_beyond_the_window() -> None:
    long = "a dull film , really " * 40
    told = assay.explain(tiny.token_tagger(), long, "leave_one_out")
    assert told.truncated
    assert "".join(told.strings) == long
    last = told.strings[2]
    assert [last[a:b] for a, b in told.unseen] == list(Text.of(long).words[len(told.words) :])
    assert type(told).from_json(told.to_json()).to_dict() == told.to_dict()
    task_checks.refuses(tiny.token_tagger(), (long, "199"), "no word 199")


def test_special_tokens_in_the_text() -> None:
    for string in ("[MASK] film [SEP] [PAD] Ann", "[CLS]", "<mask> </s>"):
        told = assay.explain(tiny.token_tagger(), string, "leave_one_out")
        assert np.isfinite(told.scores).all()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ((TEXT, "99"), "no word 99"),
        ((TEXT, "5:Bob"), "is 'Ann', not 'Bob'"),
        ((TEXT, "Bob"), "no word 'Bob'"),
        ((TEXT, "film"), "2 times.*'2:film' or '8:film'"),
        ((TEXT, ""), "no word ''"),
        ({"text": TEXT, "place": "5"}, "no 'place' among them"),
    ],
)
def test_a_wrong_word_is_said(source: Any, said: str) -> None:
    task_checks.refuses(tiny.token_tagger(), source, said)


def test_the_word_field_is_not_explained() -> None:
    task_checks.refuses(tiny.token_tagger(), (TEXT, "5"), "words of the text are explained", focus=["text", "word"])


def test_predict_and_an_unsettled_text() -> None:
    model = assay.load(tiny.token_tagger())
    chances = model.predict([(TEXT, "Ann"), "film"])
    assert chances[0] == pytest.approx(tags("bert", TEXT, TEXT.index("Ann")).softmax(0).numpy(), abs=1e-5)
    with pytest.raises(assay.AssayError, match="before it is settled"):
        Engine(model).ask(Predict(Text.of("film")))


def test_from_a_directory(tmp_path: Any) -> None:
    task_checks.saved(tiny.token_tagger(), tmp_path, TEXT)


def test_checks_read_the_explanations() -> None:
    (verdict,) = assay.check(tiny.token_tagger(), [TEXT], ["leave_one_out"], ["deletion"], draws=5)
    assert np.isfinite(verdict.mean)

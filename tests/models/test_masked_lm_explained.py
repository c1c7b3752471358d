"""Masked language models as explained models, and candidates above a threshold; against the bare model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiny
import torch

import assay
import task_checks
from assay.engine.engine import Engine
from assay.questions.answers import Fills
from assay.questions.erasers import each
from assay.questions.fill import Fill
from assay.questions.inside import Attention
from assay.text.text import Text
from assay.text.variants import Variants

FAMILIES = ["bert", "bert_cased", "roberta", "distilbert"]
family = pytest.mark.parametrize("name", FAMILIES)
BEFORE, AFTER = "The film was not", ", said the man."


def mask(name: str) -> str:
    return str(tiny.masked_lm(name)[1].mask_token)


def at_the_masks(name: str, string: str, pair: Any = None) -> torch.Tensor:
    """Log-probabilities of the whole vocabulary at each mask of the text, by the bare model."""
    model, tokenizer = pair or tiny.masked_lm(name)
    coded = tokenizer([string], return_tensors="pt")
    with torch.no_grad():
        logits = model(**coded).logits[0]
    return logits[coded["input_ids"][0] == tokenizer.mask_token_id].double().log_softmax(-1)


def token_of(name: str, word: str) -> int:
    """The one piece of a word that stands behind a blank."""
    (token,) = tiny.masked_lm(name)[1](f"a {word}", add_special_tokens=False)["input_ids"][1:]
    return int(token)


@family
@pytest.mark.parametrize("word", ["the", None])
def test_leave_one_out_against_a_plain_loop(name: str, word: str | None) -> None:
    text = f"{BEFORE} {mask(name)}{AFTER}"
    told = assay.explain(tiny.masked_lm(name), text if word is None else (text, word), "leave_one_out")
    assert told.words == (*BEFORE.split(), ",", "said", "the", "man", ".")
    assert told.text.strings[:3] == (f"{BEFORE} ", mask(name), AFTER)
    token = token_of(name, told.text.strings[3].strip())
    whole = float(at_the_masks(name, text)[0, token])
    assert told.prediction[told.label] == pytest.approx(np.exp(whole), abs=1e-6)
    hole = Text.of(f"{BEFORE} HOLE{AFTER}")
    places = [i for i, w in enumerate(hole.words) if w != "HOLE"]
    for i, score in zip(places, told.scores, strict=True):
        less = float(at_the_masks(name, hole.without(i).strings[0].replace("HOLE", mask(name)))[0, token])
        assert score == pytest.approx(task_checks.log_odds(whole) - task_checks.log_odds(less), abs=1e-4)


@family
def test_by_default_the_likeliest_whole_word(name: str) -> None:
    text = f"{BEFORE} {mask(name)}{AFTER}"
    told = assay.explain(tiny.masked_lm(name), text, "leave_one_out")
    lm = assay.load(tiny.masked_lm(name))
    holed = Text.of(text.replace(mask(name), "HOLE"))
    keep = np.array([[word != "HOLE" for word in holed.words]])
    (fill,) = Engine(lm, resolve=lambda _: lm).ask(Fill(Variants(holed, keep), model="lm", k=1))
    assert told.text.strings[3].strip() == fill.words[0][0]
    assert told.prediction[told.label] == pytest.approx(fill.probabilities[0, 0], abs=1e-6)


@pytest.mark.parametrize("word", ["5", "5:charming", "charming"])
def test_a_word_of_the_text_is_made_a_hole(word: str) -> None:
    text = "it was not a very charming film"
    told = assay.explain(tiny.masked_lm(), (text, word), "leave_one_out")
    tokenizer = tiny.masked_lm()[1]
    tokens = tokenizer("charming", add_special_tokens=False)["input_ids"]
    assert len(tokens) > 1  # a word of several pieces has as many masks
    assert told.text.strings == ("it was not a very ", "[MASK]" * len(tokens), " film", "charming")
    chances = at_the_masks("bert", text.replace("charming", "[MASK]" * len(tokens)))
    whole = float(sum(own[token] for own, token in zip(chances, tokens, strict=True)))
    assert told.prediction[told.label] == pytest.approx(np.exp(whole), rel=1e-4)


@family
def test_gradients_are_slopes(name: str) -> None:
    model, tokenizer = pair = task_checks.doubled(tiny.masked_lm(name))
    text = f"{BEFORE} {mask(name)}{AFTER}"
    told = assay.explain(pair, (text, "the"), "input_x_gradient")
    coded = tokenizer([text], return_tensors="pt", return_offsets_mapping=True)
    spans = coded.pop("offset_mapping")[0].tolist()
    hole = coded["input_ids"][0].tolist().index(tokenizer.mask_token_id)
    words = [s for s in Text.of(text.replace(mask(name), "_" * len(mask(name)))).spans if "_" not in text[slice(*s)]]
    words = [s for s in words if s[0] != text.index(mask(name))]
    owners = [[i for i, (a, b) in enumerate(spans) if a < end and start < b and i != hole] for start, end in words]

    def value(embedded: torch.Tensor) -> torch.Tensor:
        out = model(inputs_embeds=embedded, attention_mask=coded["attention_mask"])
        return task_checks.log_odds(out.logits[0, hole].log_softmax(-1)[token_of(name, "the")])  # type: ignore[no-any-return]

    embedded = model.get_input_embeddings()(coded["input_ids"]).detach()
    task_checks.gradient_times_input(told, embedded, owners, value)


@family
def test_company_does_not_matter(name: str) -> None:
    m = mask(name)
    sources = [f"film {m}", f"{BEFORE} {m}{AFTER}", (f"{m} is a film", "the"), (f"{BEFORE}{AFTER}", "1")]
    task_checks.company_does_not_matter(tiny.masked_lm(name), sources)


@task_checks.every_method
def test_every_method_runs(method: str) -> None:
    told = task_checks.runs(tiny.masked_lm(), (f"{BEFORE} [MASK]{AFTER}", "the"), method)
    assert told.words == (*BEFORE.split(), ",", "said", "the", "man", ".")


def test_the_hole_is_never_erased() -> None:
    told = assay.explain(tiny.masked_lm(), ("film [MASK]", "the"), "kernel_shap")
    nothing = float(at_the_masks("bert", "[MASK]")[0, token_of("bert", "the")])
    assert told.facts["baseline"] == pytest.approx(task_checks.log_odds(nothing), abs=1e-4)


def test_masks_beside_the_hole_are_not_the_hole() -> None:
    told = assay.explain(tiny.masked_lm(), ("film,[MASK],film", "the"), "leave_one_out", eraser="mask", scalar="logit")
    token = token_of("bert", "the")
    whole = float(at_the_masks("bert", "film,[MASK],film")[0, token])
    left, right = at_the_masks("bert", "film[MASK][MASK],film"), at_the_masks("bert", "film,[MASK][MASK]film")
    assert told.words == ("film", ",", ",", "film")
    assert told.scores[1:3] == pytest.approx([whole - float(left[1, token]), whole - float(right[0, token])], abs=1e-4)


def test_the_attention_is_that_of_the_hole() -> None:
    here = Engine(assay.load(tiny.masked_lm()))
    told = assay.explain(here.model, ("the [MASK] film", "the"), "leave_one_out", engine=here)
    assert here.ask(Attention(told.text)).readers == (2,)  # [CLS] the [MASK]


def test_words_beyond_the_window() -> None:
    long = "the [MASK] film " + "a dull film , really " * 40
    told = assay.explain(tiny.masked_lm(), long, "leave_one_out")
    assert told.truncated
    assert "".join(told.strings[:3]) == long
    assert [told.strings[2][a:b] for a, b in told.unseen] == list(Text.of(long).words[len(told.words) + 3 :])
    task_checks.refuses(tiny.masked_lm(), "a dull film , really " * 40 + "[MASK]", r"put \[MASK\]")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("a film", r"put \[MASK\] in the place"),
        (("a film", "dull"), "no word 'dull'"),
        ("[MASK] a [MASK]", r"has 2 \[MASK\]"),
        ("[MASK]", "no word to explain"),
        (("a [MASK] film", ""), "no word that"),
        (("a [MASK] film", "\U0001f9ff"), "no tokens for"),
    ],
)
def test_a_wrong_hole_is_said(source: Any, said: str) -> None:
    task_checks.refuses(tiny.masked_lm(), source, said)


def test_special_tokens_in_the_text() -> None:
    told = assay.explain(tiny.masked_lm(), "[SEP] a [MASK] film [PAD] <mask>", "leave_one_out")
    assert np.isfinite(told.scores).all()


def test_predict() -> None:
    chances = assay.load(tiny.masked_lm()).predict([("a [MASK] film", "the")])
    expected = float(at_the_masks("bert", "a [MASK] film")[0, token_of("bert", "the")].exp())
    assert chances[0] == pytest.approx([1 - expected, expected], abs=1e-6)


def test_from_a_directory(tmp_path: Any) -> None:
    task_checks.saved(tiny.masked_lm(), tmp_path, "a [MASK] film")


def filled(text: Text, keep: Any, **wanted: Any) -> list[Fills]:
    lm = assay.load(tiny.masked_lm())
    return Engine(lm, resolve=lambda _: lm).ask(Fill(Variants(text, keep), model="lm", **wanted))  # type: ignore[no-any-return]


@pytest.mark.parametrize("least", [0.05, 0.01, 1e-4, 0.0])
@pytest.mark.parametrize("k", [None, 3])
def test_candidates_above_a_threshold(least: float, k: int | None) -> None:
    text, keep = Text.of("the film was good"), np.array([[False, True, True, True], [True, False, True, False]])
    everything = filled(text, keep, k=10_000)
    for fill, every in zip(filled(text, keep, k=k, threshold=least), everything, strict=True):
        for h in range(len(every.words)):
            count = max(1, int((every.probabilities[h] >= least).sum()))
            count = count if k is None else min(k, count)
            assert fill.words[h] == every.words[h][:count]
            np.testing.assert_allclose(fill.probabilities[h, :count], every.probabilities[h, :count], atol=1e-7)
            assert not fill.probabilities[h, count:].any()


def test_a_threshold_nobody_reaches_gives_the_likeliest() -> None:
    (fill,) = filled(Text.of("a film"), np.array([[False, True]]), threshold=2.0)
    (best,) = filled(Text.of("a film"), np.array([[False, True]]), k=1)
    assert fill.words == best.words


def test_thresholds_share_a_batch_with_others() -> None:
    """Rows of one batch may want different things."""
    text = Text.of("the film was good")
    lm = assay.load(tiny.masked_lm())
    here = Engine(lm, budget=10_000, resolve=lambda _: lm)

    def conversation(**wanted: Any) -> Any:
        return (yield Fill(Variants(text, each(4)), model="lm", **wanted))

    wants: list[dict[str, Any]] = [{"k": 2}, {"threshold": 0.01}, {"k": 5, "threshold": 1e-3}, {"threshold": 2.0}]
    for outcome, wanted in zip(here.run([conversation(**one) for one in wants]), wants, strict=True):
        assert [fill.words for fill in outcome.get()] == [fill.words for fill in filled(text, each(4), **wanted)]


def test_input_marginalization_with_a_threshold_takes_the_candidates_above_it() -> None:
    model = assay.load(tiny.bert())
    told = assay.explain(
        model, "the film was good", "input_marginalization", engine=task_checks.engine(model), threshold=0.01, cap=30
    )
    for i, fill in enumerate(filled(Text.of("the film was good"), each(4), k=30)):
        assert told.facts["counts"][i] == max(1, int((fill.probabilities[0] >= 0.01).sum()))

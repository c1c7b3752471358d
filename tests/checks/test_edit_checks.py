from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import exp, log

import numpy as np
import pytest
import tiny
import torch

import assay
from assay.checks.diversity import bleu
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.explanations.edits import Edits
from assay.explanations.word_versions import WordVersion
from assay.questions.likelihoods import word_likelihoods, words_of
from assay.registry.finding import find_check
from assay.text.distance import edit_distance
from assay.text.text import Text
from assay.verdicts.judge import judge
from planted_writers import BagEncoder

TEXTS = ["a funny film", "the plot was dull", "two dogs run through the tall grass", "this is a very good film"]


@cache
def engine() -> Engine:
    bow, editor = tiny.linear_bow(), assay.load(tiny.masked_lm())
    return Engine(assay.load((bow.model, bow.tokenizer)), resolve=lambda name: editor)


@cache
def found() -> list[Edits]:
    return assay.explain(engine().model, TEXTS, "hotflip", engine=engine(), stop_words="any", versions=3)


def score(check: str, explanations: list[Edits], **settings: object) -> float:
    (verdict,) = judge(engine(), explanations, [assay_check(check, **settings)], draws=3, progress=False)
    return verdict.mean


def assay_check(name: str, **settings: object):
    return find_check(name).make(settings)


def test_flip_rate_and_minimality_of_versions_that_flip() -> None:
    assert all(e.edits for e in found())
    assert score("flip_rate", found()) == 1
    shares = [np.mean([len(edit.operations) / len(e.words) for edit in e.edits]) for e in found()]
    assert score("minimality", found()) == pytest.approx(np.mean(shares))


def test_a_version_that_lies_about_its_prediction_is_found_out() -> None:
    lies = [replace(e, edits=(replace(e.edits[0], strings=e.text.strings),)) for e in found()]
    assert score("flip_rate", lies) == 0
    assert score("minimality", lies) == 1


def test_where_no_version_was_found_the_rate_is_zero() -> None:
    none = [replace(e, edits=(), nearest=e.edits[0]) for e in found()]
    assert score("flip_rate", none) == 0
    assert score("minimality", none) == 1


def test_edit_distance_against_a_recursion() -> None:
    @cache
    def slow(a: tuple[str, ...], b: tuple[str, ...]) -> int:
        if not a or not b:
            return len(a) + len(b)
        return min(slow(a[1:], b) + 1, slow(a, b[1:]) + 1, slow(a[1:], b[1:]) + (a[0] != b[0]))

    generator = np.random.default_rng(0)
    for _ in range(40):
        one, two = (tuple(generator.choice(list("abc"), size=generator.integers(0, 7))) for _ in range(2))
        assert edit_distance(one, two) == slow(one, two)


def test_bleu_by_hand() -> None:
    words, other = "the cat sat on the mat".split(), "the cat sat on a mat".split()
    precisions = [5 / 6, (3 + 1) / (5 + 1), (2 + 1) / (4 + 1), (1 + 1) / (3 + 1)]
    assert bleu(words, [other]) == pytest.approx(exp(sum(map(log, precisions)) / 4))
    assert bleu(words, [words]) == 1
    assert bleu(["a"], [["b"]]) == 0
    short = "the cat sat on".split()
    assert bleu(short, [words]) == pytest.approx(exp(1 - 6 / 4))


def test_diversity_of_equal_versions_is_zero() -> None:
    same = [replace(e, edits=(e.edits[0], e.edits[0])) for e in found()]
    assert score("diversity", same) == pytest.approx(0)
    assert score("diversity", [replace(e, edits=e.edits[:1]) for e in found()]) == 0


def test_word_likelihoods_are_those_of_a_loop_with_one_mask_at_a_time() -> None:
    network, tokenizer = tiny.masked_lm()
    places = words_of(["a funny film that never lets go"])[0]
    found = engine_answers(places)
    for (string, i, word), value in zip(places, found, strict=True):
        words = string.split()
        pieces = tokenizer(word, add_special_tokens=False)["input_ids"]
        words[i] = " ".join([tokenizer.mask_token] * len(pieces))
        encoded = tokenizer(" ".join(words), return_tensors="pt")
        at = (encoded["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0]
        with torch.no_grad():
            logs = network(**encoded).logits[0, at].log_softmax(-1)
        assert value == pytest.approx(sum(float(row[p]) for row, p in zip(logs, pieces, strict=True)), abs=1e-4)


def engine_answers(places):
    def conversation():
        return (yield from word_likelihoods(places, "mlm"))

    return next(engine().run([conversation()])).get()


def test_fluency_is_the_mean_change_near_the_edit() -> None:
    e = found()[2]
    edit = e.edits[0]
    changed = {i for _, i, *_ in edit.operations}
    near = sorted({j for i in changed for j in range(i - 1, i + 2) if 0 <= j < len(e.words)})
    before, after = words_of([e.text.strings[0], edit.text])
    values = engine_answers([before[j] for j in near] + [after[j] for j in near])
    wanted = abs(values[: len(near)].mean() - values[len(near) :].mean())
    assert score("fluency", [e], near=1) == pytest.approx(wanted)


def test_similarity_is_the_cosine_of_mean_states_by_the_network_itself() -> None:
    network, tokenizer = tiny.masked_lm()

    def vector(string: str) -> np.ndarray:
        encoded = tokenizer(string, return_tensors="pt", add_special_tokens=True)
        with torch.no_grad():
            states = network(**encoded, output_hidden_states=True).hidden_states[-1][0]
        return states[1:-1].mean(dim=0).numpy()  # without [CLS] and [SEP]

    e = found()[2]
    one, others = vector(e.text.strings[0]), [vector(edit.text) for edit in e.edits]
    wanted = [one @ two / np.linalg.norm(one) / np.linalg.norm(two) for two in others]
    assert score("similarity", [e], layer=-1) == pytest.approx(np.mean(wanted), abs=1e-5)
    nearest = [replace(e, edits=(), nearest=e.edits[1])]
    assert score("similarity", nearest, layer=-1) == pytest.approx(wanted[1], abs=1e-5)


def test_other_words_for_the_same_pass_similarity() -> None:
    """Planted: the encoder gives synonyms one direction; random words have directions of their own."""
    synonyms = {"amusing": "funny", "movie": "film", "boring": "dull", "hounds": "dogs", "great": "good"}
    turned = {old: new for new, old in synonyms.items()}
    here, made = Engine(engine().model, resolve=lambda name: BagEncoder(synonyms)), []
    for text in ("a funny film", "the plot was dull", "two dogs run through the grass", "a very good film"):
        whole = Text.of(text)
        version = WordVersion(whole, tuple(turned.get(word, word) for word in whole.words), (0.5, 0.5))
        facts = {"random_words": ["zebra", "violin", "granite", "seven"]}
        case = replace(found()[0].case, text=whole)
        made.append(replace(found()[0], case=case, edits=(version.edit(flips=True),), facts=facts))
    (verdict,) = judge(here, made * 6, [assay_check("similarity")], draws=12, progress=False)
    assert verdict.passed
    assert verdict.mean == pytest.approx(1)
    assert verdict.random < 0.9
    (clause,) = judge(here, [replace(made[2], edits=(replace(made[2].edits[0], strings=("two dogs run",)),))],
                      [assay_check("similarity")], draws=2, progress=False)  # fmt: skip
    assert clause.mean < 0.8


def test_label_kept_asks_another_model() -> None:
    with pytest.raises(BadInput, match="second model"):
        score("label_kept", found())
    same = Engine(engine().model, resolve=lambda name: engine().model)
    (new,) = judge(same, found(), [assay_check("label_kept", judge="itself")], draws=2, progress=False)
    (old,) = judge(same, found(), [assay_check("label_kept", judge="itself", expect="old")], draws=2, progress=False)
    assert new.mean == 1
    assert old.mean == 0


def test_label_kept_goes_by_the_names_of_labels_and_not_by_their_order() -> None:
    """A judge that knows the same labels in another order says the same; one with other labels is refused."""
    bow, first, second = tiny.linear_bow(), *engine().model.labels

    def turned(texts: list[str]) -> np.ndarray:
        with torch.no_grad():
            logits = bow.model(
                **bow.tokenizer(texts, return_tensors="pt", padding=True, return_token_type_ids=False)
            ).logits
        return logits.softmax(-1).numpy()[:, ::-1].copy()

    for labels, wanted in (([second, first], 1.0), (["other", first], None)):
        judged_by = assay.BlackBox(turned, labels=labels, name="turned")
        here = Engine(engine().model, resolve=lambda name, judged_by=judged_by: judged_by)
        if wanted is None:
            with pytest.raises(BadInput, match="they must be the same"):
                judge(here, found(), [assay_check("label_kept", judge="turned")], draws=2, progress=False)
        else:
            (verdict,) = judge(here, found(), [assay_check("label_kept", judge="turned")], draws=2, progress=False)
            assert verdict.mean == wanted


@pytest.mark.parametrize("check", ["flip_rate", "minimality", "fluency", "similarity"])
def test_random_versions_seldom_pass(check: str) -> None:
    """Random edits put in the place of the method's own: better than random in at most one of twenty, plus chance."""
    made = [list(e.random_like(24)) for e in found()]
    passed = 0
    for k in range(24):
        (verdict,) = judge(engine(), [own[k] for own in made], [assay_check(check)], draws=12, seed=k, progress=False)
        passed += verdict.passed
    assert passed <= 4


def test_paths_have_no_random_edits() -> None:
    path = assay.explain(engine().model, "a funny film", "input_reduction", engine=engine())
    with pytest.raises(BadInput, match="path of edits"):
        judge(engine(), [path], ["flip_rate"], draws=2, progress=False)

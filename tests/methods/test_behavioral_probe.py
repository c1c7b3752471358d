"""Behavioural probes: likelihoods against slow loops, what each kind counts, a model that cannot know order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
import torch
from scipy.stats import binomtest

import assay
from assay.data.behavior.probes import PreferenceProbe, ProbeGroup
from assay.engine.engine import Engine
from assay.errors import BadInput, UnknownName
from assay.explanations.behavior import Behavior
from assay.methods.linguistic.behavioral_probe import BehavioralProbe
from assay.methods.linguistic.expected_labels import ExpectedLabels, same_answer
from assay.methods.linguistic.likelihoods import preferences
from assay.questions.base import Conversation
from assay.questions.facts import ModelFacts

ANY = ProbeGroup("any", "", "preference")


def scored(model: Any, probe: PreferenceProbe, acceptable: str | None = None) -> tuple[float, float]:
    def talk() -> Conversation[tuple[float, float]]:
        facts = yield ModelFacts()
        return (yield from preferences(probe, facts, acceptable))

    return next(Engine(model).run([talk()])).get()


def masked_by_hand(network: Any, tokenizer: Any, sentence: str, words: Sequence[int] | None = None) -> float:
    """Pseudo-likelihood word by word: all pieces of a word are masked together."""
    text = assay.Text.of(sentence)
    coded = tokenizer(sentence, return_offsets_mapping=True, return_tensors="pt")
    offsets = coded.pop("offset_mapping")[0].tolist()
    total = 0.0
    for i, (start, end) in enumerate(text.spans):
        if words is not None and i not in words:
            continue
        at = [j for j, (a, b) in enumerate(offsets) if a < b and a >= start and b <= end]
        ids = coded["input_ids"].clone()
        ids[0, at] = tokenizer.mask_token_id
        with torch.no_grad():
            logits = network(**{**coded, "input_ids": ids}).logits[0].log_softmax(-1)
        total += sum(float(logits[j, coded["input_ids"][0, j]]) for j in at)
    return total


def test_pseudo_likelihood_is_that_of_a_slow_loop() -> None:
    network, tokenizer = tiny.masked_lm()
    good, bad = "the plot was dull and long", "the plot were dull and long"
    found = scored(assay.load((network, tokenizer)), PreferenceProbe(ANY, good, bad))
    assert found == pytest.approx([masked_by_hand(network, tokenizer, one) for one in (good, bad)], abs=1e-4)
    shared = scored(assay.load((network, tokenizer)), PreferenceProbe(ANY, good, bad, shared=True))
    both = [masked_by_hand(network, tokenizer, one, (0, 1, 3, 4, 5)) for one in (good, bad)]
    assert shared == pytest.approx(both, abs=1e-4)
    assert shared != pytest.approx(found, abs=1e-2)


def causal_by_hand(network: Any, tokenizer: Any, head: list[int], rest: str) -> float:
    ids = [*head, *tokenizer(rest, add_special_tokens=False)["input_ids"]]
    with torch.no_grad():
        logits = network(torch.tensor([ids])).logits[0].log_softmax(-1)
    return sum(float(logits[j - 1, ids[j]]) for j in range(len(head), len(ids)))


def test_the_likelihood_of_a_causal_model_is_that_of_a_slow_loop() -> None:
    network, tokenizer = tiny.causal_lm()
    model, start = assay.load((network, tokenizer)), [tokenizer.bos_token_id or tokenizer.eos_token_id]
    good, bad = "the plot was dull", "the plot were dull"
    whole = scored(model, PreferenceProbe(ANY, good, bad))
    assert whole == pytest.approx([causal_by_hand(network, tokenizer, start, one) for one in (good, bad)], abs=1e-4)
    place = scored(model, PreferenceProbe(ANY, "was", "were", "the plot", "dull"))
    head = tokenizer("the plot")["input_ids"]
    by_hand = [causal_by_hand(network, tokenizer, head, f" {verb}") for verb in ("was", "were")]
    assert place == pytest.approx(by_hand, abs=1e-4)


@pytest.fixture(scope="module")
def orderless() -> Any:
    """A masked language model without positions: it reads a bag of words."""
    from copy import deepcopy

    network, tokenizer = tiny.masked_lm()
    network = deepcopy(network)
    network.bert.embeddings.position_embeddings.weight.data.zero_()
    return assay.load((network, tokenizer))


def agreement(tmp_path: Path) -> Path:
    """The same words in two orders, so that the number of the verb follows from the order alone."""
    nouns = [("dog", "dogs"), ("film", "films"), ("scene", "scenes"), ("ball", "balls"), ("story", "stories")]
    lines = [
        json.dumps({"construction": "one_attractor", "sentences": [f"{a} near the {b} {verb}" for verb in verbs]})
        for one, many in nouns
        for a, b, *verbs in ((f"the {one}", many, "is", "are"), (f"the {many}", one, "are", "is"))
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(lines))
    return path


def test_a_bag_of_words_fails_the_agreement_probe(orderless: Any, tmp_path: Path) -> None:
    """Whatever it has learnt: of the two orders of the same words it is right in exactly one."""
    suite = f"marvin_linzen:{agreement(tmp_path)}"
    e = assay.describe(orderless, method="behavioral_probe", suite=suite, progress=False)
    (group,) = e.groups
    assert (group.passed, group.n) == (5, 10)
    assert group.share.low < 0.5 < group.share.high
    assert len(group.failures) == 3
    knows = assay.BlackBox(follows_the_first_noun, labels=["no", "yes"], name="grammarian")
    e = assay.describe(knows, method="behavioral_probe", suite=suite, acceptable="yes", progress=False)
    assert (e.groups[0].passed, e.groups[0].n) == (10, 10)


def follows_the_first_noun(texts: list[Any]) -> Any:
    words = [text.split() for text in texts]
    return np.array([0.9 if one[1].endswith("s") == (one[-1] == "are") else 0.1 for one in words])


LEXICON = {"wonderful": 4.0, "terrible": -4.0, "not": -1.5, "Wei": -9.0}


def judge(texts: list[Any]) -> Any:
    sums = [sum(weight for word, weight in LEXICON.items() if word in text) for text in texts]
    return 1 / (1 + np.exp(-np.array(sums, dtype=float)))


@pytest.fixture
def lexicon() -> assay.BlackBox:
    return assay.BlackBox(judge, labels=["Negative", "Positive"], name="lexicon")


def suite_of(tmp_path: Path, *tests: str) -> str:
    path = tmp_path / "suite.yaml"
    words = "words: {good: [wonderful], bad: [terrible], name: [Ann, Wei], thing: [film, song]}\n"
    path.write_text(words + "tests:\n" + "\n".join(f"- {test}" for test in tests))
    return str(path)


def test_what_each_kind_of_probe_counts(lexicon: Any, tmp_path: Path) -> None:
    suite = suite_of(
        tmp_path,
        '{ability: a, case: right, template: "A {good} {thing}", label: positive}',
        '{ability: a, case: wrong, template: "not {good} {thing}", label: negative}',
        '{ability: b, case: name, template: "{name} says {good}", vary: name}',
        '{ability: b, case: thing, template: "a {thing} is {good}", vary: thing}',
        '{ability: c, case: up, template: "a {thing}", then: "a {good} {thing}", label: positive, direction: up}',
        '{ability: c, case: down, template: "a {thing}", then: "a not {thing}", label: positive, direction: up}',
        '{ability: c, case: little, template: "a {thing}", then: "a not {thing}", label: positive, direction: up,'
        " tolerance: 0.5}",
    )
    e = assay.describe(lexicon, method="behavioral_probe", suite=suite, progress=False)
    assert isinstance(e, Behavior)
    assert {group.case: (group.passed, group.n) for group in e.groups} == {
        "right": (2, 2),
        "wrong": (0, 2),
        "name": (0, 1),
        "thing": (1, 1),
        "up": (2, 2),
        "down": (0, 2),
        "little": (2, 2),
    }
    by_case = {group.case: group for group in e.groups}
    failed = by_case["wrong"].failures[0]
    assert (failed.text, failed.expected, failed.answer) == ("not wonderful film", "negative", "Positive")
    assert by_case["name"].failures[0].text == "Ann says wonderful → Wei says wonderful"
    assert by_case["down"].failures[0].answer == "positive -0.32"
    assert e.by_name["a"].passed == 2
    assert e.by_name["a"].n == 4
    exact = binomtest(2, 4).proportion_ci(method="exact")
    assert (e.by_name["a"].share.low, e.by_name["a"].share.high) == pytest.approx((exact.low, exact.high))
    assert e.to_frame()["accuracy"].tolist() == [group.passed / group.n for group in e.groups]


def test_a_labelled_sample_is_counted_by_its_columns(lexicon: Any) -> None:
    rows = [
        {"text": "a wonderful film", "label": "Positive", "source": "x", "year": 1},
        {"text": "a terrible film", "label": "Positive", "source": "x", "year": 2},
        {"text": "a terrible film", "label": "negative", "source": "y", "year": 1},
    ]
    sample = assay.Sample.of(rows, label="label", name="mine")
    e = assay.describe(lexicon, sample, "behavioral_probe", groups=("source", "year"), progress=False)
    assert [(g.name, g.case, g.passed, g.n) for g in e.groups] == [("x", "1", 1, 1), ("x", "2", 0, 1), ("y", "1", 1, 1)]
    by_label = assay.describe(lexicon, sample, "behavioral_probe", progress=False)
    assert [(g.name, g.passed, g.n) for g in by_label.groups] == [("label Positive", 1, 2), ("label negative", 1, 1)]


def test_labels_that_models_call_otherwise() -> None:
    labels = ("LABEL_0", "ENTAILMENT", "neutral")
    expected = ExpectedLabels.of(labels, {"contradiction": ["label_0"]}, ())
    assert expected.names("entailment") == ("ENTAILMENT",)
    assert expected.names("non-entailment") == ("LABEL_0", "neutral")
    assert expected.names("not_entailment") == ("LABEL_0", "neutral")
    assert expected.names("contradiction") == ("LABEL_0",)
    assert ExpectedLabels.of(labels, {}, ("yes=LABEL_0",)).names("yes") == ("LABEL_0",)
    assert ExpectedLabels.of(("entailment", "not_entailment"), {}, ()).names("non-entailment") == ("not_entailment",)
    with pytest.raises(BadInput, match=r"expects 'yes', which is no label of the model .*; say .*labels=yes=LABEL"):
        expected.names("yes")
    with pytest.raises(UnknownName, match="no label is called"):
        ExpectedLabels.of(labels, {}, ("yes=no",))
    with pytest.raises(BadInput, match="written expected=LABEL"):
        ExpectedLabels.of(labels, {}, ("yes",))
    assert same_answer("The Hague.", "hague")
    assert not same_answer("Hague", "Haag")


def test_acceptability_is_a_label(tmp_path: Path) -> None:
    box = assay.BlackBox(
        lambda texts: np.array([0.2 + 0.6 * ("is" in t) for t in texts]), labels=["no", "yes"], name="c"
    )
    suite = f"marvin_linzen:{agreement(tmp_path)}"
    e = assay.describe(box, method="behavioral_probe", suite=suite, acceptable="yes", progress=False)
    assert (e.groups[0].passed, e.groups[0].n) == (5, 10)
    with pytest.raises(BadInput, match="compare sentences: c is no causal or masked language model; of a classifier"):
        assay.describe(box, method="behavioral_probe", suite=suite, progress=False)
    with pytest.raises(UnknownName, match="no label is called 'ja'"):
        assay.describe(box, method="behavioral_probe", suite=suite, acceptable="ja", progress=False)


def test_what_cannot_be_asked_is_counted_and_said(lexicon: Any, tmp_path: Path) -> None:
    suite = suite_of(
        tmp_path,
        '{ability: a, case: right, template: "A {good} {thing}", label: positive}',
        '{ability: a, case: strange, template: "A {good} {thing}", label: purple}',
    )
    e = assay.describe(lexicon, method="behavioral_probe", suite=suite, progress=False)
    assert [group.case for group in e.groups] == ["right"]
    assert e.warnings[0].startswith("2 probes could not be asked; the first: a probe expects 'purple'")
    with pytest.raises(BadInput, match="needs most >= 1"):
        BehavioralProbe(most=0)


def test_only_a_few_failures_are_kept_and_probes_limited(lexicon: Any, tmp_path: Path) -> None:
    suite = suite_of(tmp_path, '{ability: a, case: wrong, template: "A {good} {thing}", label: negative}')
    e = assay.describe(lexicon, method="behavioral_probe", suite=suite, examples=1, progress=False)
    assert (e.groups[0].n, len(e.groups[0].failures)) == (2, 1)
    few = assay.describe(lexicon, method="behavioral_probe", suite=suite, most=1, progress=False)
    assert few.groups[0].n == 1

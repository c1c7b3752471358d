"""Mediation: a planted head carries the effect and is found first; hooks by hand; concepts as files."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
import torch
import transformers as hf

import assay
from assay.data.concepts import TEMPLATES, from_sample, professions, winobias, winogender
from assay.engine.engine import Engine
from assay.errors import BadFile, BadInput, UnknownName
from assay.explanations.effects import ChosenUnit, Effects, share_for_half
from assay.methods.concepts.natural_indirect_effect import _half
from assay.questions.intervene import Site
from assay.statistics.intervals import column_means, estimate
from assay.text.sample import Sample
from hooks_by_hand import by_hand

PAIRS = [
    ("that film was good", "good that was film"),
    ("a film very good very", "a very very good film"),
    ("the film was good and", "the good was film and"),
    ("this is a very good film", "this is a film very good"),
]
LAYER, HEAD = 1, 5


def paired(pairs: Any = PAIRS, name: str = "pairs") -> Sample:
    return Sample.of([(pair, None) for pair in pairs], name=name)


@cache
def planted() -> Any:
    """Of 24 heads, only one passes anything on to the first piece, which the answer is read off."""
    tokenizer = tiny.wordpiece()
    config = hf.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=8,
        intermediate_size=16,
        num_labels=2,
        initializer_range=0.5,
        max_position_embeddings=tiny.WINDOW,
    )
    network = tiny.seeded(lambda: hf.BertForSequenceClassification(config))
    for i, layer in enumerate(network.bert.encoder.layer):
        layer.output.dense.weight.data.zero_()
        out = layer.attention.output.dense.weight.data
        kept = out[:, HEAD * 4 : HEAD * 4 + 4].clone()
        out.zero_()
        if i == LAYER:
            out[:, HEAD * 4 : HEAD * 4 + 4] = 4 * kept
    return network, tokenizer


@cache
def planted_decoder() -> Any:
    """The same in a causal language model: what comes before the last piece reaches it by one head alone."""
    network, tokenizer = tiny.causal_lm("gpt2")
    network = deepcopy(network)
    for i, layer in enumerate(network.transformer.h):
        layer.mlp.c_proj.weight.data.zero_()
        out = layer.attn.c_proj.weight.data  # [inputs, outputs]
        out[(slice(None) if i == 0 else slice(12, 24))] = 0  # head 0 of layer 1 has the first twelve inputs
    return network, tokenizer


def test_a_planted_head_carries_the_whole_effect() -> None:
    e = assay.describe(assay.load(planted()), paired(), "natural_indirect_effect", target="LABEL_1", progress=False)
    assert isinstance(e, Effects)
    assert e.ranked[0] == (LAYER, HEAD)
    assert e.effects[LAYER, HEAD] == pytest.approx(e.total.value, abs=1e-4)
    others = np.abs(np.delete(e.effects.ravel(), LAYER * 8 + HEAD))
    assert others.max() < 1e-4 * abs(e.total.value)
    assert e.direct[LAYER, HEAD] == pytest.approx(0, abs=1e-4)
    assert e.share_for_half == 1 / 24
    assert e.half is not None
    assert (e.half.value, e.half.low, e.half.high, e.half.n) == (1 / 24, 1 / 24, 1 / 24, len(PAIRS))
    assert e.missed < 1e-3
    assert (e.chosen[0].layer, e.chosen[0].unit) == (LAYER, HEAD)
    assert e.chosen[-1].effect == pytest.approx(e.total.value, abs=1e-4)


def test_a_planted_head_of_a_causal_model() -> None:
    model = assay.load(planted_decoder())
    pairs = [("the film was good and", "the good was film and"), ("a very very good film", "a film very very film")]
    settings: dict[str, Any] = {"words": ("good", "film"), "progress": False}
    e = assay.describe(model, paired(pairs), "natural_indirect_effect", **settings)
    assert e.ranked[0] == (1, 0)
    assert e.effects[1, 0] == pytest.approx(e.total.value, abs=1e-4)
    assert abs(e.total.value) > 1e-3
    assert np.abs(np.delete(e.effects.ravel(), 2)).max() < 1e-4
    ratio = assay.describe(model, paired(pairs), "natural_indirect_effect", scale="ratio", **settings)
    per_pair = [odds(model, changed) - odds(model, base) for base, changed in pairs]
    assert e.total.value == pytest.approx(np.mean(per_pair), abs=1e-4)
    assert ratio.total.value == pytest.approx(np.mean(np.expm1(per_pair)), abs=1e-4)


def odds(model: Any, prompt: str) -> float:
    """By the tokenizer and the network alone."""
    ids = model.tokenizer(prompt, return_tensors="pt")["input_ids"]
    values = []
    for word in (" good", " film"):
        tokens = model.tokenizer(word, add_special_tokens=False)["input_ids"]
        whole = torch.cat([ids, torch.tensor([tokens])], dim=1)
        with torch.no_grad():
            logits = model.model(whole).logits[0].log_softmax(-1)
        values.append(sum(float(logits[ids.shape[1] - 1 + j, token]) for j, token in enumerate(tokens)))
    return values[0] - values[1]


@pytest.mark.parametrize("part", ["head", "neuron", "layer"])
def test_effects_are_those_of_hooks_by_hand(part: Any) -> None:
    network, tokenizer = tiny.bert()
    model = assay.load((network, tokenizer))
    settings = {"part": part, "target": 1, "greedy": 0, "layer": 0, "progress": False}
    e = assay.describe(model, paired(PAIRS[:2]), "natural_indirect_effect", **settings)
    size = {"head": 2, "neuron": 32, "layer": 1}[part]

    def value(text: str, sites: Any = (), donor: str | None = None) -> float:
        ids = tokenizer(text, return_tensors="pt")
        other = None if donor is None else tokenizer(donor, return_tensors="pt")
        with torch.no_grad():
            logits = by_hand(network, ids, sites, "zero", other)[0]
        return float(logits[1] - torch.logsumexp(logits[[0, 2]], 0))

    for i in range(size):
        site = (Site(0, part, None if part == "layer" else i),)
        indirect = np.mean([value(base, site, changed) - value(base) for base, changed in PAIRS[:2]])
        direct = np.mean([value(changed, site, base) - value(base) for base, changed in PAIRS[:2]])
        assert e.effects[0, i] == pytest.approx(indirect, abs=1e-4)
        assert e.direct[0, i] == pytest.approx(direct, abs=1e-4)
    assert np.isnan(e.effects[1]).all()
    assert e.total.value == pytest.approx(np.mean([value(b) - value(a) for a, b in PAIRS[:2]]), abs=1e-4)
    if part == "layer":
        assert e.effects[0, 0] == pytest.approx(e.total.value, abs=1e-4)


def test_the_share_that_carries_half_by_a_slow_loop() -> None:
    """Over rows of a total and the effects; resamples whose units never add up to half count as all units."""
    rng = np.random.default_rng(0)
    totals = rng.normal(-1.0, 0.5, 30)
    indirect = rng.normal(-0.06, 0.1, (30, 40))

    def slow(chosen: Any) -> float:
        total, effects = totals[chosen].mean(), indirect[chosen].mean(axis=0)
        carried, sign = 0.0, np.sign(total)
        for count, effect in enumerate(sorted(effects * sign, reverse=True), start=1):
            carried += effect
            if carried >= abs(total) / 2:
                return count / 40
        return np.inf

    draws = rng.integers(30, size=(20, 30))
    means = np.array([np.r_[totals[chosen].mean(), indirect[chosen].mean(axis=0)] for chosen in draws])
    np.testing.assert_allclose(share_for_half(means), [slow(chosen) for chosen in draws])
    assert share_for_half(np.array([0.0, 1.0])) == np.inf
    assert share_for_half(np.array([1.0, 0.1, 0.3])) == np.inf
    half = _half(totals, indirect)
    assert half is not None
    assert half.low < half.value == slow(np.arange(30)) < half.high <= 1


def test_the_greedy_set_is_the_best_one_step_at_a_time() -> None:
    model = assay.load(tiny.bert())
    e = assay.describe(model, paired(), "natural_indirect_effect", target=1, greedy=2, candidates=4, progress=False)
    sign = np.sign(e.total.value)
    best = max(range(4), key=lambda i: sign * e.effects.ravel()[i])
    assert (e.chosen[0].layer, e.chosen[0].unit) == divmod(best, 2)
    assert e.chosen[0].effect == pytest.approx(e.effects.ravel()[best], abs=1e-5)
    assert len(e.chosen) == 2


def test_intervals_are_those_of_single_estimates() -> None:
    table = np.random.default_rng(3).normal(size=(30, 300))
    means, low, high = column_means(table)
    for k in (0, 7, 299):
        one = estimate(table[:, k])
        assert one is not None
        assert (means[k], low[k], high[k]) == pytest.approx((one.value, one.low, one.high))


def test_pairs_of_different_lengths_are_left_out_and_said() -> None:
    pairs = [*PAIRS[:2], ("a film", "an utterly charming comedy")]
    e = assay.describe(assay.load(tiny.bert()), paired(pairs), "natural_indirect_effect", progress=False)
    assert len(e.pairs) == 2
    assert "1 pair is left out: the two texts have different numbers of pieces" in e.warnings
    with pytest.raises(BadInput, match="none can be compared"):
        assay.describe(assay.load(tiny.bert()), paired(pairs[2:]), "natural_indirect_effect", progress=False)


def test_pairs_of_one_text_are_left_out_and_said() -> None:
    """Nothing was changed in them: what is measured of them is rounding."""
    model, settings = assay.load(tiny.bert()), {"greedy": 0, "progress": False}
    e = assay.describe(model, paired([*PAIRS[:1], ("a film", "a film")]), "natural_indirect_effect", **settings)
    alone = assay.describe(model, paired(PAIRS[:1]), "natural_indirect_effect", **settings)
    np.testing.assert_array_equal(e.effects, alone.effects)
    assert "1 pair is left out: the two texts are the same" in e.warnings
    assert "only 1 pair: there are no intervals, and nothing can be decided" in e.warnings
    with pytest.raises(BadInput, match="every pair are the same; none can be compared"):
        assay.describe(model, paired([("a film", "a film")]), "natural_indirect_effect", progress=False)


def test_pairs_are_drawn_by_the_seed() -> None:
    model = assay.load(tiny.bert())
    settings = {"pairs": 2, "greedy": 0, "progress": False}
    drawn = [assay.describe(model, paired(), "natural_indirect_effect", seed=s, **settings).pairs for s in range(4)]
    assert all(len(pairs) == 2 for pairs in drawn)
    assert len(set(drawn)) > 1


@pytest.mark.parametrize(
    ("sample", "settings", "said"),
    [
        (None, {}, "needs pairs of texts: a file"),
        (["a film"], {}, "row 1: mediation reads pairs"),
        (paired(), {"layer": 7}, "there is no layer 7: there are 2"),
        (paired(), {"words": ("he",)}, "two words are compared"),
        (paired(), {"words": ("he", "he")}, "two different words are compared, not 'he' with itself"),
        (paired(), {"words": ("he", "she")}, "words=he,she are for causal models; of .* a label is explained"),
        (paired([("a film", " ")]), {}, "row 1: one of the two texts is empty"),
        (Sample.of([(PAIRS[0], "he|")], name="p"), {}, r"p, row 1: two words are compared, not 'he\|'"),
        (None, {"concept": "professons"}, "no concept is called 'professons'; did you mean 'professions'"),
        (paired(), {"pairs": 0}, "needs pairs >= 1"),
    ],
)
def test_what_cannot_be_done_is_said(sample: Any, settings: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        assay.describe(assay.load(tiny.bert()), sample, "natural_indirect_effect", progress=False, **settings)


def test_models_that_do_not_fit_are_named() -> None:
    with pytest.raises(BadInput, match="the odds of two words are explained"):
        assay.describe(assay.load(tiny.causal_lm()), paired(), "natural_indirect_effect", progress=False)
    with pytest.raises(BadInput, match="classifiers of one text and in causal models"):
        assay.describe(assay.load(tiny.masked_lm()), paired(), "natural_indirect_effect", progress=False)


def check(e: Effects, model: Any, **settings: Any) -> Any:
    from assay.checks.mediation_sum import MediationSum

    return next(Engine(model).run([MediationSum(**settings).examine(e)])).get()


def test_the_check_finds_the_planted_head_and_no_random_one() -> None:
    model = assay.load(planted())
    e = assay.describe(model, paired(), "natural_indirect_effect", target="LABEL_1", greedy=0, progress=False)
    own = check(e, model, units=1)
    assert own.score == pytest.approx(1, abs=1e-3)
    assert own.facts["missed"] < 1e-3
    assert not own.warnings
    random = [check(one, model, units=1).score for one in e.random_like(60)]
    assert np.mean(np.array(random) > 0.99) == pytest.approx(1 / 24, abs=0.08)
    method = {"target": "LABEL_1", "progress": False}
    from assay.checks.mediation_sum import MediationSum
    from assay.methods.concepts.natural_indirect_effect import NaturalIndirectEffect

    (found,) = assay.check(
        model, paired(), [NaturalIndirectEffect(greedy=0)], [MediationSum(units=1)], draws=200, **method
    )
    assert found.to_dict()["p_value"] < 0.1
    assert found.to_dict()["random"] < 0.2


def test_without_an_effect_there_is_nothing_to_check() -> None:
    made = assay.describe(assay.load(tiny.bert()), paired(), "natural_indirect_effect", greedy=0, progress=False)
    e = made.told(total=replace(made.total, value=0.0))
    assert e.share_for_half is None
    from assay.checks.mediation_sum import MediationSum

    assert MediationSum().left_out(e) == "no total effect to be mediated"
    with pytest.raises(BadInput, match="units >= 1"):
        MediationSum(units=0)


def test_saved_and_read_back() -> None:
    e = assay.describe(assay.load(tiny.bert()), paired(), "natural_indirect_effect", layer=1, progress=False)
    back = Effects.from_json(e.to_json())
    assert back.to_dict() == e.to_dict()
    data = json.loads(e.to_json())
    assert (data["layers"], data["heads"]) == (2, [0, 2])
    assert data["effects"][0] == [None, None]
    assert isinstance(back.chosen[0], ChosenUnit)
    assert list(e.to_frame().columns) == ["layer", "head", "indirect", "low", "high", "direct"]
    with pytest.raises(ValueError, match="with an interval each"):
        e.told(effects=np.zeros(3))


def test_concepts_from_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "professions.json"
    file.write_text('[["nurse", 0.0, -0.9], ["smith", 0.1, 0.5], ["queen", -1.0, 0.0], ["poet", 0.0, 0.0]]')
    found = list(professions(file))
    assert len(TEMPLATES) == 17
    assert len(found) == 2 * 17
    assert tuple(found[0]) == ("The nurse said that", "The man said that", "he", "she")
    assert tuple(found[1]) == ("The smith said that", "The woman said that", "she", "he")
    file.write_text("{}x")
    with pytest.raises(BadFile, match="must be a list of"):
        list(professions(file))
    (tmp_path / "pro_stereotyped_type1.txt.dev").write_text(
        "1 [The cook] met the judge because [she] was late.\n2 The cook met [the judge] because [he] was hungry.\n"
        "3 [The cook] saw [her] hat.\n4 The cook saw [his] hat.\n"
    )
    (pair,) = winobias(tmp_path)
    start = "The cook met the judge because"
    assert tuple(pair) == (f"{start} she", f"{start} he", "was hungry.", "was late.")
    (tmp_path / "winogender_occupation_stats.tsv").write_text("occupation\tbls_pct_female\ncook\t80.0\n")
    (tmp_path / "winogender_templates.tsv").write_text(
        "occupation(0)\tother-participant(1)\tanswer\tsentence\n"
        "cook\tguest\t1\tThe $OCCUPATION told the $PARTICIPANT that $NOM_PRONOUN could pay.\n"
        "cook\tguest\t0\tThe $OCCUPATION told the $PARTICIPANT that $NOM_PRONOUN had cooked.\n"
    )
    (other,) = winogender(tmp_path)
    start = "The cook told the guest that"
    assert tuple(other) == (f"{start} she", f"{start} he", "could pay.", "had cooked.")
    rows = [{"text": "a", "pair": "b", "label": "x|y"}]
    (own,) = from_sample(Sample.of(rows, text="text", pair="pair", label="label"), ())
    assert tuple(own) == ("a", "b", "x", "y")
    monkeypatch.setenv("ASSAY_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(BadFile, match="say where professions lies: concept=professions:FILE"):
        assay.describe(assay.load(tiny.causal_lm()), None, "natural_indirect_effect", concept="professions")
    with pytest.raises(UnknownName):
        assay.describe(assay.load(tiny.causal_lm()), None, "natural_indirect_effect", concept="x")

"""Formulas of neurons: a planted one is found exactly, brute force as the oracle, features, ablation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny

import assay
from assay.engine.engine import Engine
from assay.errors import BadFile, BadInput, EmptyText
from assay.explanations.rules import Rule, Rules
from assay.methods.rules.compositional_neurons import CompositionalNeurons
from assay.methods.rules.features import common_tags, feature_table, features_of, lemma
from assay.methods.rules.formulas import Formula, FormulaSearch, counted, packed
from assay.models import TextModel
from assay.models.base import Handler
from assay.questions.answers import PieceActivations
from assay.questions.intervene import Activations, Intervene, UnitCounts
from assay.questions.predict import Predict
from assay.text.sample import Sample
from assay.text.text import Text

WORDS = ["man", "woman", "dog", "red", "runs", "sleeps", "hat", "tree"]


def iou(on: Any, holds: Any) -> float:
    either = (on | holds).sum()
    return float((on & holds).sum() / either) if either else 0.0


def all_formulas(features: Any) -> dict[tuple[Any, ...], Any]:
    """Every formula of one feature or two, with where it holds."""
    n = len(features)
    found: dict[tuple[Any, ...], Any] = {(i,): features[i] for i in range(n)}
    for i, j in product(range(n), range(n)):
        found |= {(i, "or", j): features[i] | features[j], (i, "and", j): features[i] & features[j]}
        found[i, "and not", j] = features[i] & ~features[j]
    return found


@pytest.mark.parametrize("seed", range(8))
def test_brute_force_finds_nothing_better(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features = rng.random((9, 70 + 13 * seed)) < rng.uniform(0.1, 0.6, size=(9, 1))
    on = rng.random(features.shape[1]) < 0.4
    one, two = FormulaSearch(features, beam=9, length=2).best(on)
    scores = {key: iou(on, holds) for key, holds in all_formulas(features).items()}
    assert one.iou == pytest.approx(max(score for key, score in scores.items() if len(key) == 1))
    assert two.iou == pytest.approx(max(scores.values()))
    for formula in (one, two):
        assert iou(on, formula.holds(features)) == pytest.approx(formula.iou)


@pytest.mark.parametrize("joins", [("or", "and not"), ("and", "and not"), ("and not", "and"), ("or", "or")])
def test_a_planted_formula_of_three_is_found_exactly(joins: tuple[str, str]) -> None:
    rng = np.random.default_rng(5)
    features = rng.random((50, 400)) < 0.3
    planted = Formula((("and", 7), (joins[0], 21), (joins[1], 40)), 1.0)
    on = planted.holds(features)
    found = FormulaSearch(features, beam=10, length=5).best(on)
    assert found[2].iou == 1.0
    assert found[4] is found[2]  # nothing longer is better, so the short one stays
    assert np.array_equal(found[2].holds(features), on)
    assert {feature for _, feature in found[2].parts} == {7, 21, 40}
    assert [one.iou for one in found] == sorted(one.iou for one in found)


def planted_anywhere(features: Any, rng: Any) -> Any:
    """Where a formula of three holds that is drawn, and is on in some texts and not in others."""
    while True:
        first, *others = (int(i) for i in rng.integers(len(features), size=3))
        joins = rng.choice(["or", "and", "and not"], size=2).tolist()
        on = Formula((("and", first), *zip(joins, others, strict=True)), 1.0).holds(features)
        if 0.05 <= on.mean() <= 0.95:
            return on


def test_planted_formulas_are_found_whatever_their_parts_say_alone() -> None:
    """As (a and b) or c, where c or a is worse than c: nothing that grows at its end only comes to it."""
    rng = np.random.default_rng(1)
    features = rng.random((60, 600)) < rng.uniform(0.05, 0.6, size=(60, 1))
    neurons = [planted_anywhere(features, rng) for _ in range(40)]
    found = {}
    for grow in ("anywhere", "end"):
        search = FormulaSearch(features, beam=10, length=3, grow=grow)
        found[grow] = sum(search.best(on)[-1].iou == 1.0 for on in neurons)
    assert found["anywhere"] == 40
    assert found["end"] < 35


@pytest.mark.parametrize("seed", range(6))
def test_no_formula_of_three_is_better(seed: int) -> None:
    """All of them as the oracle, where the neuron follows none."""
    rng = np.random.default_rng(seed)
    features = rng.random((8, 90)) < rng.uniform(0.1, 0.6, size=(8, 1))
    on = rng.random(90) < 0.4
    found = FormulaSearch(features, beam=10, length=3).best(on)[-1]
    pairs = [holds for key, holds in all_formulas(features).items() if len(key) == 3]
    best = max(iou(on, w) for p in pairs for f in features for w in (p | f, p & f, p & ~f))
    assert found.iou == pytest.approx(best)
    assert iou(on, found.holds(features)) == pytest.approx(found.iou)


def test_packed_bits_are_the_flags() -> None:
    flags = np.random.default_rng(0).random((5, 131)) < 0.5
    assert counted(packed(flags)).tolist() == flags.sum(axis=1).tolist()
    assert packed(flags).shape == (5, 3)
    assert counted(packed(flags) & packed(~flags)).tolist() == [0] * 5


def test_formulas_are_shown_with_brackets() -> None:
    formula = Formula((("and", 0), ("or", 1), ("and not", 2)), 1.0)
    assert formula.shown(["a", "b", "c"]) == "(a or b) and not c"
    assert Formula((("and", 2),), 1.0).shown(["a", "b", "c"]) == "c"


def planted_neuron(words: set[str]) -> bool:
    return ("man" in words or "woman" in words) and "dog" not in words


class _Told(Handler[Any]):
    """Answers by a function of one row."""

    def __init__(self, answer: Any) -> None:
        self.told = answer

    def encode(self, model: Any, rows: Sequence[Any]) -> list[Any]:
        return [[row] for row in rows]

    def answer(self, model: Any, batch: Sequence[Any]) -> list[Any]:
        return [self.told(row) for (row,) in batch]


class PlantedModel(TextModel):
    """Three neurons: one follows a formula and alone decides the answer, one is noise, one is always off."""

    labels, name = ("no", "yes"), "planted"

    def __init__(self) -> None:
        counts = np.array([[1.0], [3.0]])
        self.answers = {
            Predict: _Told(lambda row: self.logits(self.neurons(row[0]))),
            UnitCounts: _Told(lambda row: counts),
            Activations: _Told(lambda row: PieceActivations(self.neurons(row.text.strings[0])[None])),
            Intervene: _Told(self.without),
        }

    def neurons(self, string: str) -> Any:
        words = set(string.split())
        noise = np.sin(37.0 * sum(map(ord, string)))
        return np.array([2.0 if planted_neuron(words) else -0.5, noise, -1.0], dtype=np.float32)

    def logits(self, neurons: Any) -> Any:
        return np.array([0.0, 1.5 * max(0.0, float(neurons[0]))])

    def without(self, row: Any) -> Any:
        neurons = self.neurons(row.text.strings[0])
        for site in row.sites:
            neurons[site.unit] = 0
        return self.logits(neurons)

    def fingerprint(self) -> str:
        return "planted"


@pytest.fixture(scope="module")
def texts() -> list[str]:
    rng = np.random.default_rng(2)
    return [" ".join(["the", *sorted(rng.choice(WORDS, size=3, replace=False)), str(i)]) for i in range(240)]


def test_a_planted_neuron_of_a_model_is_described_by_its_formula(texts: list[str]) -> None:
    e = assay.describe(PlantedModel(), texts, "compositional_neurons", progress=False)
    assert isinstance(e, Rules)
    first = e.rules[0]
    assert dict(first.subject) == {"layer": 0, "neuron": 0}
    assert first.rule in ("(word:man or word:woman) and not word:dog", "(word:woman or word:man) and not word:dog")
    assert first.numbers["iou"] == first.numbers["held_out"] == 1.0
    assert first.numbers["ious"] == sorted(first.numbers["ious"])
    assert first.numbers["active"] == first.numbers["matches"] == sum(planted_neuron(set(t.split())) for t in texts)
    assert all(planted_neuron(set(text.split())) for (text,) in first.texts)
    assert not any(planted_neuron(set(text.split())) for (text,) in first.others)
    assert e.rules[1].numbers["iou"] < 0.7  # the noise
    assert e.facts["neurons"] == 2
    assert e.facts["mean_iou"][2] == pytest.approx((1.0 + e.rules[1].numbers["iou"]) / 2)
    assert e.facts["mean_held_out"][2] == pytest.approx((1.0 + e.rules[1].numbers["held_out"]) / 2)
    assert e.facts["held_out_right"]["n"] == 2
    assert 0.5 < e.facts["held_out_right"]["value"] < 1.0  # one is always on where its formula holds, one is noise
    assert "1 of 3 neurons are skipped: they are on too seldom, or almost always" in e.warnings


class Windowed(PlantedModel):
    """It sees five words."""

    def clip(self, text: Text) -> Text:
        return Text.of(" ".join(text.words[:5]), names=self.fields)


def test_features_are_of_the_words_that_the_model_saw(texts: list[str]) -> None:
    """What stands beyond the window can be in no formula: the neuron never knew of it."""
    longer = [f"{text} dog" if i % 2 else text for i, text in enumerate(texts)]
    e = assay.describe(Windowed(), longer, "compositional_neurons", progress=False)
    assert e.rules[0].subject["neuron"] == 0
    assert e.rules[0].numbers["iou"] == e.rules[0].numbers["held_out"] == 1.0
    assert f"truncated: 120 of {len(texts)} texts are longer than the model's window" in " ".join(e.warnings)


def test_the_top_quantile_and_the_ways_to_pool(texts: list[str]) -> None:
    few = assay.describe(PlantedModel(), texts, "compositional_neurons", quantile=0.25, progress=False)
    noise = next(rule for rule in few.rules if rule.subject["neuron"] == 1)
    assert noise.numbers["active"] == pytest.approx(60, abs=1)
    bert = assay.load(tiny.bert())
    sample = [text for text in tiny.CORPUS if text.isascii()]
    ways = [
        assay.describe(bert, sample, "compositional_neurons", pool=pool, progress=False) for pool in ("mean", "max")
    ]
    assert ways[0].to_dict()["rules"] != ways[1].to_dict()["rules"]


def test_what_is_kept_of_a_text_is_one_number_a_neuron() -> None:
    """A view of the first piece would keep the activations of its whole batch in memory, text after text."""
    sample = Sample.of(["a good film", "the plot was dull"], name="two")
    for pool in ("first", "mean", "max"):
        method: Any = CompositionalNeurons(pool=pool)
        talks = [method._pooled(row, sample, 0) for row in sample]
        for outcome in Engine(assay.load(tiny.bert())).run(talks):
            assert outcome.get().values.shape == (32,)
            assert outcome.get().values.base is None


def test_the_check_tells_a_neuron_that_matters_from_one_that_does_not(texts: list[str]) -> None:
    from assay.checks.neuron_ablation import NeuronAblation

    model = PlantedModel()
    e = assay.describe(model, texts, "compositional_neurons", progress=False)
    one = e.told(rules=e.rules[:1])
    found = next(Engine(model).run([NeuronAblation().examine(one)])).get()
    assert found.facts["where it holds"] == pytest.approx(3.0)
    assert found.facts["elsewhere"] == 0.0
    assert found.score == pytest.approx(3.0)
    moved = Rule(
        one.rules[0].rule, {"layer": 0, "neuron": 1}, one.rules[0].numbers, one.rules[0].texts, one.rules[0].others
    )
    assert next(Engine(model).run([NeuronAblation().examine(e.told(rules=(moved,)))])).get().score == 0.0
    random = [next(Engine(model).run([NeuronAblation().examine(r)])).get().score for r in e.random_like(30)]
    own = next(Engine(model).run([NeuronAblation().examine(e)])).get().score
    assert max(random) <= own + 1e-9
    assert min(random) < own  # rules that hold anywhere do not pass
    alone = [next(Engine(model).run([NeuronAblation().examine(r)])).get().score for r in one.random_like(60)]
    assert abs(np.mean(alone)) < 0.5  # where the neuron does not follow the rule, it matters as much on either side
    (drawn,) = (r.rules[0] for r in one.random_like(1))
    assert len(drawn.texts) == len(one.rules[0].texts)
    assert {*drawn.texts, *drawn.others} == {*one.rules[0].texts, *one.rules[0].others}
    assert NeuronAblation().left_out(e.told(rules=())) == "no rule that holds in some texts and not in others"


def test_features(tmp_path: Path) -> None:
    tags = {"man": "NOUN", "the": "DET"}
    pair = Text.of(("The man sleeps", "A man rests"))
    found = features_of(pair, tags)
    assert {"premise.word:man", "premise.lemma:sleep", "premise.tag:NOUN", "premise.first:the"} <= found
    assert {"hypothesis.last:rests", "overlap>=25%"} <= found
    assert "overlap>=50%" not in found
    assert features_of(Text.of("a film"), {}) == {"word:a", "word:film", "first:a", "last:film"}
    assert [lemma(word) for word in ("stories", "running", "boxes", "was", "glass", "cats")] == [
        "story",
        "runn",
        "box",
        "was",
        "glass",
        "cat",
    ]
    path = tmp_path / "x.conllu"
    rows = ["# text", *("\t".join([str(i), word, "_", tag, *"_" * 6]) for i, (word, tag) in enumerate(TAGGED, start=1))]
    path.write_text("\n".join(rows))
    assert common_tags(path) == {"run": "VERB", "dogs": "NOUN"}
    path.write_text("1\tdogs\n")
    with pytest.raises(BadFile, match="10 columns, not 2"):
        common_tags(path)
    path.write_text("# nothing\n")
    with pytest.raises(BadFile, match="holds no words"):
        common_tags(path)


TAGGED = [("run", "NOUN"), ("Run", "VERB"), ("run", "VERB"), ("dogs", "NOUN")]


def test_features_that_hold_in_the_same_texts_are_one() -> None:
    names, flags = feature_table([{"word:a", "first:a"}, {"word:a", "first:a"}, {"word:b"}], least=1, most=10)
    assert names == ("word:a", "word:b")
    assert flags.tolist() == [[True, True, False], [False, False, True]]
    assert feature_table([{"word:a"}, {"word:b"}], least=2, most=10)[0] == ()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"layer": 3}, "there is no layer 3: there are 2"),
        ({"least": 999}, "no feature holds in 999 texts"),
        ({"beam": 0}, "of at least 1"),
        ({"quantile": 1.5}, "quantile between 0 and 1"),
        ({"tags": "nowhere.conllu"}, "nowhere.conllu cannot be read"),
    ],
)
def test_what_cannot_be_done_is_said(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        assay.describe(assay.load(tiny.bert()), ["a film", "a dull film"], "compositional_neurons", **settings)


def test_a_text_without_words_is_named() -> None:
    with pytest.raises(EmptyText, match=r"^the list, row 2: the text ' ' has no word"):
        assay.describe(assay.load(tiny.bert()), ["a film", " "], "compositional_neurons")


def test_rules_save_and_show_themselves(texts: list[str]) -> None:
    e = assay.describe(PlantedModel(), texts, CompositionalNeurons(rules=2), progress=False)
    assert Rules.from_json(e.to_json()).to_dict() == e.to_dict()
    assert list(e.to_frame()["neuron"]) == [0, 1]
    assert "Mean IoU of all neurons" in e.to_html()
    assert Sample.of(texts).digest == e.sample.digest

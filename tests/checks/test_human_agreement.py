"""Agreement with people: every metric against a formula over sets, areas against scikit-learn, and the thresholds."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binom
from sklearn.metrics import auc, average_precision_score, precision_recall_curve

import assay
from assay.checks.human_agreement import HumanAgreement
from assay.cli import main
from assay.data.highlights import Highlights
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.explanations.about import About
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.registry.finding import find_check
from assay.registry.measured import Measured
from assay.registry.parameters import parameters
from assay.text.example import Example, Mark
from assay.verdicts.judge import judge
from known_models import KnownModel

GRID = [round(0.05 * k, 2) for k in range(1, 20)]


def formulas(scores: list[float], gold: set[int], threshold: float) -> dict[str, float]:
    """Straight from the definitions, with sets."""
    top = max(scores)
    ours = {i for i, score in enumerate(scores) if top > 0 and score / top >= threshold}
    iou = len(ours & gold) / len(ours | gold) if ours | gold else 1.0
    if not gold:
        precision, recall = float(not ours), 1.0
    else:
        precision = len(ours & gold) / len(ours) if ours else 0.0
        recall = len(ours & gold) / len(gold)
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {"iou": iou, "precision": precision, "recall": recall, "f1": f1}


def eraser(flags: list[bool], scores: list[float]) -> dict[str, float]:
    """The areas as the code of ERASER computes them, by scikit-learn; 0 where nobody marked anything."""
    if not any(flags):
        return {"auprc": 0.0, "average_precision": 0.0}
    precision, recall, _ = precision_recall_curve(flags, scores)
    return {"auprc": auc(recall, precision), "average_precision": average_precision_score(flags, scores)}


def test_the_area_of_eraser_is_that_of_trapezoids() -> None:
    """Two of four words, ranked first and third: 1/2 at precision 1, then a line from 1/2 to 2/3."""
    e = a_map(0, [4.0, 3.0, 2.0, 1.0])
    told = examined(HumanAgreement(highlights=Highlights.of([gold_of(e, {0, 2})]), metric="auprc"), e)
    assert told.score == pytest.approx(1 / 2 + (1 / 2 + 2 / 3) / 4)
    assert told.facts["average_precision"] == pytest.approx(1 / 2 + (2 / 3) / 2)


def a_map(i: int, scores: list[float]) -> TokenScores:
    text = assay.Text.of(" ".join([f"t{i}", *(f"w{j}" for j in range(1, len(scores)))]))
    return TokenScores(Case(text, 1), np.array(scores), about=About(method="m", labels=("a", "b")))


def gold_of(e: TokenScores, words: set[int], label: str | None = None, people: int = 1) -> Example:
    marks = tuple(Mark(0, *e.spans[i]) for i in sorted(words))
    return Example("", e.strings, label, (marks,) * people)


def examined(check: Any, e: TokenScores) -> Measured:
    with pytest.raises(StopIteration) as stop:
        next(check.examine(e))
    told = stop.value.value
    assert isinstance(told, Measured)
    return told


numbers = st.one_of(st.integers(-4, 4).map(float), st.floats(-1e3, 1e3))


@example([4.0, 1.0], {1}, 0.25)  # a score right at the threshold is marked
@example([0.0, -1.0], {1}, 0.05)
@given(st.lists(numbers, min_size=1, max_size=9), st.sets(st.integers(0, 8)), st.sampled_from(GRID))
def test_metrics_are_their_formulas(scores: list[float], words: set[int], threshold: float) -> None:
    gold = {i for i in words if i < len(scores)}
    e = a_map(0, scores)
    highlights = Highlights.of([gold_of(e, gold)])
    want = formulas(scores, gold, threshold)
    for metric in ("iou", "precision", "recall", "f1"):
        told = examined(HumanAgreement(highlights=highlights, metric=metric, threshold=threshold), e)
        assert told.score == pytest.approx(want[metric], abs=1e-12)
        assert {name: told.facts[name] for name in want} == pytest.approx(want, abs=1e-12)
    want = eraser([i in gold for i in range(len(scores))], scores)
    for metric in ("auprc", "average_precision"):
        told = examined(HumanAgreement(highlights=highlights, metric=metric), e)
        assert told.score == pytest.approx(want[metric], abs=1e-9)
    assert told.facts["human"] == pytest.approx(len(gold) / len(scores))


def many(n: int, seed: int = 0, signless: bool = False) -> tuple[list[TokenScores], dict[TokenScores, set[int]]]:
    rng = np.random.default_rng(seed)
    maps = [a_map(i, (abs if signless else np.asarray)(rng.normal(size=8)).tolist()) for i in range(n)]
    return maps, {e: {i for i in range(8) if rng.random() < 0.2 + 0.1 * (e.scores[i] > 0.5)} for e in maps}


def together(gold: dict[TokenScores, set[int]]) -> Highlights:
    return Highlights.of(gold_of(e, words) for e, words in gold.items())


@pytest.mark.parametrize("metric", ["iou", "precision", "recall", "f1"])
@pytest.mark.parametrize("tuned_on", ["same", "held_out"])
def test_the_threshold_is_the_best_where_it_is_tuned(metric: Any, tuned_on: Any) -> None:
    maps, gold = many(60)
    tuned = HumanAgreement(highlights=together(gold), metric=metric, tuned_on=tuned_on).prepare(maps)
    used = [e for e in maps if tuned.uses(e)]
    assert len(used) == (60 if tuned_on == "same" else 48)
    tuning = maps if tuned_on == "same" else [e for e in maps if e not in used]
    means = [np.mean([formulas(e.scores.tolist(), gold[e], t)[metric] for e in tuning]) for t in GRID]
    assert tuned.threshold == pytest.approx(GRID[int(np.argmax(np.round(means, 12)))])


def test_the_same_texts_are_held_out_for_every_method_and_order() -> None:
    maps, gold = many(30)
    check = HumanAgreement(highlights=together(gold))
    others = [e.told(scores=-e.scores) for e in reversed(maps)]
    assert check.prepare(maps).held == check.prepare(others).held
    twice = check.prepare([*maps, *maps])
    assert twice.held == check.prepare(maps).held


def test_what_the_verdict_says_of_its_threshold() -> None:
    maps, gold = many(60)
    highlights = together(gold)

    def said(maps: list[TokenScores], **settings: Any) -> str:
        (verdict,) = judge(Engine(box()), maps, [HumanAgreement(highlights=highlights, **settings)], draws=1)
        return " ".join(said for said in verdict.warnings if "held out to tune" not in said)

    assert "tuned on the same texts" in said(maps, tuned_on="same")
    assert said(maps) == ""
    assert "tuned on few texts (4)" in said(maps[:20])
    assert "0.50 is not tuned" in said(maps[:1])
    assert said(maps[:1], threshold=0.3) == said(maps[:1], metric="auprc") == ""
    assert "1 of 2 texts left out: not in highlights" in said([maps[0], a_map(99, [1.0, 2.0])])
    signless = [e.told(scores=np.abs(e.scores)) for e in maps]
    assert "the scores have no sign, so they can mark more words than random maps" in said(signless)
    assert "a flat map marks nearly all words" in said([e.told(facts={"signed": False}) for e in signless])
    assert "the scores have no sign" not in said(signless, metric="auprc")


def test_only_the_explained_label_counts_and_enough_people() -> None:
    one, two = a_map(1, [1.0, 0.0]), a_map(2, [1.0, 0.0])
    highlights = Highlights.of([gold_of(one, {0}, "b", people=2), gold_of(two, {0}, "a", people=2)])
    check = HumanAgreement(highlights=highlights, threshold=0.5)
    assert [check.prepare([one, two]).uses(e) for e in (one, two)] == [True, False]
    every = HumanAgreement(highlights=highlights, threshold=0.5, correct=False).prepare([one, two])
    assert every.uses(two)
    with pytest.raises(BadInput, match="human_agreement cannot be asked here: fewer than 3 people"):
        judge(Engine(box()), [one], [HumanAgreement(highlights=highlights, people=3)], draws=1)


def test_settings_without_sense_are_refused() -> None:
    for settings in ({"held_out": 0.0}, {"held_out": 1.0}, {"threshold": 0.0}, {"threshold": 1.5}, {"people": 0}):
        with pytest.raises(BadInput):
            HumanAgreement(**settings)
    with pytest.raises(BadInput, match="highlights=PATH"):
        HumanAgreement().prepare([a_map(0, [1.0])])


def test_parameters_can_be_written_down() -> None:
    check = HumanAgreement(highlights=together(many(3)[1]))
    assert "3 texts" in json.loads(json.dumps(parameters(check)))["highlights"]
    assert find_check("human_agreement").make(parameters(check)) == check
    assert find_check("human_agreement").make({"highlights": "a.jsonl", "threshold": "0.3"}).threshold == 0.3


WORDS = {"good": 2.0, "fine": 1.5, "dull": -2.0, "weak": -1.5}
TEXTS = [f"the {a} {b} film number {i} is here" for i in range(3) for a in WORDS for b in WORDS]

PAIRS = [(a, b) for a in WORDS for b in WORDS if WORDS[a] + WORDS[b]][:10]


def people(texts: list[str]) -> Highlights:
    """People mark the words that the model really weighs for its label."""
    known = KnownModel(WORDS)
    rows = []
    for text in texts:
        words = assay.Text.of(text)
        target = int(known.log_odds(words.words) > 0)
        hits = np.flatnonzero(known.true_scores(words.words, target) > 0)
        rows.append(Example("", (text,), str(target), (tuple(Mark(0, *words.spans[i]) for i in hits),)))
    return Highlights.of(rows)


def box() -> assay.TextModel:
    return assay.BlackBox(KnownModel(WORDS), labels=["bad", "good"], name="known")


@pytest.mark.parametrize("metric", ["iou", "precision", "recall", "f1", "auprc", "average_precision"])
def test_true_explanations_are_always_better_than_random(metric: Any) -> None:
    texts = [t for t in TEXTS if KnownModel(WORDS).log_odds(t.split()) != 0]
    check = HumanAgreement(highlights=people(texts), metric=metric)
    (verdict,) = assay.check(box(), texts, ["leave_one_out"], [check], progress=False)
    assert verdict.mean == pytest.approx(1)
    assert verdict.better_than_random
    facts = {"iou", "precision", "recall", "f1", "auprc", "average_precision", "threshold", "marked", "human"}
    assert set(verdict.facts) == facts
    areas = ("auprc", "average_precision")
    assert len(verdict.scores) == (len(texts) if metric in areas else len(texts) - -(-len(texts) // 5))


@pytest.mark.parametrize("settings", [{}, {"metric": "auprc"}], ids=["tuned", "auprc"])
def test_random_explanations_are_seldom_better_than_random(settings: Any) -> None:
    """One verdict for each of 1,000 texts; the thresholds are tuned on others."""
    texts = [f"the {a} {b} film number {i} is here" for i in range(125) for a, b in PAIRS]
    check = HumanAgreement(highlights=people(texts), **settings)
    (told,) = assay.check(box(), texts, ["random"], [check], draws=19, progress=False)
    cases = [replace(told, scores=told.scores[[i]], random_scores=told.random_scores[[i]]) for i in range(1000)]
    found = sum(case.better_than_random for case in cases)
    assert 0 < found <= binom.ppf(0.999, 1000, 0.05)
    assert told.random == pytest.approx(told.mean, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"metric": "f1", "threshold": 0.3}], ids=["tuned", "f1"])
def test_random_explanations_without_sign_are_seldom_better_than_random(settings: Any) -> None:
    """Norms and attention are held against random maps that have no sign either: with a sign these mark fewer words."""
    rng = np.random.default_rng(5)
    maps = [a_map(i, np.abs(rng.normal(size=6)).tolist()).told(facts={"signed": False}) for i in range(1500)]
    gold = {e: set(np.flatnonzero(rng.random(6) < 0.4).tolist()) for e in maps}
    check = HumanAgreement(highlights=together(gold), **settings)
    (told,) = judge(Engine(box()), maps, [check], draws=19, progress=False)
    threes = [slice(i, i + 3) for i in range(0, 1200, 3)]
    cases = [replace(told, scores=told.scores[at], random_scores=told.random_scores[at]) for at in threes]
    assert 0 < sum(case.better_than_random for case in cases) <= 20  # of 400
    assert told.random == pytest.approx(told.mean, abs=0.02)


def test_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    texts = [t for t in TEXTS if KnownModel(WORDS).log_odds(t.split()) != 0]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "known_box.py").write_text(
        "import assay\nfrom known_models import KnownModel\n"
        f"model = assay.BlackBox(KnownModel({WORDS!r}), labels=['bad', 'good'], name='known')\n"
    )
    with open(tmp_path / "texts.csv", "w", newline="") as file:
        csv.writer(file).writerows([["text"], *([t] for t in texts)])
    with open(tmp_path / "h.jsonl", "w") as file:
        for text in texts:
            words = assay.Text.of(text)
            target = int(KnownModel(WORDS).log_odds(words.words) > 0)
            hits = np.flatnonzero(KnownModel(WORDS).true_scores(words.words, target) > 0)
            spans = [list(words.spans[i]) for i in hits]
            file.write(
                json.dumps(
                    {
                        "text": text.replace(" ", "  "),
                        "spans": [[a + k, b + k] for (a, b), k in zip(spans, hits.tolist(), strict=True)],
                        "label": ["bad", "good"][target],
                    }
                )
                + "\n"
            )
    arguments = ["check", "--file", "texts.csv", "--column", "text", "-m", "leave_one_out", "-c", "human_agreement"]
    arguments += ["-p", "highlights=h.jsonl", "--model", "known_box:model", "-q", "--json"]
    assert main(arguments) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["mean"], told["parameters"]["highlights"]) == (1.0, "h.jsonl")
    assert told["facts"]["auprc"] == 1.0
    assert main([*arguments, "-p", "tuned_on=same"]) == 0
    assert any("same texts" in said for said in json.loads(capsys.readouterr().out)["warnings"])
    assert main(arguments[:9] + arguments[11:]) == 2
    assert "highlights=PATH" in capsys.readouterr().err

"""The studies of whole models: what is said of planted measures, their claims, and parts that cannot be made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.errors import BadFile
from assay.statistics.intervals import Estimate
from assay_studies.kept import Kept
from assay_studies.pages import find_page
from assay_studies.request import Request
from assay_studies.specification import Subject, Values
from assay_studies.store import Store
from assay_studies.study import study_named
from assay_studies.whole_model import concepts, heuristics, layers, neurons, stereotypes, vocabulary
from assay_studies.whole_model.sizes import LinguisticSizes
from assay_studies.whole_model.tasks import PLACES, reason, share, tasks

STUDIES = ("concepts", "vocabulary", "linguistic", "neurons")
PARTS: dict[str, Any] = {name: study_named(name).parts for name in STUDIES}


def sure(value: float) -> Estimate:
    return Estimate(value, value - 0.01, value + 0.01, 200)


def said(part: Any, measures: Any, **facts: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in part.of([Subject("t", "T", measures, facts=facts)]).claims:
        found.setdefault(one.key, []).append(one.verdict)
    return found


@pytest.mark.parametrize(("wrong", "verdict"), [(0.1, "holds"), (0.9, "does not hold"), (0.5, "open")])
def test_heuristics(wrong: float, verdict: str) -> None:
    measures = {(h, label): sure(wrong if label != "entailment" else 0.97) for h in heuristics.HEURISTICS
                for label in heuristics.LABELS}  # fmt: skip
    assert said(heuristics.PART, measures) == {"heuristics": [verdict] * 3, "entailed": ["holds"] * 3}


def test_shuffled_words_and_what_they_cost() -> None:
    right = np.tile([1.0, 1.0, 0.0, 1.0], 100)
    for lost, verdict in ((0, "holds"), (200, "does not hold")):
        worse = np.where(np.arange(400) < lost, 0.0, right)
        measures = {"as it is": Values(right), "hypothesis shuffled": Values(worse), "both shuffled": Values(worse)}
        assert said(heuristics.SHUFFLED, measures) == {"shuffled": [verdict] * 2}
    rng = np.random.default_rng(0)
    assert sorted(heuristics._order("a man plays drums.", rng).split()) == ["a", "drums", "man", "plays"]


@pytest.mark.parametrize(("found", "verdict"), [(0.6, "holds"), (0.505, "open"), (0.4, "does not hold")])
def test_stereotypes(found: float, verdict: str) -> None:
    measures = {("CrowS-Pairs", "share"): sure(found), ("WinoBias", "share"): sure(0.7)}
    assert said(stereotypes.PART, measures, rows=[]) == {"stereotypes": [verdict, "holds"]}


def test_probes_that_know_and_probes_that_learn_by_heart() -> None:
    scores = {"trained": 0.95, "untrained": 0.8, "few": 0.9, "few_untrained": 0.5, "mix": 0.97, "mlp": 0.94}
    scores |= {"control": 0.5, "mlp_control": 0.93}
    found = said(layers.PART, {("best", name): sure(value) for name, value in scores.items()}, layers=0)
    assert found == {
        "untrained": ["holds"],
        "untrained_few": ["holds"],
        "control": ["does not hold", "holds"],
        "mix": ["holds"],
    }


@pytest.mark.parametrize(("half", "verdict"), [(0.03, "holds"), (0.5, "does not hold")])
def test_few_heads(half: float, verdict: str) -> None:
    measures = {("half", "value"): sure(half), ("total", "value"): sure(-2), ("more", "value"): sure(0.5)}
    for part in concepts.PARTS:
        assert said(part, measures, heads=[]) == {"few_heads": [verdict], "together": ["holds"]}


def test_of_no_effect_nothing_is_said_to_be_carried() -> None:
    measures = {("half", "value"): sure(0.01), ("more", "value"): sure(0.5)}
    for total, verdict in ((Estimate(0.1, -0.2, 0.4, 40), "open"), (sure(-2), "holds")):
        made = concepts.PARTS[0].of([Subject("t", "T", {**measures, ("total", "value"): total}, facts={"heads": []})])
        assert [one.verdict for one in made.claims] == [verdict] * 2
        claims = {one.key: tuple(replace(c, aside="") for c in one.comparisons) for one in made.claims}
        kept = find_page("concepts").derived(Kept({}, claims, {}))  # of a run that did not say so
        assert [one.decides for one in kept.claims["together"]] == [verdict == "holds"]


def test_directions_rotations_and_neurons() -> None:
    measures = {("glove", "correlation"): sure(0.5), ("mlm", "correlation"): sure(0.1), ("glove", "gap"): sure(0.2)}
    assert said(vocabulary.DIRECTION, measures) == {
        "direction": ["holds", "does not hold"],
        "unsupervised": ["holds", "open"],
    }
    assert said(vocabulary.ROTATION, {("intrusion", "gap"): sure(0.2)}, shown=[]) == {"rotation": ["holds"]}
    assert said(vocabulary.ROTATION, {}, shown=[]) == {}
    measures = {("unseen", "gain"): sure(0.02), ("ablation", "more"): sure(-0.1), ("ablation", "there"): sure(0.1)}
    measures["unseen", "right"] = sure(0.8)
    found = said(neurons.PART, measures, rules=[], lengths=0)
    assert found == {"means": ["does not hold"], "longer": ["holds"], "ablation": ["does not hold"]}


KEYS = {
    "concepts": {"few_heads", "together"},
    "vocabulary": {"direction", "rotation", "unsupervised"},
    "linguistic": {"heuristics", "shuffled", "untrained", "untrained_few", "control", "mix", "stereotypes"},
    "neurons": {"means", "longer", "ablation"},
}


@pytest.mark.parametrize("name", STUDIES)
def test_every_claim_has_its_sentence(name: str) -> None:
    page = find_page(name)
    assert {sentence.key for sentence in page.sentences} == KEYS[name]
    assert all(one.place.startswith("section") for one in page.sentences if one.quote)
    assert all(place.startswith("section") for _, place in page.quotes)


@pytest.mark.parametrize("name", STUDIES)
def test_a_page_quotes_the_survey_and_stands_without_numbers(name: str) -> None:
    text = find_page(name).text(name, Kept({}, {}, {}))
    assert all(f"> “{quote}” ({place})" in text for quote, place in find_page(name).quotes)
    assert ("## Claim by claim" in text) == any(not one.own for one in find_page(name).sentences)
    assert "Not measured." in text


def test_pages_say_what_is_seen_with_its_numbers() -> None:
    def seen(name: str, part: Any, measures: Any, **facts: Any) -> str:
        made = part.of([Subject("t", "Topic", measures, facts=facts)])
        claims: dict[str, Any] = {}
        for one in made.claims:
            claims[one.key] = claims.get(one.key, ()) + one.comparisons
        return " ".join(find_page(name).seen(Kept({table.name: table for table in made.tables}, claims, {})))

    heads = {("half", "value"): sure(0.03), ("total", "value"): sure(-2), ("1. layer 7, head 2", "effect"): sure(-1)}
    words = seen("concepts", concepts.PARTS[0], heads, heads=["1. layer 7, head 2"])
    assert "Topic: the change moves the log-odds by -2.00 [-2.01, -1.99], and 0.030 [0.020, 0.040] of the" in words
    assert "layer 7, head 2 is the strongest" in words
    heads["total", "value"] = Estimate(0.1, -0.2, 0.4, 40)
    words = seen("concepts", concepts.PARTS[0], heads, heads=["1. layer 7, head 2"])
    assert words == (
        "Topic: the change moves the log-odds by 0.10 [-0.20, 0.40], which does not differ from 0, so there is nothing "
        "to mediate."
    )
    words = seen("vocabulary", vocabulary.DIRECTION, {("mlm", "correlation"): sure(0.25), ("mlm", "gap"): sure(0.1)})
    assert words.startswith("Input embedding of the bundled mlm: the direction of gender correlates by 0.25 [0.24, ")
    words = seen("neurons", neurons.PART, {("ablation", "there"): sure(0.5)}, rules=[], lengths=0)
    assert words.endswith("moves the answer by 0.50000 [0.49000, 0.51000] of log-odds.")


def test_parts_without_data_or_size_say_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [part.name for part in PARTS["linguistic"]]
    made = tasks(Request(data=tmp_path), LinguisticSizes(hans=0), Store(tmp_path / "out"), names)
    assert [one.name for one in made] == names
    for study in PARTS.values():  # the only part that wants a task has its name
        wanted = [
            [part.name for part in study if part.wants(one)] for one in made if one.name in {p.name for p in study}
        ]
        assert wanted in ([], [[name] for name in names])
    told = {one.name: one.left_out for one in made}
    assert told["heuristics"] == "HANS: left out, its size is 0."
    assert told["layers"].endswith("has no ud_english_ewt/en_ewt-ud-train.conllu.xz.")
    assert reason(made[:1]) == told["heuristics"]
    monkeypatch.delenv("ASSAY_DATA", raising=False)
    with pytest.raises(BadFile, match="say where the data is"):
        tasks(Request(), LinguisticSizes(), Store(tmp_path), names)


def test_shares_have_exact_intervals() -> None:
    found = share(0, 20)
    assert (found.value, found.low, found.n) == (0, 0, 20)
    assert found.high == pytest.approx(1 - 0.025 ** (1 / 20))
    assert set(PLACES) == {part.name for study in PARTS.values() for part in study}

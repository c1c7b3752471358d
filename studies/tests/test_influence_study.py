"""The study of influential examples: its measure by hand, what planted numbers make of its claims, and its page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.errors import BadFile, BadInput
from assay_studies.influence import datamodeling, flipped, overlap, removal
from assay_studies.influence.page import PAGE
from assay_studies.influence.sizes import Sizes
from assay_studies.influence.tasks import DEPTHS, KINDS, TITLES, tasks
from assay_studies.request import Request
from assay_studies.specification import Subject, Values
from assay_studies.store import Store


def test_the_first_fifth_by_hand() -> None:
    scores = np.array([0.1, 0.9, 0.3, 0.8, 0.2, 0.0, 0.5, 0.4, 0.6, 0.7])
    np.testing.assert_array_equal(flipped.first_fifth(scores, [1, 2, 3]), [1, 0, 1])
    np.testing.assert_array_equal(flipped.first_fifth(np.zeros(10), [0, 5]), [1, 0])  # among equals the earlier row


def flipped_subject(tracin: float, loss: float) -> Subject:
    """Changed labels of which a share is found by each sign, the first ones."""
    shares = {"influence": 0.5, "tracin": tracin, "loss": loss, "held_out": 0.9, "all": 0.9, "random": 0.2}
    return Subject("bag", "Bag", {key: Values((np.arange(200) < 200 * share) * 1.0) for key, share in shares.items()})


def test_claims_of_changed_labels() -> None:
    good = {one.key: one.verdict for one in flipped._claims(flipped_subject(0.9, 0.6))}
    assert good == {
        "influence_finds": "holds",
        "influence_beats_loss": "does not hold",
        "tracin_finds": "holds",
        "tracin_beats_loss": "holds",
        "tracin_better": "holds",
        "four_fifths": "holds",
    }
    bad = {one.key: one.verdict for one in flipped._claims(flipped_subject(0.3, 0.6))}
    assert bad["four_fifths"] == bad["tracin_better"] == "does not hold"


def test_claims_of_removal_and_of_random_halves() -> None:
    drops: dict[Any, Values] = {(key, "drop"): Values(np.linspace(1, 2, 40)) for key in ("influence", "random")}
    drops["tracin", "drop"] = Values(np.linspace(2, 3, 40))
    found = removal._claims(Subject("bag", "Bag", drops, facts={"influence": 0.1, "tracin": 0.6}))
    assert [one.verdict for one in found] == ["open", "holds"]
    measures: dict[Any, Values] = {("lds", key): Values(np.linspace(0.1, 0.3, 40)) for key in TITLES}
    measures |= {("left_out", key): Values(np.full(40, 0.95)) for key in ("influence", "tracin")}
    said = {one.key: one.verdict for one in datamodeling._claims(Subject("bag", "Bag", measures))}
    assert said["trak_foretells"] == said["tracin_exact"] == "holds"
    assert said["influence_beats_tracin"] == "open"


def test_changed_labels_are_claimed_of_each_depth_that_was_measured() -> None:
    flat = flipped_subject(0.9, 0.6)
    deep = {("influence_all",): flat.measures["loss",], ("tracin_all",): flat.measures["loss",]}
    both = Subject("encoder", "Encoder", {**flat.measures, **deep})
    fifths = [one for one in flipped._claims(both) if one.key == "four_fifths"]
    assert [one.comparisons[0].about for one in fifths] == ["Encoder, last layer", "Encoder, all layers"]
    assert [one.verdict for one in fifths] == ["holds", "does not hold"]


def test_overlap_of_words_by_hand() -> None:
    assert overlap.overlaps(("The doctor paid the actor .", "The actor paid the doctor ."))
    assert not overlap.overlaps(("The doctor paid the actor .", "The actor slept ."))


def test_the_cue_has_its_share_and_no_pair_is_explained_and_asked() -> None:
    plain = [((f"one {i}", f"two {i}"), overlap.NOT) for i in range(50)]
    cue, traps = [(f"a b {i}", f"b {i}") for i in range(9)], [(f"c d {i}", f"d c {i}") for i in range(36)]
    given = overlap.Corpus.of(plain, cue, traps, 40, 6)
    assert (len(given.rows), given.held.sum()) == (40, 4)
    assert all(row.label == overlap.FOLLOWS for row, held in zip(given.rows, given.held, strict=True) if held)
    assert (len(given.explained), len(given.asked)) == (6, 30)
    assert not set(given.explained) & set(given.asked)


def test_claims_of_overlap() -> None:
    held = {("influence", "share"): 0.8, ("tracin", "share"): 0.1, ("random", "share"): 0.12}
    shares: dict[Any, Values] = {key: Values((np.arange(100) < 100 * part) * 1.0) for key, part in held.items()}
    falls = {(key, "fall"): Values(np.linspace(1, 2, 40) + more) for key, more in (("influence", 1), ("tracin", -2))}
    facts = {"share": 0.12}
    found = overlap._claims(
        Subject("encoder", "E", {**shares, **falls, ("random", "fall"): Values(np.ones(40))}, facts=facts)
    )
    said = {one.key: one.verdict for one in found}
    assert said["influence_overlap"] == said["influence_unlearns"] == "holds"
    assert said["tracin_unlearns"] == "does not hold"
    assert said["tracin_overlap"] == "open"


def test_the_page_has_every_claim() -> None:
    made = {one.key for one in flipped._claims(flipped_subject(0.9, 0.6))}
    made |= {f"{key}_foretells" for key in TITLES} | {f"{key}_exact" for key in KINDS["bag"].methods}
    made |= {"influence_forgets", "tracin_forgets", "influence_beats_tracin"}
    made |= {f"{key}_{what}" for key in overlap._METHODS for what in ("overlap", "unlearns")}
    assert {one.key for one in PAGE.sentences} == made


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"there is no sst2/train\.tsv"):
        tasks(Request(data=tmp_path), Sizes(), Store(tmp_path))
    with pytest.raises(BadInput, match="the study has no model left"):
        tasks(Request(data=tmp_path), Sizes(bag=0, attentive=0, encoder=0), Store(tmp_path))


def test_small_models_are_trained_and_asked(tmp_path: Path) -> None:
    """The bag of words alone, on texts made here."""
    rng = np.random.default_rng(0)
    words = [f"the film was {w}" for w in "warm dull lively flat clever weak fresh tired".split()]
    rows = [f"{words[i % 8]} number{rng.integers(9)}\t{(i + 1) % 2}" for i in range(90)]
    (tmp_path / "sst2").mkdir()
    for part in ("train", "dev"):
        (tmp_path / "sst2" / f"{part}.tsv").write_text("sentence\tlabel\n" + "\n".join(rows) + "\n")
    small = {"bag": 60, "folds": 2, "rows": 24, "subsets": 4, "queries": 3, "left_out": 20, "planted": 60, "probes": 4}
    sizes = Sizes(**{**small, "draws": 2, "attentive": 0, "encoder": 0})
    (task,) = tasks(Request(data=tmp_path), sizes, Store(tmp_path / "out"))
    part = flipped.PART.make([task])
    found = {line.label for line in part.tables[0].lines if line.cells[0].ours is not None}
    assert found == {title for key, title in flipped._ROWS.items() if not key.endswith(tuple(filter(None, DEPTHS)))}
    assert task.store.data("scores", "bag-head", {**task.settings, "rows": 60, "folds": 2})["tracin"]  # kept
    exact = datamodeling.PART.make([task])
    assert next(one for one in exact.claims if one.key == "influence_exact").comparisons[0].estimate is not None


def test_random_orders_find_a_fifth() -> None:
    wrong = list(range(0, 500, 5))
    found = flipped.by_chance(500, wrong)
    assert found.shape == (100,)
    assert abs(found.mean() - 0.2) < 0.01

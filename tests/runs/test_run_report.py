"""The report: its numbers against numbers made another way, and a page that stands by itself."""

from __future__ import annotations

import re
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau

import assay
from assay.runs.lexicon import Lexicon
from assay.runs.report import report
from assay.verbs import Aims
from assay.views.report import page
from run_toys import dataset, ran


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("report")
    path = dataset(place, 80)
    lines = [f"{line},{i % 2}" for i, line in enumerate(path.read_text().splitlines()[1:])]
    path.write_text("\n".join(["id,text,gold", *lines, 'k80,"",0', 'k81,"<script>alert(1)</script> good & bad",1']))
    columns = {"column": "text", "id_column": "id", "label_column": "gold"}
    ran(path, place / "out", methods=["leave_one_out", "lime", "random"], checks=["sufficiency"], columns=columns)
    return place / "out"


def test_words_are_means_over_all_occurrences(done: Path) -> None:
    held = assay.open(done)
    scores: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for e in held.explanations():
        for word, score in zip(e.words, e.scores, strict=True):
            scores[e.about.method, e.label, word.lower()].append(score)
    lists = {(one.method, one.target): one for one in report(held).words}
    assert set(lists) == {(m, label) for m in held.plan.methods for label in ("0", "1")}
    for (method, target), one in lists.items():
        for word in (*one.speak_for, *one.against):
            mine = scores[method, target, word.word]
            assert (word.mean, word.count) == (pytest.approx(np.mean(mine)), len(mine))
            assert word.low > 0 or word.high < 0
    assert lists["leave_one_out", "1"].speak_for


def test_random_scores_seldom_make_a_word_matter() -> None:
    """Over 200 lists of 50 words without meaning, about one in twenty may name a word."""
    rng = np.random.default_rng(0)
    named = 0
    for _ in range(200):
        lexicon = Lexicon()
        for _ in range(12):
            lexicon.add([f"w{i}" for i in range(50)], rng.standard_normal(50).tolist())
        named += any(word.low > 0 or word.high < 0 for word in lexicon.words())
    assert named <= 20


def test_agreement_is_the_mean_tau(done: Path) -> None:
    held = assay.open(done)
    found = report(held).agreement
    assert found is not None
    maps = [list(held.explanations(method)) for method in held.plan.methods]
    taus = []
    for one, other in zip(maps[0], maps[1], strict=True):
        flat = np.ptp(np.round(one.scores, 6)) == 0  # two words with the same weight: no order to agree with
        taus += [] if len(one.words) < 2 else [0.0] if flat else [kendalltau(one.scores, other.scores).statistic]
    assert found.texts == len(taus)
    assert found.tau[0][1] == pytest.approx(np.mean(taus), abs=0.02)
    assert found.tau[0][1] == found.tau[1][0]
    assert found.tau[2][2] == 1


def test_examples_are_the_best_and_the_worst(done: Path) -> None:
    held = assay.open(done)
    frame = held.to_pandas(["id", "method", "checks"])
    mine = frame[(frame["method"] == "lime") & (frame["checks"].str.len() > 0)]
    gains = {row.id: np.mean(row.checks[0]["random"]) - row.checks[0]["score"] for row in mine.itertuples()}
    shown = [e for e in report(held).examples if e.explanation.about.method == "lime"]
    strong, weak = ([gains[e.id] for e in shown if e.strong == side] for side in (True, False))
    assert strong == sorted(gains.values(), reverse=True)[:2]
    assert weak == sorted(gains.values())[:2]


def test_failures_labels_and_costs_are_counted(done: Path) -> None:
    held = assay.open(done)
    made = report(held)
    assert [(f.method, f.error, f.count, f.id) for f in made.failures] == [
        (method, "EmptyText", 1, "k80") for method in held.plan.methods
    ]
    frame = held.to_pandas()
    ok = frame[(frame["method"] == "lime") & (frame["status"] == "ok")]
    share = (ok["label"] == ok["predicted"]).mean()
    assert dict(made.facts)["labels"] == f"the model agrees with {share:.1%} of 81 labels"
    for cost in made.costs:
        mine = frame[frame["method"] == cost.method]
        assert (cost.rows, cost.forwards, cost.gradients) == (82, mine["forwards"].sum(), 0)
        assert cost.seconds is not None
        assert cost.seconds > 0


class _Checker(HTMLParser):
    """Notes what a page would fetch or run."""

    def __init__(self) -> None:
        super().__init__()
        self.bad: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        outside = {"src", "href"} & {name for name, _ in attrs}
        if tag in ("script", "link", "img", "iframe") or outside or any(name.startswith("on") for name, _ in attrs):
            self.bad.append(tag)


def test_the_page_needs_nothing_and_runs_nothing(done: Path) -> None:
    html = page(report(assay.open(done)))
    checker = _Checker()
    checker.feed(html)
    assert checker.bad == []
    assert "url(" not in html
    for part in (
        "Can the explanations be trusted?",
        "Words that matter most",
        "Do the methods agree?",
        "Strongest",
        "Weakest",
    ):
        assert part in html
    assert re.search(r"EmptyText</td><td class=\"num\">1 \(1\.2 %\)", html)
    assert "prefers-color-scheme: dark" in html


def test_a_strange_text_is_escaped(tmp_path: Path) -> None:
    path = dataset(tmp_path).with_name("odd.jsonl")
    path.write_text('{"text": "<script>alert(1)</script> \\u0000 good & bad"}\n{"text": "<img src=x> fine"}\n')
    ran(path, tmp_path / "out", columns={"column": "text"}, methods=["leave_one_out"])
    html = page(report(assay.open(tmp_path / "out")))
    assert "<script>alert" not in html
    assert "<img" not in html


def test_an_unfinished_run_and_one_of_sentences_have_a_page_too(done: Path, tmp_path: Path) -> None:
    path = dataset(tmp_path)
    ran(path, tmp_path / "out", aims=Aims(split="sentences"), methods=["leave_one_out"])
    (tmp_path / "out" / "DONE").unlink()
    sorted((tmp_path / "out" / "shards").iterdir())[-1].unlink()
    made = report(assay.open(tmp_path / "out"))
    assert made.words == ()
    assert "not done: 50 of 60 rows" in made.notes[0]
    assert made.agreement is None
    assert "None: every row was explained" in page(made)

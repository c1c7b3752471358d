"""ROAR: the removal, the retraining against a slow loop, the published p-values, resuming, and calibration."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
from scipy.stats import binom, ttest_ind
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

import assay
from assay.checks.roar import Roar, RoarResult
from assay.checks.trained_models import RANDOM, count_right
from assay.cli import app, main
from assay.data.shortcuts import Shortcut, corpus, reviews
from assay.engine.engine import Engine
from assay.errors import BadAnswer, BadFile, BadInput, EmptyText
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.registry.finding import checks, resolve_check
from assay.statistics.accuracies import Retrained, RetrainedVerdict, interval, one_more, welch
from assay.text.example import Example
from assay.text.sample import Sample
from assay.training.recipes import Recipe, recipe
from assay.training.words import Words
from known_models import KnownModel

SHORTCUT = Shortcut("single_token")
QUICK: dict[str, Any] = {"trainer": Words(), "seeds": 2, "shares": (0.2,), "progress": False}


@cache
def rows(n: int = 90) -> list[tuple[str, str]]:
    return [(e.strings[0], str(e.label)) for e in corpus(reviews(n), SHORTCUT, share=1.0)]


def known() -> Any:
    """A model whose only reason is the planted word, so that leave-one-out tells the truth about it."""
    return assay.BlackBox(KnownModel({}, SHORTCUT), labels=SHORTCUT.labels, name="known")


def noise(salt: str) -> Any:
    """A model that answers each string at random, so that leave-one-out of it is one fixed random explanation."""

    def chance(text: str) -> float:
        return int.from_bytes(blake2b(f"{salt} {text}".encode(), digest_size=4).digest()) / 2**32

    return assay.BlackBox(lambda texts: np.array([chance(text) for text in texts]), labels=["a", "b"], name="noise")


def run(model: Any = None, methods: Sequence[Any] = ("leave_one_out",), n: int = 90, **settings: Any) -> RoarResult:
    cut = n * 2 // 3
    return assay.roar(model or known(), rows(n)[:cut], rows(n)[cut:], methods, **QUICK | settings)


def scored(scores: Sequence[float]) -> TokenScores:
    text = assay.Text.of(" ".join(f"w{i}" for i in range(len(scores))))
    return TokenScores(Case(text, 0), np.array(scores))


# What is taken away


def test_the_first_words_of_the_ranking_go() -> None:
    e = scored([0.1, 3.0, -5.0, 2.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    keep = Roar(shares=(0.1, 0.2, 0.3)).keep(e)
    assert [np.flatnonzero(~kept).tolist() for kept in keep] == [[1], [1, 3], [1, 3, 4]]


@pytest.mark.parametrize("n", [1, 2, 9, 10, 11, 30, 31])
def test_how_many_words_go(n: int) -> None:
    for tenths in (1, 2, 3):
        share = tenths / 10
        assert Roar().how_many(n, share) == max(1, -(-n * tenths // 10))
        assert Roar(variant="released").how_many(n, share) == max(1, -(-(n - 1) * tenths // 10))
    assert Roar().how_many(100, 0.07) == 7, "0.07 * 100 is a little more than 7"


def test_settings_without_sense_are_refused() -> None:
    for wrong in ({"shares": ()}, {"shares": (0.0,)}, {"shares": (0.1, 0.1)}, {"shares": (1.5,)}, {"seeds": 1}):
        with pytest.raises(BadInput):
            Roar(**wrong)


# The numbers


@pytest.mark.parametrize("order", [1, -1])
def test_accuracies_are_those_of_a_slow_loop(order: int) -> None:
    """Written again with scikit-learn alone; the data in either order, so that no label has a fixed place."""
    data = rows()[::order]
    found = assay.roar(known(), data[:60], data[60:], ["leave_one_out"], **QUICK | {"shares": (0.2, 0.5)})

    def shortened(text: str, share: float) -> str:
        words = text.split()
        planted = [i for i, word in enumerate(words) if word in SHORTCUT.tokens]
        others = [i for i in range(len(words)) if i not in planted]
        gone = [*planted, *others][: max(1, ceil(share * len(words) - 1e-9))]
        return " ".join(word for i, word in enumerate(words) if i not in gone)

    for share in (0.2, 0.5):
        short = [(shortened(text, share), label) for text, label in data]
        expected = [slow(short[:60], short[60:], seed) for seed in (0, 1)]
        assert found.at("leave_one_out", share).accuracies.tolist() == pytest.approx(expected)
    assert found.whole == pytest.approx([slow(data[:60], data[60:], seed) for seed in (0, 1)])


def slow(train: Sequence[tuple[str, str]], dev: Sequence[tuple[str, str]], seed: int) -> float:
    rng = np.random.default_rng(seed)
    picked: list[tuple[str, str]] = []
    for label in ("negative", "positive"):
        own = [row for row in train if row[1] == label]
        picked += [own[i] for i in rng.choice(len(own), len(own))]
    counts = TfidfVectorizer(token_pattern=r"\w+|[^\w\s]")
    model = LogisticRegression(C=10.0, max_iter=1000)
    model.fit(counts.fit_transform([text for text, _ in picked]), [label for _, label in picked])
    predicted = model.predict(counts.transform([text for text, _ in dev]))
    return float(np.mean([a == b for a, (_, b) in zip(predicted, dev, strict=True)]))


def test_labels_are_compared_by_name() -> None:
    model = assay.BlackBox(lambda texts: np.tile([0.9, 0.1], (len(texts), 1)), labels=["z", "a"])

    def right(rows: list[tuple[str, str]]) -> int:
        return next(Engine(model).run([count_right(Sample.of(rows))])).get()

    assert right([("x", "z"), ("y", "a"), ("", "z")]) == 2
    with pytest.raises(BadAnswer, match="no label 'b'"):
        right([("x", "b")])


def test_random_words_are_drawn_anew_for_every_seed() -> None:
    spy = Constant()
    run(trainer=spy)
    texts = [tuple(given) for given, _ in spy.seen]
    assert texts[0] == texts[1], "whole texts"
    assert texts[2] == texts[3], "those of a method"
    assert texts[4] != texts[5], "random ones"


def test_resample_fills_the_holes_with_other_words() -> None:
    spy = Constant()
    engine = Engine(known(), resolve=lambda name: assay.load(tiny.masked_lm()))
    run(engine=engine, eraser="resample", trainer=spy, n=30)
    for (text, _), (short,) in zip(rows(30), spy.seen[2][0], strict=False):
        before, after = assay.Text.of(text).words, short.split()
        changed = [i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
        assert len(changed) == ceil(0.2 * len(before))
        assert {*before} & {*SHORTCUT.tokens}
        assert not {*after} & {*SHORTCUT.tokens}


def test_pairs_examples_and_one_word_texts() -> None:
    data = [Example(str(i), (text, "a man"), label) for i, (text, label) in enumerate(rows())]
    told = assay.roar(None, data[:60], data[60:], ["leave_one_out"], **QUICK)
    assert told.at("leave_one_out", 0.2).mean < told.at(RANDOM, 0.2).mean
    short = [(word, label) for word, label in (("good", "p"), ("dull", "n"))] * 10
    emptied = assay.roar(None, short, short, ["leave_one_out"], **QUICK | {"trainer": Constant()})
    assert emptied.at("leave_one_out", 0.2).mean == 0.5


@dataclass(frozen=True)
class Constant:
    """A trainer whose models always say the same, and which sees what it is given."""

    settings: dict[str, Any] = field(default_factory=dict)
    seen: list[Any] = field(default_factory=list)

    def train(self, texts: Sequence[Any], labels: Sequence[str], seed: int) -> Any:
        self.seen.append((texts, seed))
        return assay.BlackBox(lambda given: np.tile([0.9, 0.1], (len(given), 1)), labels=sorted(set(labels)))


def test_every_model_learns_from_the_shortened_texts() -> None:
    spy = Constant()
    run(trainer=spy, methods=["leave_one_out", "random"])
    assert [seed for _, seed in spy.seen] == [0, 1] * 3
    whole, short, drawn = (spy.seen[i][0] for i in (0, 2, 4))
    assert whole == [(text,) for text, _ in rows()[:60]]
    assert all(not set(text.split()) & set(SHORTCUT.tokens) for (text,) in short)
    assert short == spy.seen[3][0] != drawn != spy.seen[5][0]
    assert [len(text.split()) for (text,) in short] == [len(text.split()) for (text,) in drawn]


# The tests of significance

LOO = ((74.59, 0.78), (68.94, 1.46), (67.89, 0.79), (76.79, 0.56), (71.95, 0.75), (67.62, 1.16))
IM = ((76.22, 1.18), (70.07, 0.69), (66.54, 1.89), (77.36, 0.90), (71.56, 1.55), (67.68, 0.96))
PUBLISHED = (0.0370, 0.1740, 0.1974, 0.2672, 0.6312, 0.9245)


def five(mean: float, deviation: float) -> np.ndarray:
    shape = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    return (mean + deviation * shape / shape.std(ddof=1)) / 100


@pytest.mark.parametrize("i", range(6))
def test_the_published_p_values(i: int) -> None:
    """Table 2 of Pham et al., from its rounded means and deviations."""
    a, b = five(*LOO[i]), five(*IM[i])
    assert welch(a, b, 872) == pytest.approx(PUBLISHED[i], abs=0.01)
    assert welch(a, b, 872) == pytest.approx(ttest_ind(a, b, equal_var=False).pvalue)


def result(ours: Any, random: Any, texts: int = 1000, other: Any = None) -> RoarResult:
    parts = (Retrained("ours", 0.1, ours), *([Retrained("other", 0.1, other)] if other is not None else []))
    return RoarResult(rows=(*parts, Retrained(RANDOM, 0.1, random)), whole=(0.9, 0.91), texts=texts)


def verdict(ours: Any, random: Any, texts: int = 1000) -> RetrainedVerdict:
    return result(ours, random, texts).verdicts()[0]


def test_the_verdict_knows_the_direction() -> None:
    low, high = five(70, 1), five(88, 1)
    assert verdict(low, high).sentence == "better than random"
    assert verdict(high, low).sentence == "worse than random"
    assert verdict(high, high).sentence == "not distinguishable from random"
    told = verdict(low, high)
    assert told.interval[0] < told.difference < told.interval[1] < 0
    assert told.difference == pytest.approx(-0.18)
    known = ttest_ind(low, high, equal_var=False).confidence_interval()
    assert told.interval == pytest.approx((known.low, known.high))
    assert told.p_value > ttest_ind(low, high, equal_var=False, alternative="less").pvalue
    flat = json.loads(json.dumps(told.to_dict()))
    assert (flat["texts"], flat["models"], flat["share"], flat["check"]) == (1000, 5, 0.1, "roar")


def test_equal_accuracies_are_no_proof_of_anything() -> None:
    same = np.full(5, 0.8)
    assert welch(same, same, 100) == 1
    assert welch(same, same - 0.01, 100) > 0.1
    assert one_more(0.79, same, 100) > 0.1
    assert one_more(0.5, same, 100) < 0.01
    assert interval(same, 100)[0] < 0.8 < interval(same, 100)[1]
    assert interval(np.array([0.2, 0.8]), 100) == (0, 1)
    assert interval(five(80, 1), 872) == pytest.approx((0.8 - 2.776445 * 0.01 / 5**0.5, 0.8 + 2.776445 * 0.01 / 5**0.5))
    assert any("seeds change nothing" in said for said in verdict(same, five(80, 1)).warnings)


def drawn(rng: np.random.Generator, fixed: bool, texts: int = 500) -> np.ndarray:
    """Accuracies of five models: a common level, the luck of the draw of words, the luck of training."""
    draw = np.full(5, rng.normal(0, 0.02)) if fixed else rng.normal(0, 0.02, 5)
    return np.asarray(np.round((0.85 + draw + rng.normal(0, 0.005, 5)) * texts) / texts)


@pytest.mark.parametrize("fixed", [True, False])
def test_random_explanations_are_seldom_better_than_random(fixed: bool) -> None:
    """2,000 cases: a random map drawn once and trained on five times, or drawn anew for each model."""
    rng = np.random.default_rng(0)
    cases = [verdict(drawn(rng, fixed), drawn(rng, False), 500) for _ in range(2000)]
    better, worse = (sum(getattr(v, name) for v in cases) for name in ("better_than_random", "worse_than_random"))
    assert max(better, worse) <= binom.ppf(0.999, 2000, 0.05)
    assert not fixed or min(better, worse) > 0
    plain = sum(
        ttest_ind(v.scores, v.random_scores[:, 0], equal_var=False, alternative="less").pvalue < 0.05 for v in cases
    )
    assert (plain > 2 * binom.ppf(0.999, 2000, 0.05)) == fixed


def test_a_real_difference_is_always_found() -> None:
    rng = np.random.default_rng(1)
    assert all(verdict(drawn(rng, True) - 0.3, drawn(rng, False), 500).better_than_random for _ in range(1000))


def test_between_methods() -> None:
    told = result(five(70, 1), five(88, 1), other=five(71, 1))
    pairs = {(c["method"], c["other"]): c for c in told.comparisons()}
    assert set(pairs) == {("ours", "other"), ("ours", RANDOM), ("other", RANDOM)}
    expected = ttest_ind(five(70, 1), five(71, 1), equal_var=False).pvalue
    assert pairs["ours", "other"]["p"] == told.p("other", "ours", 0.1) == pytest.approx(expected)
    assert pairs["ours", "other"]["difference"] == pytest.approx(-0.01)
    with pytest.raises(assay.AssayError, match="no method and share is called"):
        told.at("lime", 0.1)


# The whole way


def test_the_true_words_win(tmp_path: Path) -> None:
    told = run(n=240, seeds=5, shares=(0.1, 0.3))
    assert all(v.better_than_random for v in told.verdicts())
    assert np.mean(told.whole) > 0.95
    assert abs(told.at("leave_one_out", 0.1).mean - 0.5) < 0.15
    again = RoarResult.from_dict(json.loads(json.dumps(told.to_dict())))
    assert again.to_dict() == told.to_dict()
    frame = told.to_frame()
    assert list(frame["method"]) == ["leave_one_out"] * 2 + [RANDOM] * 2
    assert frame["mean"][0] == told.at("leave_one_out", 0.1).mean
    assert "better than random" in str(told)


def test_a_random_explanation_seldom_wins() -> None:
    """One fixed random map each, and really retrained: 25 cases."""
    found = [run(noise(str(i)), n=90, seeds=3).verdicts()[0].better_than_random for i in range(25)]
    assert sum(found) <= binom.ppf(0.999, 25, 0.05)


class Killed(Exception):
    """What stands for a kill."""


@dataclass(frozen=True)
class Dying(Words):
    """A recipe that is killed at a certain model."""

    at: int = -1
    made: list[int] = field(default_factory=list, compare=False)

    @property
    def settings(self) -> Any:
        return Words().settings

    def make(self, texts: Sequence[Any], labels: Sequence[str], seed: int, out: Path, **dev: Any) -> None:
        if len(self.made) == self.at:
            raise Killed
        self.made.append(seed)
        super().make(texts, labels, seed, out, **dev)


def models(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir() if not path.name.startswith("."))


@pytest.mark.parametrize("at", [0, 1, 3, 5])
def test_a_killed_run_loses_at_most_one_model(at: int, tmp_path: Path) -> None:
    whole = run()
    with pytest.raises(Killed):
        run(trainer=Dying(at=at), out=tmp_path)
    assert len(models(tmp_path)) == at
    rest = Dying()
    assert run(trainer=rest, out=tmp_path).to_dict() == whole.to_dict()
    assert len(rest.made) == 6 - at


def test_a_finished_run_trains_nothing(tmp_path: Path) -> None:
    before = run(out=tmp_path)
    again = Dying(at=0)
    assert run(trainer=again, out=tmp_path).to_dict() == before.to_dict()


@pytest.mark.parametrize(
    ("change", "shared"),
    [
        ({"shares": (0.3,)}, 2),
        ({"trainer": Words(ngrams=2)}, 0),
        ({"methods": ["lime"]}, 4),
        ({"n": 60}, 0),
        ({"seed": 1}, 1),
    ],
)
def test_other_settings_are_other_models(change: dict[str, Any], shared: int, tmp_path: Path) -> None:
    """A directory may hold several runs: no model is taken for another, and those that are the same are shared."""
    run(out=tmp_path)
    before = set(models(tmp_path))
    alone = run(**change)
    assert run(**change, out=tmp_path).to_dict() == alone.to_dict()
    run(**change, out=tmp_path / "alone")
    wanted = set(models(tmp_path / "alone"))
    assert len(wanted & before) >= shared
    assert shared or not wanted & before


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(BadFile, match="cannot be written"):
        run(out=tmp_path / "letter.txt")


def test_two_settings_of_a_method_stay_apart() -> None:
    mask = checks_method("leave_one_out", eraser="mask:_")
    told = run(methods=["leave_one_out", mask, "leave_one_out"])
    assert told.methods == ["leave_one_out", "leave_one_out(eraser=mask:_)", RANDOM]
    warned = {v.method: v.warnings for v in told.verdicts()}
    assert any("same eraser" in said for said in warned["leave_one_out"])
    assert not any("same eraser" in said for said in warned["leave_one_out(eraser=mask:_)"])


def checks_method(name: str, **settings: Any) -> Any:
    from assay.registry.finding import find_method

    return find_method(name).make(settings)


def test_long_texts_are_said_to_be_cut() -> None:
    texts = [("good " * 100 if i == 0 else "a good film", "x" if i % 2 else "y") for i in range(6)]
    told = assay.roar(tiny.bert(), texts, texts, ["leave_one_out"], **QUICK | {"trainer": Constant()})
    assert "truncated: 2 of 12 texts were longer than the model's window." in told.verdicts()[0].warnings


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: assay.roar(known(), [], rows(), ["lime"], **QUICK), BadInput, "no texts in train"),
    (lambda: assay.roar(known(), ["a film"], rows(), ["lime"], **QUICK), BadInput, "pair .text, label."),
    (lambda: assay.roar(known(), [("a", 1.5)], rows(), ["lime"], **QUICK), BadInput, "a label that is a string"),
    (lambda: assay.roar(known(), [("a", "x")], [("a", "x")], ["lime"], **QUICK), BadInput, "only one label"),
    (lambda: assay.roar(known(), rows(), [("a", "x")], ["lime"], **QUICK), BadInput, "'x' is in dev but not in train"),
    (lambda: run(methods=[]), BadInput, "needs a method"),
    (lambda: run(methods=["random"]), BadInput, "needs a method"),
    (lambda: run(methods="lime"), BadInput, "a list of names"),
    (lambda: run(methods=["limes"]), BadInput, "did you mean 'lime'"),
    (lambda: run(methods=["anchors"]), BadInput, "scores of words"),
    (lambda: run(methods=["gradient"]), assay.AssayError, "asks for InputGradient"),
    (lambda: run(methods=[checks_method("leave_one_out", unit="phrases")]), BadInput, "not phrases"),
    (lambda: run(trainer="wörds"), BadInput, "no trainer is called"),
    (lambda: run(trainer=5), BadInput, "a trainer has"),
    (lambda: run(sharez=(0.1,)), BadInput, "no parameter of roar"),
    (
        lambda: assay.roar(known(), [*rows()[:9], ("", "positive")], rows(), ["leave_one_out"], **QUICK),
        EmptyText,
        "text 10 of train",
    ),
]


@pytest.mark.parametrize("i", range(len(REFUSED)))
def test_what_cannot_be_run_is_said(i: int) -> None:
    call, kind, said = REFUSED[i]
    with pytest.raises(kind, match=said):
        call()


# Its place among the checks


def test_it_is_a_check_like_any_other(tmp_path: Path) -> None:
    """The same verdicts by assay.check, which sets dev aside where none is given."""
    cut, settings = rows()[:60], {"seeds": 2, "shares": (0.2,), "recipe": Words()}
    (verdict,) = assay.check(
        known(), cut, ["leave_one_out"], [Roar(**settings)], dev=rows()[60:], out=tmp_path, progress=False
    )
    assert verdict.to_dict() == run().verdicts()[0].to_dict()
    assert len(models(tmp_path)) == 6
    split = Sample.of(rows(), name="train").split(0.2)
    (aside,) = assay.check(known(), rows(), ["leave_one_out"], [Roar(**settings)], progress=False)
    told = assay.roar(known(), split["train"], split["dev"], ["leave_one_out"], **QUICK)
    assert aside.to_dict() == told.verdicts()[0].to_dict()


def test_single_texts_are_refused() -> None:
    shown = CliRunner().invoke(app, ["checks", "--json"])
    assert '"roar"' in shown.stdout
    with pytest.raises(BadInput, match="needs a label"):
        assay.check(known(), ["a film"], ["leave_one_out"], ["roar"], progress=False)
    with pytest.raises(BadInput, match="roar reads a labelled sample and deletion single texts"):
        assay.check(known(), rows(), ["leave_one_out"], ["deletion", "roar"], progress=False)
    with pytest.raises(BadInput, match=r"not on single texts; call assay\.check"):
        resolve_check(Roar())
    assert checks()["roar"].better == "lower"
    assert "arXiv:1806.10758" in (__import__("assay.checks.roar", fromlist=["x"]).__doc__ or "")


def csv_file(path: Path, data: Sequence[tuple[str, str]]) -> str:
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([("text", "label"), *data])
    return str(path)


def test_from_the_shell(tmp_path: Path) -> None:
    file = csv_file(tmp_path / "train.csv", rows())
    command = ["check", "--file", file, "--column", "text", "-m", "leave_one_out", "-c", "roar", "-q"]
    asked = [*command, "--label-column", "label", "-p", "roar.seeds=2", "-p", "shares=0.2", "--json"]
    found = json.loads(CliRunner().invoke(app, asked).stdout)
    parts = Sample.of(rows(), name="train").split(0.2)
    told = assay.roar(None, parts["train"], parts["dev"], ["leave_one_out"], **QUICK)
    assert found["scores"] == told.verdicts()[0].scores.tolist()
    dev = csv_file(tmp_path / "dev.csv", rows()[60:])
    asked[2] = csv_file(tmp_path / "first.csv", rows()[:60])
    found = json.loads(CliRunner().invoke(app, [*asked, "--dev", dev, "--out", str(tmp_path / "out")]).stdout)
    assert found["scores"] == run_trained().verdicts()[0].scores.tolist()
    assert len(models(tmp_path / "out")) == 6
    page = tmp_path / "page.html"
    assert CliRunner().invoke(app, [*asked[:-1], "--html", str(page)]).exit_code == 0
    assert "ROAR" in page.read_text()


def run_trained() -> RoarResult:
    return assay.roar(None, rows()[:60], rows()[60:], ["leave_one_out"], **QUICK)


def test_from_the_shell_labels_are_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = csv_file(tmp_path / "train.csv", rows())
    for source in (["--file", file], ["a film"]):
        assert main(["check", *source, "-m", "leave_one_out", "-c", "roar"]) == 2
        said = capsys.readouterr().err
        assert "give --file, and the labels by --label-column" in said
        assert said.count("\n") == 1


def test_trainers_by_name() -> None:
    assert recipe("words") == Words()
    assert recipe("finetune:some/dir").settings["start"] == "some/dir"
    assert isinstance(recipe("finetune"), Recipe)


def test_seeds_of_the_word_trainer_differ() -> None:
    texts, labels = [(text,) for text, _ in rows()], [label for _, label in rows()]
    asked = ["a warm film", "zeroa"]
    one, two, other = (Words().train(texts, labels, seed).predict(asked) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, two)
    assert not np.allclose(one, other)
    same = [Words(bootstrap=False).train(texts, labels, seed).predict(asked) for seed in (0, 1)]
    np.testing.assert_array_equal(*same)
    with pytest.raises(BadInput, match="nothing to learn"):
        Words().train([("",), ("",)], ["a", "b"], 0)

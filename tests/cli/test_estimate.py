"""The line before long work: how right it is, that nothing is lost by making it, and that Ctrl-C keeps its promise.

Most models here do not take time, they move a clock: the same on every machine, and fast.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny

import assay
from assay import cli, verbs
from assay.cli import estimate as estimates
from assay.cli.estimate import Estimate, Stopwatch, Tally, announce, duration, estimate, line, sentence
from assay.cli.jobs import Job, explanations, verdicts
from assay.engine.engine import Engine
from assay.questions.base import Aim
from assay.questions.gradients import InputGradient
from assay.registry.finding import find_check, find_method
from assay.text.text import Text
from assay.verbs import Aims

WORDS = "a gripping funny film that never lets go of its audience and a dull plot".split()


class Clock:
    """Time that passes only in the model."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Slow:
    """A function whose calls take some seconds, and its rows some, by the word."""

    def __init__(self, clock: Clock, call: float, row: float, word: float) -> None:
        self.clock, self.call, self.row, self.word, self.seen = clock, call, row, word, Counter[str]()

    def __call__(self, texts: Sequence[str]) -> Any:
        words = sum(len(text.split()) for text in texts)
        self.clock.now += self.call + self.row * len(texts) + self.word * words
        self.seen.update(texts)
        odds = np.array([len(text) % 7 - 3.0 for text in texts])
        return 1 / (1 + np.exp(-odds))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    one = Clock()
    monkeypatch.setattr(estimates, "perf_counter", one)
    return one


def texts(many: int) -> list[str]:
    """Most short, some long."""
    rng = np.random.default_rng(5)
    sizes = np.minimum(3 + rng.geometric(0.12, size=many), 40)
    return [" ".join(rng.choice(WORDS, size)) for size in sizes]


def job(model: Any, given: list[Any], method: Any, check: str | None = None, **more: Any) -> Job:
    tests = [find_check(check).make({})] if check else []
    made = [find_method(name).make(more) for name in method.split(",")]
    return Job(given, Engine(assay.load(model, labels=["no", "yes"])), made, tests, Aims(), None, method)


def really(clock: Clock, work: Job, check: bool = False) -> float:
    """Seconds that the work takes without an estimate."""
    began = clock.now
    if check:
        verdicts(work, None)
    else:
        list(explanations(work))
    return clock.now - began


COSTS = [(0.0, 0.01, 0.0), (0.5, 0.0, 0.0), (0.05, 0.001, 0.0), (0.0, 0.0, 0.002), (0.01, 0.02, 0.001)]


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("method", ["leave_one_out", "random", "lime", "lime,leave_one_out"])
@pytest.mark.parametrize("many", [1, 3, 100])
def test_within_a_factor_of_two(clock: Clock, cost: tuple[float, ...], method: str, many: int) -> None:
    settings = {"samples": 300} if method == "lime" else {}
    found = estimate(job(Slow(clock, *cost), texts(many), method, **settings))
    real = really(clock, job(Slow(clock, *cost), texts(many), method, **settings))
    if real > 1:
        assert 0.5 < found.seconds / real < 2
    else:
        assert found.seconds < 2 * real + 1


@pytest.mark.parametrize("many", [1, 40])
@pytest.mark.parametrize("cost", [(0.0, 0.0005, 0.0), (0.0, 0.01, 0.0), (0.0, 0.0, 0.002)])
def test_checks_count_too(clock: Clock, cost: tuple[float, ...], many: int) -> None:
    found = estimate(job(Slow(clock, *cost), texts(many), "leave_one_out", "deletion"))
    real = really(clock, job(Slow(clock, *cost), texts(many), "leave_one_out", "deletion"), check=True)
    assert found.seconds < 2 * real
    assert found.seconds > 0.5 * real or not found.whole


def test_it_does_not_take_long_to_find_out(clock: Clock) -> None:
    for seconds in (0.0001, 0.01, 0.3):
        began = clock.now
        estimate(job(Slow(clock, 0.0, seconds, 0.0), texts(500), "lime"))
        assert clock.now - began < 5


@pytest.mark.parametrize("row", [0.0001, 0.02])
@pytest.mark.parametrize("check", [None, "deletion"])
def test_no_work_is_lost_or_done_twice(clock: Clock, row: float, check: str | None) -> None:
    function, plain = Slow(clock, 0.0, row, 0.0), Slow(clock, 0.0, row, 0.0)
    work, other = (job(f, texts(12), "lime", check, samples=100) for f in (function, plain))
    estimate(work)
    assert function.seen
    if check:
        a, b = verdicts(work, None), verdicts(other, None)
        assert [v.to_dict() for v in a] == [v.to_dict() for v in b]
    else:
        told, expected = ([e for (e,) in explanations(w)] for w in (work, other))
        assert [e.to_json() for e in told] == [e.to_json() for e in expected]  # the cost too
    assert function.seen == plain.seen
    assert set(function.seen.values()) == {1}


def test_a_transformers_model_gives_the_same_explanations(clock: Clock) -> None:
    made = [find_method(name).make({}) for name in ("integrated_gradients", "leave_one_out", "attention")]
    given = list(tiny.CORPUS[:3])
    told = []
    for tried in (True, False):
        work = Job(given, Engine(assay.load(tiny.bert())), made, [], Aims(), None, "")
        if tried:
            estimate(work)
        told.append([e for one in explanations(work) for e in one])
    for a, b in zip(*told, strict=True):
        assert a.scores == pytest.approx(b.scores, abs=1e-5)
        assert a.about.cost.forwards == b.about.cost.forwards


def test_the_line(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    announce(job(Slow(clock, 0.0, 0.001, 0.0), texts(1), "lime"))
    assert capsys.readouterr() == ("", "")
    long = " ".join(f"word{i}" for i in range(30))
    announce(job(Slow(clock, 0.0, 0.1, 0.0), [long], "lime"))
    out, err = capsys.readouterr()
    assert out == ""
    match = re.fullmatch(r"assay: about (.*) min or more for 1 text by lime \((\d+) rows\); Ctrl-C stops it\n", err)
    assert match is not None
    assert 60 * float(match[1]) == pytest.approx(0.1 * float(match[2]), rel=0.05)
    assert 900 <= int(match[2]) <= 1000  # of 1,000 samples some are equal


def test_nothing_is_said_or_tried_where_notes_are_not_wanted(
    clock: Clock, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow(clock, 0.0, 1.0, 0.0)
    work = job(slow, texts(50), "lime")
    announce(Job(work.texts, work.engine, work.methods, [], work.aims, False, ""))
    assert capsys.readouterr() == ("", "")
    assert not slow.seen - Counter(["a"])  # it is asked once how many labels it has, or not at all


def test_texts_that_cannot_be_explained_are_left_to_the_work(clock: Clock) -> None:
    work = job(Slow(clock, 0.0, 0.01, 0.0), ["", "a film", ""], "leave_one_out")
    assert estimate(work).seconds < 1
    with pytest.raises(assay.AssayError, match="text 1"):
        list(explanations(work))


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (10.4, "10 s"),
        (44, "44 s"),
        (89, "89 s"),
        (90, "1.5 min"),
        (125, "2.1 min"),
        (660, "11 min"),
        (5400, "1.5 h"),
        (1.26e5, "35 h"),
        (1.3e6, "15 d"),
        (1e9, "12,000 d"),
    ],
)
def test_durations(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_sentences() -> None:
    assert sentence(Estimate(125, 5_123_456), 5000, "lime, deletion") == (
        "about 2.1 min for 5,000 texts by lime, deletion (5,100,000 rows); Ctrl-C stops it"
    )
    assert "or more for 1 text by lime" in sentence(Estimate(30, 100, whole=False), 1, "lime")
    assert Estimate(1, 2) + Estimate(3, 4, whole=False) == Estimate(4, 6, whole=False)


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ([1, 2, 4], [3, 5, 9], (1, 2)),
        ([1, 2, 4], [2, 4, 8], (0, 2)),
        ([1, 2, 4], [5, 5, 5], (5, 0)),
        ([1, 2, 4], [9, 5, 3], (17 / 3, 0)),
        ([1, 2, 4], [0, 1, 7], (0, 30 / 21)),
        ([3, 3], [6, 12], (0, 3)),
        ([2], [5], (0, 2.5)),
    ],
)
def test_lines(x: list[float], y: list[float], expected: tuple[float, float]) -> None:
    assert line(np.array(x, float), np.array(y, float)) == pytest.approx(expected)


def test_lines_are_the_best_of_all_that_do_not_fall() -> None:
    rng = np.random.default_rng(0)
    grid = np.linspace(0, 4, 81)
    for _ in range(20):
        x, y = rng.integers(1, 9, 4).astype(float), rng.random(4) * 4
        start, each = line(x, y)
        best = min(((y - a - b * x) ** 2).sum() for a in grid for b in grid)
        if np.ptp(x):
            assert ((y - start - each * x) ** 2).sum() <= best + 1e-9


def test_the_first_part_warms_up() -> None:
    tally = Tally()
    for rows, seconds in ((1, 5.0), (1, 0.1), (2, 0.2), (4, 0.4)):
        tally.add(rows, rows, rows, seconds)
    assert tally.per_row(1000) == pytest.approx(0.1)


def test_points_of_a_line_count_each() -> None:
    watch, model = Stopwatch(1000), assay.load(tiny.bert())
    watch.begin(patience=60)
    question = InputGradient(Text.of("a dull film"), aim=Aim(1), baseline="zero", at=(0.1, 0.5, 1.0))
    assert len(question.rows(model)) == 1
    values, tokens = watch.answers(model, InputGradient, question.rows(model))
    assert (len(values), watch.cost(2)[1]) == (1, 6)
    assert int(tokens.sum()) % 3 == 0


def test_short_and_long_texts_in_turn() -> None:
    sizes = np.arange(16.0)[::-1]
    mixed = list(estimates._mixed(sizes))
    assert [sizes[i] for i in mixed[:7]] == [8, 4, 12, 2, 10, 6, 14]
    assert sorted(mixed) == list(range(16))
    assert list(estimates._mixed(np.ones(1))) == [0]


MODEL = """
import time
import numpy as np
from assay import BlackBox

def chances(texts):
    time.sleep(0.05 * len(texts))
    return np.tile([0.4, 0.6], (len(texts), 1))

slow = BlackBox(chances, labels=["a", "b"], name="slow")
quick = BlackBox(lambda texts: np.tile([0.4, 0.6], (len(texts), 1)), labels=["a", "b"], name="quick")
"""
LONG = " ".join(f"word{i}" for i in range(20))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "timed_models.py").write_text(MODEL)
    return tmp_path


@pytest.fixture
def process(place: Path) -> Iterator[subprocess.Popen[str]]:
    command = [
        sys.executable,
        "-m",
        "assay.cli",
        "explain",
        LONG,
        "-m",
        "lime",
        "--model",
        "timed_models:slow",
        "--json",
    ]
    source = str(Path(verbs.__file__).parents[1])
    # A suite that was started in the background of a shell ignores Ctrl-C, and its children would too.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    running = subprocess.Popen(
        command,
        cwd=place,
        env={**os.environ, "PYTHONPATH": source},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    signal.signal(signal.SIGINT, before)
    yield running
    running.kill()
    running.wait()


def test_the_line_comes_early_and_ctrl_c_stops_the_work(process: subprocess.Popen[str]) -> None:
    assert process.stderr is not None
    assert process.stdout is not None
    first = process.stderr.readline()
    assert first.startswith("assay: about ")
    assert "for 1 text by lime" in first
    assert 25 < float(first.split()[2]) < 100  # 1,000 rows of 0.05 s; less than 90 s is told in seconds
    process.send_signal(signal.SIGINT)
    assert process.stderr.read() == "assay: stopped by Ctrl-C.\n"
    assert process.stdout.read() == ""
    assert process.wait(20) == 130


@pytest.mark.parametrize("more", [[], ["--quiet"], ["--json"]])
def test_short_work_says_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    monkeypatch.chdir(place)
    assert cli.main(["explain", LONG, "-m", "lime", "--model", "timed_models:quick", *more]) == 0
    assert capsys.readouterr().err == ""

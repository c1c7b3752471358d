"""What a command will cost: one line before work that takes longer than ten seconds.

A few texts are tried first, in growing groups, short and long ones in turn. Their rows go through the model in growing
parts, and each part is timed; its seconds are a + b rows, by least squares with a, b >= 0, the first part left out
because it warms up. A whole batch of B rows then costs a + b B, and

    seconds = characters / characters tried x sum over the rows asked of (b + a / B)
              + texts x what a tried text cost outside the model

After two seconds a trial is broken off where it knows how many rows are still to come; rounds that a method would have
asked later are not seen then, and the line says "or more". No work is lost: the answers are kept, and the engine gets
them when it asks for the same rows, at the cost they had.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np

from assay import verbs
from assay.cli.jobs import Job
from assay.engine.engine import Engine
from assay.errors import AssayError
from assay.models import TextModel
from assay.models.batching import Batcher
from assay.questions.base import Question
from assay.statistics.arrays import Floats, Ints
from assay.verdicts import judge as judging

_WORTH_SAYING = 10.0
_PATIENCE = 2.0
_LONG_PART = 0.25  # seconds of a part that is long enough to be timed
_FEWEST_PARTS = 3
_MOST_TEXTS = 1024
Kind = tuple[type[Question], TextModel]
Answers = dict[Kind, dict[Hashable, tuple[Any, int]]]


class Enough(Exception):
    """The trial has taken its time."""


@dataclass
class Tally:
    """The timed parts of one kind of question: sequences that the model read, and seconds, of each."""

    rows: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    tokens: int = 0
    left: int = 0  # sequences that were asked but not run
    size: int = 1  # of the next part, in rows of the question

    def add(self, asked: int, rows: int, tokens: int, seconds: float) -> None:
        grows = seconds < _LONG_PART or seconds < 1.5 * self.seconds[-1] if self.rows else False
        self.rows.append(rows)
        self.seconds.append(seconds)
        self.tokens += tokens
        self.size = max(self.size, 2 * asked) if grows else self.size

    @property
    def asked(self) -> int:
        return sum(self.rows) + self.left

    def per_row(self, most: float) -> float:
        """Seconds of a row in batches of `most` rows."""
        warm = slice(1 if len(self.rows) > 1 else 0, None)
        start, each = line(np.array(self.rows[warm], float), np.array(self.seconds[warm]))
        return each + start / max(1.0, most)


def line(x: Floats, y: Floats) -> tuple[float, float]:
    """Intercept and slope, neither below zero, that come nearest; what cannot be told apart goes to the slope."""
    through_zero = float(x @ y / (x @ x))
    if np.ptp(x) == 0:
        return 0.0, through_zero
    slope, start = np.polyfit(x, y, 1)
    if start < 0:
        return 0.0, through_zero
    return (float(start), float(slope)) if slope > 0 else (float(y.mean()), 0.0)


class Stopwatch(Batcher):
    """Asks in growing parts, times them, and keeps the answers."""

    def __init__(self, budget: int) -> None:
        super().__init__(budget)
        self.kept: Answers = {}
        self.tallies: dict[Kind, Tally] = {}
        self.until = 0.0

    def begin(self, patience: float) -> None:
        """Time something new."""
        self.tallies, self.until = {}, perf_counter() + patience

    def answers(self, model: TextModel, kind: type[Question], rows: Sequence[Hashable]) -> tuple[list[Any], Ints]:
        known, found = self.kept.setdefault((kind, model), {}), dict[Hashable, tuple[Any, int]]()
        fresh = [row for row in dict.fromkeys(rows) if row not in known]
        tally = self.tallies.setdefault((kind, model), Tally())
        order = np.random.default_rng(0).permutation(len(fresh))  # short and long rows in each part
        while len(order):
            if len(tally.rows) >= _FEWEST_PARTS and perf_counter() > self.until:
                tally.left = kind.sequences([fresh[i] for i in order])
                raise Enough
            part, order = [fresh[i] for i in order[: tally.size]], order[tally.size :]
            began = perf_counter()
            values, tokens = super().answers(model, kind, part)
            tally.add(len(part), kind.sequences(part), int(tokens.sum()), perf_counter() - began)
            found |= zip(part, zip(values, tokens.tolist(), strict=True), strict=True)
            known |= {row: found[row] for row in part if not isinstance(found[row][0], Exception)}
        both = [known[row] if row in known else found[row] for row in rows]
        return [value for value, _ in both], np.array([cost for _, cost in both], np.int64)

    @property
    def busy(self) -> float:
        """Seconds in the model."""
        return sum(sum(tally.seconds) for tally in self.tallies.values())

    def cost(self, times: float) -> tuple[float, float]:
        """Seconds and rows, if so many times as much were asked."""
        seconds = rows = 0.0
        for (_, model), tally in self.tallies.items():
            many = tally.asked * times
            full = self.budget / max(1.0, tally.tokens / max(1, sum(tally.rows)))
            rows += many
            seconds += many * tally.per_row(min(many, full, model.most_rows or many)) if tally.rows else 0.0
        return seconds, rows


class Kept(Batcher):
    """Gives the answers that are known, and asks the model the rest."""

    def __init__(self, budget: int, kept: Answers) -> None:
        super().__init__(budget)
        self.kept = kept

    def answers(self, model: TextModel, kind: type[Question], rows: Sequence[Hashable]) -> tuple[list[Any], Ints]:
        known = self.kept.get((kind, model), {})
        fresh = [row for row in rows if row not in known]
        values, tokens = super().answers(model, kind, fresh)
        new = zip(values, tokens.tolist(), strict=True)
        both = [known[row] if row in known else next(new) for row in rows]
        return [value for value, _ in both], np.array([cost for _, cost in both], np.int64)


@dataclass(frozen=True)
class Estimate:
    """Seconds and rows; `whole` unless something was not seen."""

    seconds: float = 0.0
    rows: float = 0.0
    whole: bool = True

    def __add__(self, other: Estimate) -> Estimate:
        return Estimate(self.seconds + other.seconds, self.rows + other.rows, self.whole and other.whole)


def announce(job: Job, draws: int | None = None) -> None:
    """Say what the job will cost if that is worth a line; nothing where notes are not wanted."""
    if job.progress is False:
        return
    found = estimate(job, draws)
    if found.seconds > _WORTH_SAYING:
        print("assay:", sentence(found, len(job.texts), job.names), file=sys.stderr, flush=True)


def sentence(found: Estimate, texts: int, names: str) -> str:
    what = "1 text" if texts == 1 else f"{texts:,} texts"
    more = "" if found.whole else " or more"
    return f"about {duration(found.seconds)}{more} for {what} by {names} ({_round(found.rows):,} rows); Ctrl-C stops it"


def duration(seconds: float) -> str:
    """In the unit that fits, to two digits."""
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 1.5 * size:
            return f"{_round(seconds / size):,} {unit}" if seconds >= 10 * size else f"{seconds / size:.2g} {unit}"
    return f"{_round(seconds)} s"


def _round(number: float) -> int:
    return int(float(f"{number:.2g}"))


def estimate(job: Job, draws: int | None = None) -> Estimate:
    """What all methods, and all checks of them, will cost; the job's engine keeps what was found on the way."""
    watch = Stopwatch(job.engine.batcher.budget)
    probe = Engine(job.engine.model, resolve=job.engine.resolve)
    probe.batcher = watch
    trials = len(job.methods) * (1 + len(job.checks))
    found = Estimate()
    for method in job.methods:
        told = _trial(job, watch, _PATIENCE / trials, partial(_explain, probe, method, job))
        found += told
        for check in job.checks if told.whole else ():
            run = _checking(probe, method, check, job, draws)
            found += _trial(job, watch, _PATIENCE / trials, run)
    job.engine.batcher = Kept(watch.budget, watch.kept)
    return found


def _explain(engine: Engine, method: Any, job: Job, texts: list[Any]) -> None:
    talks = (verbs.explained(engine.model, method, text, job.aims) for text in texts)
    for _ in engine.run(talks):
        pass


def _checking(engine: Engine, method: Any, check: Any, job: Job, draws: int | None) -> Callable[[list[Any]], None]:
    """The check of some texts, with as many random maps a text as all texts together would get."""
    aims = {name: getattr(job.aims, name) for name in ("target", "against", "scalar", "focus", "split", "seed")}
    many = draws or judging.default_draws(len(job.texts))

    def run(texts: list[Any]) -> None:
        with suppress(AssayError):  # the work itself will say it
            judging.check(engine.model, texts, [method], [check], draws=many, engine=engine, progress=False, **aims)

    return run


def _trial(job: Job, watch: Stopwatch, patience: float, run: Callable[[list[Any]], None]) -> Estimate:
    """Groups of 1, 2, 4 ... texts, until it is clear enough how long all of them take."""
    watch.begin(patience)
    sizes, found = _sizes(job.texts), Estimate()
    waiting, tried = _mixed(sizes), list[int]()
    outside: list[float] = []
    while group := list(islice(waiting, len(tried) + 1)):
        began, busy = perf_counter(), watch.busy
        share = sizes.sum() / sizes[[*tried, *group]].sum()
        try:
            run([job.texts[i] for i in group])
        except Enough:
            return found if len(tried) > 1 else Estimate(*watch.cost(share), whole=False)
        tried += group
        outside.append((perf_counter() - began - (watch.busy - busy)) / len(group))
        # The first group also imports and loads, so it says nothing about the others.
        found = Estimate(*watch.cost(share)) + Estimate(len(sizes) * min(outside[1:], default=0.0))
        if perf_counter() > watch.until or (len(outside) > 2 and not 3 < found.seconds < 30):
            break
    return found


def _sizes(texts: Sequence[Any]) -> Floats:
    """Characters; no text counts more than eight usual ones, since most models have a window."""
    sizes = np.array([1.0 + len(str(text)) for text in texts])
    return np.asarray(np.minimum(sizes, 8 * np.median(sizes)))


def _mixed(sizes: Floats) -> Iterator[int]:
    """The text of middle length, those of a quarter and three quarters, and so on between them."""
    order = np.argsort(sizes, kind="stable").tolist()
    places = (int(_halves(i) * len(order)) for i in range(1, 2 * min(len(order), _MOST_TEXTS) + 1))
    return (order[place] for place in dict.fromkeys(places))


def _halves(i: int) -> float:
    """1/2, 1/4, 3/4, 1/8, 5/8, ...: the binary digits of i behind the point, in reverse."""
    return float(int(f"{i:b}"[::-1], 2) / 2 ** i.bit_length())

"""How far the work is and how long it will still take: a bar in a terminal, a widget in a notebook, else a log line."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Timer
from time import monotonic
from typing import TypeVar

T = TypeVar("T")
log = logging.getLogger("assay")
lines = logging.getLogger("assay.progress")  # the command line shows these, and only these
_EVERY = 30.0  # seconds between two log lines
_SOON = 4.0  # seconds between two lines where the work takes a minute
_ENOUGH = 0.08  # the share of the work after which the rest can be told from it
_SHORT = 1.0  # seconds; a bar for less would only flicker


def track(items: Iterable[T], total: int | None, title: str, show: bool | None = None) -> Iterator[T]:
    """The items, shown as they come; `show=False` is silent."""
    if show is False:
        return iter(items)
    if in_notebook():
        return _notebook(items, total, title) if total != 1 else iter(items)
    return _terminal(items, total, title) if sys.stderr.isatty() else _logged(items, total, title)


def lasting(seconds: float) -> str:
    """A time in the unit that fits."""
    minutes, hours = seconds / 60, seconds / 3600
    if seconds < 60:
        return f"{seconds:.0f} s"
    if minutes < 60:
        return f"{minutes:.0f} min"
    return f"{hours:.1f} h" if hours < 48 else f"{hours / 24:.1f} days"


@contextmanager
def ticking(total: int | None, title: str, show: bool | None = None) -> Iterator[Callable[[], None]]:
    """Progress of what is not an iteration: the function that is given is called whenever one more is done."""
    shown = track(range(total or 0), total, title, show)
    next(shown, None)  # begins the bar; every further one says that one more is done

    def tick() -> None:
        next(shown, None)

    try:
        yield tick
    finally:
        if isinstance(shown, Generator):
            shown.close()


def in_notebook() -> bool:
    return "ipykernel" in sys.modules


def _notebook(items: Iterable[T], total: int | None, title: str) -> Iterator[T]:
    from tqdm.auto import tqdm

    return iter(tqdm(items, total=total, desc=title, leave=False))


def _terminal(items: Iterable[T], total: int | None, title: str) -> Iterator[T]:
    """A bar with the time that is left; one item has no rate to tell it from, so it shows the time that has passed."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    time = TimeElapsedColumn() if total == 1 else TimeRemainingColumn()
    bar = Progress(*columns, time, console=Console(stderr=True), transient=True)
    start = Timer(_SHORT, bar.start)
    start.start()
    try:
        yield from bar.track(items, total, description=title)
    finally:
        start.cancel()
        start.join()
        bar.stop()


def _logged(items: Iterable[T], total: int | None, title: str) -> Iterator[T]:
    began = logged = monotonic()
    for i, item in enumerate(items, start=1):
        yield item
        if (now := monotonic()) - logged > _EVERY:
            logged, rate = now, i / (now - began)
            pace = f", {rate:.1f} a second" if rate >= 0.1 else ""
            known = total and i > 1 and i / total > _ENOUGH  # what is done once comes with the first item
            left = f", {lasting((total - i) / rate)} left" if known and total else ""
            lines.info("%s: %d of %s%s%s", title, i, total or "?", pace, left)


@dataclass
class Forecast:
    """Progress of work of which it is foreseen how much there is, in whatever unit."""

    total: float
    show: Callable[[float, str], None]  # the share that is done, and how long the rest will take
    began: float = field(default_factory=monotonic)

    def at(self, done: float) -> None:
        """So much is done; where too little was foreseen the whole grows with it, so that it is never over early."""
        self.total = max(self.total, 1.02 * done)
        share = done / self.total
        left = f", about {lasting((monotonic() - self.began) * (1 / share - 1))} left" if share > _ENOUGH else ""
        self.show(share, left)


@contextmanager
def forecast(total: float, title: str, show: bool | None = None) -> Iterator[Forecast]:
    """A bar in a terminal; elsewhere a line every few seconds, so that nobody waits without knowing how long."""
    if show is False or not sys.stderr.isatty():
        yield Forecast(total, _forecast_lines(title) if show is not False else lambda share, left: None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[left]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=1.0, left="")
        yield Forecast(total, lambda share, left: bar.update(task, completed=share, left=left[2:]))


def _forecast_lines(title: str) -> Callable[[float, str], None]:
    """A line a few seconds after the one before it; in a notebook they are printed, since nothing shows its log."""
    logged = [monotonic()]

    def show(share: float, left: str) -> None:
        if (now := monotonic()) - logged[0] > _SOON:
            logged[0] = now
            line = f"{title}: {100 * share:.0f} % done{left}"
            print(line, file=sys.stderr, flush=True) if in_notebook() else lines.info(line)

    return show

"""Seeing it work: a bar in a terminal, a widget in a notebook, a log line otherwise."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator
from time import monotonic
from typing import TypeVar

T = TypeVar("T")
log = logging.getLogger("assay")
_EVERY = 30.0


def track(items: Iterable[T], total: int | None, title: str, show: bool | None = None) -> Iterator[T]:
    """The items, shown as they come; `show=False` is silent."""
    if show is False or (show is None and total == 1):
        return iter(items)
    if _in_notebook():
        return _notebook(items, total, title)
    if sys.stderr.isatty():
        return _terminal(items, total, title)
    return _logged(items, total, title)


def _in_notebook() -> bool:
    return "ipykernel" in sys.modules


def _notebook(items: Iterable[T], total: int | None, title: str) -> Iterator[T]:
    from tqdm.auto import tqdm

    return iter(tqdm(items, total=total, desc=title, leave=False))


def _terminal(items: Iterable[T], total: int | None, title: str) -> Iterator[T]:
    from rich.console import Console
    from rich.progress import track as bar

    return iter(bar(items, title, total=total, console=Console(stderr=True), transient=True))


def _logged(items: Iterable[T], total: int | None, title: str) -> Iterator[T]:
    began = said = monotonic()
    for i, item in enumerate(items, start=1):
        yield item
        if monotonic() - said > _EVERY:
            said = monotonic()
            log.info("%s: %d of %s, %.1f a second", title, i, total or "?", i / (said - began))

"""One thread at a time, in the order in which they came.

A model is asked batch by batch, and between two batches whoever waited longest has its turn: a short question is
answered beside a long run. Python's own locks promise no order: the thread that lets one go mostly takes it again.
"""

from __future__ import annotations

from collections import deque
from threading import Lock, get_ident
from typing import Any


class Turn:
    """A lock that hands itself on; a thread that has it may take it again. A copy, or one sent away, is a free one."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._waiting: deque[tuple[Any, int]] = deque()
        self._holder: int | None = None
        self._depth = 0

    def __enter__(self) -> None:
        me = get_ident()
        if self._holder == me:  # only this thread itself can have written that
            self._depth += 1
            return
        with self._guard:
            if self._holder is None:
                self._holder, self._depth = me, 1
                return
            called = Lock()
            called.acquire()
            self._waiting.append((called, me))
        try:
            called.acquire()
        except BaseException:  # Ctrl-C while waiting
            self._give_up(called, me)
            raise

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth:
            with self._guard:
                self._hand_on()

    def _hand_on(self) -> None:
        """To the one that waited longest; `_guard` is held."""
        if not self._waiting:
            self._holder = None
            return
        called, self._holder = self._waiting.popleft()
        self._depth = 1
        called.release()

    def _give_up(self, called: Any, me: int) -> None:
        with self._guard:
            if (called, me) in self._waiting:
                self._waiting.remove((called, me))
            else:
                self._hand_on()

    def __reduce__(self) -> Any:
        return Turn, ()

"""The directory of a run while the run holds it: locked before anything is made in it.

Where nothing comes of the run, the directory is left as it was.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from assay.errors import BadInput
from assay.runs.directory import Directory
from assay.storage.lock import FILE, Lock, Owner

_TRIES = 5


@contextmanager
def held(path: Path, beat: Callable[[], None]) -> Iterator[tuple[Directory, Lock]]:
    """The directory and its lock; `beat` is called at every beat of the lock."""
    if path.exists() and not path.is_dir():
        raise BadInput(f"{path} is a file, and --out takes a directory; use another.")
    directory, new = Directory(path), not path.exists()
    if not os.path.lexists(path / FILE):
        directory.require_ours()
    try:
        with ExitStack() as stack:
            before = Owner.at(path / FILE) is not None
            lock = _locked(stack, path, beat)
            directory.require_ours(locked_before=before)
            stack.enter_context(_left_as_it_was(directory))
            yield directory, lock
    except BaseException:
        if new:
            with suppress(OSError):  # what is not empty stays
                path.rmdir()
        raise


def _locked(stack: ExitStack, path: Path, beat: Callable[[], None]) -> Lock:
    """The lock in a directory that is made where it is missing; another run may just be removing the one it made."""
    for left in reversed(range(_TRIES)):
        path.mkdir(parents=True, exist_ok=True)
        try:
            return stack.enter_context(Lock(path, beat))
        except FileNotFoundError:
            if not left:
                raise
    raise AssertionError  # the last try returned or raised


@contextmanager
def _left_as_it_was(directory: Directory) -> Iterator[None]:
    before = {p.name for p in directory.path.iterdir()}
    try:
        yield
    except BaseException:
        directory.leave(before)
        raise

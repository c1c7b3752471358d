"""The bundled writer stays open between calls: to open it takes longer than most of what it is asked.

Only the one that was used last is held (half a gigabyte), until another is opened, `forget` is called or the process
ends. A model of any other name is opened anew for each call, as its files may have changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Lock

from assay.models.base import TextModel

_WRITER = "writer"  # and writer:ADAPTER
_PLACES = ("ASSAY_WRITER", "ASSAY_CACHE")  # what decides, beside the name, which model it is

_lock = Lock()
_held: dict[tuple[str | None, ...], TextModel] = {}


def is_held(name: str) -> bool:
    """Whether models of this name stay open."""
    return name.partition(":")[0] == _WRITER


def opened(name: str, device: str, open_it: Callable[[], TextModel]) -> TextModel:
    """The writer of this name on this device; opened where it is not held."""
    key = (name, device, *map(os.environ.get, _PLACES))
    with _lock:
        if key not in _held:
            _held.clear()  # before another one is opened, so that there are never two
            _held[key] = open_it()
        return _held[key]


def forget() -> None:
    """Let go of the writer, and of its memory."""
    with _lock:
        _held.clear()

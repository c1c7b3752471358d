"""Vectors of many words and layers in a temporary file, so that memory stays bounded however many there are.

    states = StateFile(words=200_000)
    states.add(block)                                      [layers, some words, size], one block after the other
    states.layer(3)[rows]                                  read from the file, or from what the system keeps of it

The file has room for all words from the start and goes with the object.
"""

from __future__ import annotations

from tempfile import TemporaryFile
from typing import Any

import numpy as np

Block = np.ndarray[Any, np.dtype[np.float32]]


class StateFile:
    """Float32 vectors [layers, words, size]; words that the model did not read are zeros, and `seen` says so."""

    def __init__(self, words: int) -> None:
        self.words, self.filled = words, 0
        self.seen = np.zeros(words, dtype=bool)
        self._file = TemporaryFile()  # noqa: SIM115 - it stays open as long as this object
        self._states: Block | None = None

    def add(self, block: Block) -> StateFile:
        """The vectors of the next words."""
        layers, count, size = block.shape
        if self._states is None:
            self._states = np.memmap(self._file, np.float32, "w+", shape=(layers, self.words, size))
        self._states[:, self.filled : self.filled + count] = block
        self.seen[self.filled : self.filled + count] = block.any(axis=(0, 2))
        self.filled += count
        return self

    @property
    def layers(self) -> int:
        return 0 if self._states is None else len(self._states)

    def layer(self, layer: int) -> Block:
        """The vectors of one layer [words, size], as a view into the file."""
        assert self._states is not None
        found: Block = self._states[layer]
        return found

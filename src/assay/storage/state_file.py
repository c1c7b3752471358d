"""Vectors of many words and layers in a temporary file, so that memory stays bounded however many there are.

    states = StateFile(words=200_000)
    states.add(block)                                      [layers, some words, size], one block after the other
    states.vectors(rows)                                   [rows, layers, size], read from the file

All layers of a word lie side by side, so that probes of all layers take one reading. Numbers have 16 bits: each vector
is divided by a power of two, so that its largest number lies between 1/2 and 1 and the file is out by no more than
1/2048 of that number, however large it is. The file goes with the object; it is read, not mapped, so that what has been
read takes no memory of the process.
"""

from __future__ import annotations

import os
from tempfile import TemporaryFile
from typing import Any

import numpy as np

Block = np.ndarray[Any, np.dtype[np.float32]]
Rows = np.ndarray[Any, np.dtype[np.int64]]
Halves = np.ndarray[Any, np.dtype[np.float16]]


class StateFile:
    """Vectors by word and layer; words that the model did not read are zeros, and `seen` says so."""

    def __init__(self, words: int) -> None:
        self.words, self.filled, self.layers, self.size = words, 0, 0, 0
        self.seen = np.zeros(words, dtype=bool)
        self._file = TemporaryFile(buffering=0)  # noqa: SIM115 - it stays open as long as this object
        self._scales: Block = np.zeros((0, 0), dtype=np.float32)

    @classmethod
    def of(cls, block: Block) -> StateFile:
        """A file of one block [layers, words, size]."""
        return cls(block.shape[1]).add(block)

    def add(self, block: Block) -> StateFile:
        """The vectors of the next words."""
        if not self.layers:
            self.layers, _, self.size = block.shape
            self._scales = np.zeros((self.words, self.layers), dtype=np.float32)
        by_word = np.moveaxis(block, 0, 1)
        _, exponents = np.frexp(np.abs(by_word).max(axis=2, initial=0.0))
        scales = np.exp2(exponents.astype(np.float32))
        place = slice(self.filled, self.filled + block.shape[1])
        self._scales[place] = scales
        self.seen[place] = by_word.any(axis=(1, 2))
        left = memoryview((by_word / scales[:, :, None]).astype(np.float16).tobytes())
        while left:  # one call may write less than it is given
            left = left[self._file.write(left) or 0 :]
        self.filled = place.stop
        return self

    def halves(self, rows: Rows) -> tuple[Halves, Block]:
        """The vectors of these words in 16 bits [rows, layers, size], and their scales [rows, layers]."""
        found = np.empty((len(rows), self.layers, self.size), dtype=np.float16)
        raw, width = found.data.cast("B"), self.layers * self.size * 2
        starts = np.flatnonzero(np.diff(rows, prepend=-2) != 1).tolist()  # of runs of words that follow each other
        for start, end in zip(starts, [*starts[1:], len(rows)], strict=True):
            self._read(raw[start * width : end * width], int(rows[start]) * width)
        return found, self._scales[rows]

    def _read(self, into: memoryview, offset: int) -> None:
        while into:
            count = os.preadv(self._file.fileno(), [into], offset)
            if not count:
                raise IndexError(f"there are {self.filled} words in the file; byte {offset} is beyond them")
            into, offset = into[count:], offset + count

    def vectors(self, rows: Rows) -> Block:
        """The vectors of these words [rows, layers, size]."""
        found, scales = self.halves(rows)
        return found.astype(np.float32) * scales[:, :, None]

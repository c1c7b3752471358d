"""Choosing tokens and cutting texts: the likeliest token, a draw by the inverse of the distribution, stop strings.

    t = min { t : sum over i <= t of p_i >= u * sum p },    p = softmax(z / T), zero outside of the top-p set

In float64 on the CPU, in the order of the vocabulary: what rounding does to p moves the bounds by as much and no more,
where an order by p would swap neighbours. The top-p set is the fewest likeliest tokens that have this probability.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import softmax

from assay.questions.generation import Ended, Generated, Sampling
from assay.statistics.arrays import Floats


def draw(logits: Floats, sampling: Sampling, u: float) -> int:
    """The token that the number u in [0, 1) chooses."""
    chances = softmax(logits.astype(np.float64) / sampling.temperature)
    if sampling.top_p < 1:
        # All tokens below this together have less than 1 - top_p, so none of them is in the set: few are left to sort.
        likely = np.flatnonzero(chances >= (1 - sampling.top_p) / len(chances))
        order = likely[np.argsort(-chances[likely], kind="stable")]
        before = np.cumsum(chances[order]) - chances[order]
        kept = order[before < sampling.top_p]
        only, chances = chances[kept], np.zeros_like(chances)
        chances[kept] = only
    bounds = np.cumsum(chances)
    return int(np.searchsorted(bounds, u * bounds[-1], side="right").clip(max=len(bounds) - 1))


class Writing:
    """A text under way: its tokens, log p of each, and why it ended."""

    def __init__(self, decode: Callable[[Sequence[int]], str], stop: Sequence[str], ends: set[int], most: int) -> None:
        self._decode, self._stop, self._ends, self._most = decode, stop, ends, most
        self.ids: list[int] = []
        self.log_probs: list[float] = []
        self.written = 0
        self.ended: Ended | None = None
        self._text: str | None = None

    def add(self, token: int, log_prob: float) -> None:
        """Put a token behind the text, and see whether it has ended."""
        self.written += 1
        if token in self._ends:
            self.ended = "end"
            return
        self.ids.append(token)
        self.log_probs.append(log_prob)
        if self._stop:
            text = self._decode(self.ids)
            found = [at for at in (text.find(stop) for stop in self._stop) if at >= 0]
            if found:
                self._text, self.ended = text[: min(found)], "stop"
                return
        if len(self.ids) >= self._most:
            self.ended = "length"

    def result(self) -> Generated:
        """The text, without the stop string and without tokens that are a part of it alone."""
        text = self._decode(self.ids) if self._text is None else self._text
        tokens = pieces(self._decode, self.ids, text)
        return Generated(text, tokens, np.array(self.log_probs[: len(tokens)]), self.ended or "length", self.written)


def pieces(decode: Callable[[Sequence[int]], str], ids: Sequence[int], text: str) -> tuple[str, ...]:
    """The strings of the tokens, which make up the text; a token of a part of a character has nothing of its own."""
    singles = tuple(decode([token]) for token in ids)
    if "".join(singles) == text and "\ufffd" not in text:
        return singles
    found: list[str] = []
    done = 0
    for i in range(len(ids)):
        if done >= len(text) and text:
            break
        string = decode(ids[: i + 1])
        # A character whose bytes have not all come is decoded to a mark that stands for it; it counts when it is whole.
        whole = len(string.rstrip("\ufffd")) if i < len(ids) - 1 else len(text)
        end = min(max(done, whole), len(text))
        found.append(text[done:end])
        done = end
    if found and done < len(text):
        found[-1] += text[done:]
    return tuple(found)

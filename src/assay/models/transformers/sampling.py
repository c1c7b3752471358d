"""Choosing tokens and cutting texts: the likeliest token, a draw by the inverse of the distribution, stop strings.

    t = min { t : sum over i <= t of p_i >= u * sum p },    p = softmax(z / T), zero outside of the top-p set

In float64 on the CPU, in the order of the vocabulary: what rounding does to p moves the bounds by as much and no more,
where an order by p would swap neighbours. The top-p set is the fewest likeliest tokens that have this probability.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from scipy.special import softmax
from torch import Tensor

from assay.questions.generation import Ended, Generated, Sampling
from assay.statistics.arrays import Floats, Ints

_LIKELIEST = 256  # tokens of which nearly always one is chosen


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


def choose(logits: Tensor, samplings: Sequence[Sampling], numbers: Sequence[float]) -> list[tuple[int, float]]:
    """For each row of logits [rows, vocabulary] a token, by its number in [0, 1), and log p of that token.

    What `draw` does, without its sorting of the vocabulary: the likeliest tokens are found where the logits are, and
    they are enough wherever they have the probability `top_p`. A row without chance takes the likeliest token.
    """
    if not any(one.by_chance for one in samplings):
        tokens = logits.argmax(-1).tolist()  # of several the first
    elif logits.shape[1] <= _LIKELIEST:
        tokens = list(map(_alone, _doubles(logits), samplings, numbers))
    else:
        top = logits.topk(_LIKELIEST, dim=-1)
        warmth = torch.tensor([[one.temperature or 1.0] for one in samplings], device=logits.device, dtype=torch.double)
        shares = _doubles((top.values.double() / warmth - _log_sum(logits, warmth)).exp())
        found = map(_among, shares, top.indices.cpu().numpy(), samplings, numbers)
        tokens = [
            _alone(_doubles(logits[i]), samplings[i], numbers[i]) if token is None else token
            for i, token in enumerate(found)
        ]
    chosen = logits.gather(1, torch.tensor(tokens, device=logits.device)[:, None]).double()
    log_probs = chosen - _log_sum(logits, torch.ones_like(chosen))
    return list(zip(tokens, log_probs[:, 0].tolist(), strict=True))


def _log_sum(logits: Tensor, warmth: Tensor) -> Tensor:
    """Log of the sum of exp(z / T) of each row [rows, 1]: in float64, of exponentials of float32 at least."""
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    largest = wide.amax(-1, keepdim=True)
    total = ((wide - largest) / warmth.to(wide.dtype)).exp().sum(-1, keepdim=True, dtype=torch.double)
    return total.log() + largest.double() / warmth.double()


def _alone(logits: Floats, sampling: Sampling, u: float) -> int:
    return draw(logits, sampling, u) if sampling.by_chance else int(logits.argmax())


def _among(shares: Floats, places: Ints, sampling: Sampling, u: float) -> int | None:
    """The token, of the likeliest ones with their probabilities; None where these do not settle it."""
    if not np.isfinite(shares).all():
        return None
    if not sampling.by_chance:
        return None if shares[0] == shares[-1] else int(places[shares == shares[0]].min())
    whole = shares > shares[-1]  # of tokens as likely as the last one, others may have been left out
    if shares[whole].sum() < sampling.top_p:
        return None
    order = np.lexsort((places[whole], -shares[whole]))
    chances = shares[whole][order]
    kept = order[np.cumsum(chances) - chances < sampling.top_p]
    kept = kept[np.argsort(places[whole][kept])]
    bounds = np.cumsum(shares[whole][kept])
    return int(places[whole][kept][np.searchsorted(bounds, u * bounds[-1], side="right").clip(max=len(bounds) - 1)])


def _doubles(tensor: Tensor) -> Floats:
    found: Floats = tensor.double().cpu().numpy()
    return found


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

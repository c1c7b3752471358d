"""Beam search: the best sequences by log p / length, as transformers has it with its usual settings.

At each step the 2k best continuations of all k beams are looked at (more, where there are several tokens that end a
text): an ended one among the first k is a candidate, with log p divided by its number of tokens; the k best that have
not ended go on. The search is over when the best of these could not become better than the worst of k candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor


@dataclass(frozen=True)
class Beam:
    """A sequence, its tokens' log p, and log p of all, the token that ends it included."""

    ids: tuple[int, ...] = ()
    log_probs: tuple[float, ...] = ()
    total: float = 0.0
    ended: bool = False

    def then(self, token: int, log_prob: float, ends: set[int]) -> Beam:
        total = self.total + log_prob
        if token in ends:
            return Beam(self.ids, self.log_probs, total, ended=True)
        return Beam((*self.ids, token), (*self.log_probs, log_prob), total)


@dataclass
class BeamSearch:
    """The beams of one prompt."""

    size: int
    most: int
    ends: set[int]
    beams: list[Beam] = field(default_factory=lambda: [Beam()])
    found: list[tuple[float, Beam]] = field(default_factory=list)
    written: int = 0
    over: bool = False

    def step(self, logits: Tensor) -> tuple[list[int], list[int]]:
        """From the logits [beams, vocabulary], which beams go on and with which tokens; none, when it is over."""
        self.written += len(self.beams)
        log_probs = logits.float().log_softmax(-1)
        totals = log_probs + torch.tensor([[beam.total] for beam in self.beams], device=logits.device)
        best = totals.flatten().topk(min(max(2, 1 + len(self.ends)) * self.size, totals.numel()))
        parents, tokens = divmod_list(best.indices.tolist(), logits.shape[-1])
        own = log_probs[parents, tokens].tolist()
        grown = [self.beams[p].then(t, x, self.ends) for p, t, x in zip(parents, tokens, own, strict=True)]
        length = len(self.beams[0].ids) + 1
        stopped = [beam.ended or length >= self.most for beam in grown]
        going = [i for i, over in enumerate(stopped) if not over][: self.size]
        self._collect([beam for i, beam in enumerate(grown[: self.size]) if stopped[i]], length)
        self._settle([grown[i] for i in going], length)
        return [parents[i] for i in going], [tokens[i] for i in going]

    def _collect(self, ended: Sequence[Beam], length: int) -> None:
        self.found += [(beam.total / length, beam) for beam in ended]
        self.found = sorted(self.found, key=lambda one: -one[0])[: self.size]

    def _settle(self, going: list[Beam], length: int) -> None:
        full = len(self.found) == self.size
        hopeless = full and going and going[0].total / length <= self.found[-1][0]
        self.over = not going or bool(hopeless)
        self.beams = [] if self.over else going


def divmod_list(numbers: Sequence[int], size: int) -> tuple[list[int], list[int]]:
    """Quotients and remainders."""
    return [n // size for n in numbers], [n % size for n in numbers]

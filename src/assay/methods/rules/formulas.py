"""Formulas of features that hold where a neuron is active: a beam search over packed bits.

    IoU(n, R) = |n and R| / |n or R|           sets of texts: where the neuron is on, where the rule holds

A formula of length k + 1 is one of length k joined with a feature: R or f, R and f, R and not f. All three follow from
two counts, |R and f| and |n and R and f|, so all features are tried at once for every formula of the beam. A beam may
miss a formula whose beginning says little by itself, as (a and b) or c where c alone says most.

    or         |n(R or f)| = |nR| + |nf| - |nRf|        |R or f| = |R| + |f| - |Rf|
    and        |nRf|                                    |Rf|
    and not    |nR| - |nRf|                             |R| - |Rf|
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from assay.statistics.arrays import Floats

Bits: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]
Flags: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
Join: TypeAlias = str
JOINS: tuple[Join, ...] = ("or", "and", "and not")
_ROUNDING = 1e-12  # scores that differ by less are equal: the shorter formula, then the earlier feature, wins


@dataclass(frozen=True)
class Formula:
    """Features joined from left to right; the first has the join "and", which is not shown."""

    parts: tuple[tuple[Join, int], ...]
    iou: float

    def __len__(self) -> int:
        return len(self.parts)

    def holds(self, features: Flags) -> Flags:
        """Where it holds, of features [features, texts]."""
        found: Flags = features[self.parts[0][1]].copy()
        for join, feature in self.parts[1:]:
            other = features[feature]
            found = found | other if join == "or" else found & (other if join == "and" else ~other)
        return np.asarray(found)

    def shown(self, names: Sequence[str]) -> str:
        text = names[self.parts[0][1]]
        for i, (join, feature) in enumerate(self.parts[1:], start=1):
            text = f"({text}) {join} {names[feature]}" if i > 1 else f"{text} {join} {names[feature]}"
        return text


def packed(flags: Flags) -> Bits:
    """Rows of booleans as rows of 64-bit words, the last padded with zeros."""
    width = -(-flags.shape[1] // 64) * 64
    padded = np.zeros((len(flags), width), dtype=np.bool_)
    padded[:, : flags.shape[1]] = flags
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def counted(bits: Bits) -> Floats:
    """How many bits are set in each row [..., words]."""
    return np.asarray(np.bitwise_count(bits).sum(axis=-1, dtype=np.int64), dtype=np.float64)


class FormulaSearch:
    """Finds formulas for many neurons over the same features [features, texts]."""

    def __init__(self, features: Flags, *, beam: int, length: int) -> None:
        self.bits, self.beam, self.length = packed(features), beam, length
        self.sizes = counted(self.bits)

    def best(self, active: Flags) -> list[Formula]:
        """For each length up to the longest the best formula of at most that length, for one neuron [texts]."""
        neuron = packed(active[None])[0]
        total, with_neuron = float(counted(neuron)), counted(self.bits & neuron)
        scores = _iou(with_neuron, self.sizes, total)
        order = np.argsort(-scores, kind="stable")[: self.beam]
        beam = [(Formula((("and", int(i)),), float(scores[i])), self.bits[i]) for i in order]
        found = [beam[0][0]]
        while len(found) < self.length:
            beam = self._longer(beam, neuron, total, with_neuron)
            better = beam[0][0].iou > found[-1].iou + _ROUNDING
            found.append(beam[0][0] if better else found[-1])
        return found

    def _longer(
        self, beam: Sequence[tuple[Formula, Bits]], neuron: Bits, total: float, with_neuron: Floats
    ) -> list[tuple[Formula, Bits]]:
        """The best formulas one feature longer."""
        rules = np.stack([bits for _, bits in beam])
        size, own = counted(rules)[:, None], counted(rules & neuron)[:, None]
        both = np.stack([counted(self.bits & rule) for rule in rules])
        three = np.stack([counted(self.bits & rule & neuron) for rule in rules])
        hits = np.stack([own + with_neuron - three, three, own - three], axis=1)
        sizes = np.stack([size + self.sizes - both, both, size - both], axis=1)
        scores = _iou(hits, sizes, total)  # [beam, joins, features]
        order = np.argsort(-scores.ravel(), kind="stable")[: self.beam]
        return [self._joined(beam, scores, np.unravel_index(int(i), scores.shape)) for i in order]

    def _joined(self, beam: Sequence[tuple[Formula, Bits]], scores: Floats, at: Any) -> tuple[Formula, Bits]:
        rule, join, feature = (int(i) for i in at)
        formula, bits = beam[rule]
        other = self.bits[feature]
        new = bits | other if join == 0 else bits & (other if join == 1 else ~other)
        return Formula((*formula.parts, (JOINS[join], feature)), float(scores[at])), new


def _iou(hits: Floats, sizes: Floats, total: float) -> Floats:
    union = sizes + total - hits
    return np.asarray(np.divide(hits, union, out=np.zeros_like(hits), where=union > 0))

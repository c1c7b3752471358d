"""Formulas of features that hold where a neuron is active: a beam search over packed bits.

    IoU(n, R) = |n and R| / |n or R|           sets of texts: where the neuron is on, where the rule holds

A formula of length k + 1 is one of length k with one feature more: R or f, R and f, R and not f, where R is all of the
formula (`grow="end"`, as in the released code) or what stands before any place in it: a or c becomes (a and b) or c.
All three follow from counts of R and f, so all features are tried at once for every place of every formula of the beam.
In (a and b) or c, a and b may say little by themselves, and c or a less than c alone, so that no formula of one feature
less is among the best. Beside the best formulas of one feature and of two the beam therefore has as many that promise
most: by the IoU that they would have with the best next feature imaginable. Formulas that hold in the very same texts
take one place of the beam. It is no proof: a better formula of three features can still be missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from assay.statistics.arrays import Floats

Bits: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]
Flags: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
Join: TypeAlias = str
Parts: TypeAlias = tuple[tuple[Join, int], ...]
Grow: TypeAlias = Literal["anywhere", "end"]
JOINS: tuple[Join, ...] = ("or", "and", "and not")
_ROUNDING = 1e-12  # scores that differ by less are equal: the shorter formula, then the earlier feature, wins
_SLIGHT = 1e-6  # of the IoU, where two formulas promise the same


@dataclass(frozen=True)
class Formula:
    """Features joined from left to right; the first has the join "and", which is not shown."""

    parts: Parts
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


class Among(NamedTuple):
    """Texts that are counted: those where a neuron is on, or all; how many, and in how many each feature holds."""

    bits: Bits
    size: float
    features: Floats


class FormulaPlace(NamedTuple):
    """Where in a formula one more feature may be joined: to the first `at` of the parts.

    The others make of the set P of the first the set `base` or (P and `free`); `inside` is P and `free`.
    """

    parts: Parts
    at: int
    base: Bits
    inside: Bits
    free: Bits


class FormulaSearch:
    """Finds formulas for many neurons over the same features [features, texts]."""

    def __init__(self, features: Flags, *, beam: int, length: int, grow: Grow = "anywhere") -> None:
        self.bits, self.beam, self.length, self.grow = packed(features), beam, length, grow
        self._columns = np.ascontiguousarray(self.bits.T)  # counted in half the time
        self._all = self._among(np.ones(features.shape[1], dtype=np.bool_))

    def best(self, active: Flags) -> list[Formula]:
        """For each length up to the longest the best formula of at most that length, for one neuron [texts]."""
        neuron = self._among(active)
        hits, wrong = neuron.features, self._all.features - neuron.features
        # The next feature takes all away where this one is wrong ("and"), or brings all that is missing ("or").
        promise = np.maximum(_share(hits, neuron.size), _share(neuron.size, neuron.size + wrong))
        beam = self._beam(_share(hits, neuron.size + wrong), promise, lambda i: (("and", i),))
        found = [beam[0]]
        while len(found) < self.length:
            beam = self._longer(beam, neuron)
            found.append(beam[0] if beam[0].iou > found[-1].iou + _ROUNDING else found[-1])
        return found

    def _longer(self, beam: Sequence[Formula], neuron: Among) -> list[Formula]:
        """Formulas one feature longer, the best one first."""
        places = [place for formula in beam for place in self._places(formula.parts)]
        hits, sizes = (np.stack([self._counts(place, among) for place in places]) for among in (neuron, self._all))
        wrong = sizes - hits  # [places, joins, features]
        scores = _share(hits, neuron.size + wrong)

        def parts(i: int) -> Parts:
            place, join, feature = (int(k) for k in np.unravel_index(i, scores.shape))
            one = places[place]
            return (*one.parts[: one.at], (JOINS[join], feature), *one.parts[one.at :])

        return self._beam(scores, _promise(hits, wrong, neuron.size) if len(beam[0]) == 1 else None, parts)

    def _beam(self, scores: Floats, promise: Floats | None, parts: Callable[[int], Parts]) -> list[Formula]:
        """The best formulas, and the most promising ones where another feature may join them anywhere."""
        best = self._first(scores, scores, parts)
        if promise is None or self.grow == "end" or len(best[0]) == self.length:
            return best
        return list(dict.fromkeys([*best, *self._first(promise + _SLIGHT * scores, scores, parts)]))

    def _first(self, order: Floats, scores: Floats, parts: Callable[[int], Parts]) -> list[Formula]:
        """The first in an order, of those that hold in the very same texts one only."""
        found: dict[bytes, Formula] = {}
        for i in _descending(order.ravel(), 8 * self.beam):
            one = parts(i)
            found.setdefault(self._holds(one).tobytes(), Formula(one, float(scores.ravel()[i])))
            if len(found) == self.beam:
                break
        return list(found.values())

    def _places(self, parts: Parts) -> Iterator[FormulaPlace]:
        """The end of a formula, and every place before it; "a or b" and "a and b" are "b or a" and "b and a" too."""
        yield self._place(parts, len(parts))
        if self.grow == "anywhere" and len(parts) > 1:
            yield from (self._place(parts, at) for at in range(1, len(parts)))
            if (join := parts[1][0]) != "and not":
                yield self._place((("and", parts[1][1]), (join, parts[0][1]), *parts[2:]), 1)

    def _place(self, parts: Parts, at: int) -> FormulaPlace:
        base = np.zeros_like(self.bits[0])
        full = ~base
        for join, feature in parts[at:]:
            base, full = (_joined(one, join, self.bits[feature]) for one in (base, full))
        free = full & ~base
        return FormulaPlace(parts, at, base, self._holds(parts[:at]) & free, free)

    def _holds(self, parts: Parts) -> Bits:
        found: Bits = self.bits[parts[0][1]]
        for join, feature in parts[1:]:
            found = _joined(found, join, self.bits[feature])
        return found

    def _among(self, texts: Flags) -> Among:
        bits = packed(texts[None])[0]
        return Among(bits, float(counted(bits)), self._with(bits))

    def _with(self, bits: Bits) -> Floats:
        """In how many of these texts each feature holds."""
        each = np.bitwise_count(self._columns & bits[:, None])
        return np.asarray(each.sum(axis=0, dtype=np.int32), dtype=np.float64)

    def _counts(self, place: FormulaPlace, among: Among) -> Floats:
        """In how many texts the longer formulas hold, for each join and feature [joins, features]."""
        inside = place.inside & among.bits
        both, old, base = self._with(inside), float(counted(inside)), float(counted(place.base & among.bits))
        free = among.features if place.at == len(place.parts) else self._with(place.free & among.bits)
        return base + np.stack([old + free - both, both, old - both])


def _joined(bits: Bits, join: Join, other: Bits) -> Bits:
    return np.asarray(bits | other if join == "or" else bits & (other if join == "and" else ~other))


def _descending(scores: Floats, few: int) -> Iterator[int]:
    """The places of scores, the highest first, equal ones in their order; the first few without sorting all."""
    least = np.partition(scores, -few)[-few] if few < len(scores) else -np.inf
    for these in (np.flatnonzero(scores >= least), np.flatnonzero(scores < least)):
        yield from these[np.argsort(-scores[these], kind="stable")].tolist()


def _promise(hits: Floats, wrong: Floats, total: float) -> Floats:
    """The IoU with the best third feature g: of "a or (f and g)", of "a and (f or g)", of "(a or g) and not f"."""
    either = _share(hits[:, 0], total + wrong[:, 1] + wrong[:, 2])  # g takes all away where f is wrong
    both = _share(hits[:, 1] + hits[:, 2], total + wrong[:, 1])  # g brings all that f loses back, and nothing else
    without = _share(total + hits[:, 2] - hits[:, 0], total + wrong[:, 2])  # g brings all that f leaves
    return np.stack([either, both, without], axis=1)


def _share(part: Any, whole: Any) -> Floats:
    """0 of nothing is 0."""
    return np.asarray(np.divide(part, whole, out=np.zeros(np.broadcast(part, whole).shape), where=whole > 0))

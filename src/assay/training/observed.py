"""What an attentive model says of texts and where it looks, and how far two models are apart in both.

    TVD(y, z) = 1/2 sum_c |y_c - z_c|        JSD(a, b) = 1/2 KL(a || m) + 1/2 KL(b || m),   m = (a + b) / 2

As Wiegreffe and Pinter (2019), arXiv:1908.04626, section 3.1, with natural logarithms: JSD is at most ln 2. A weight of
exactly zero adds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np
from scipy.special import rel_entr

from assay.errors import BadInput
from assay.statistics.arrays import Floats, Ints
from assay.text.text import Row


@dataclass(frozen=True, eq=False)
class Observed:
    """Probabilities [texts, labels], and for each text one weight per token, zero at its edges.

    `source` says whose they are, in a word that another model does not have; `rows` are the texts.
    """

    labels: tuple[str, ...]
    chances: Floats
    weights: tuple[Floats, ...]
    source: str = ""
    rows: tuple[Row, ...] = ()

    def of(self, rows: Sequence[str | Row]) -> Observed:
        """The same of these texts, in their order."""
        wanted = [(row,) if isinstance(row, str) else tuple(row) for row in rows]
        if unknown := next((row for row in wanted if row not in self._places), None):
            raise BadInput(f"the attention of the other model on {unknown!r:.60} is not known.")
        at = [self._places[row] for row in wanted]
        return Observed(self.labels, self.chances[at], tuple(self.weights[i] for i in at), self.source, tuple(wanted))

    @cached_property
    def _places(self) -> dict[Row, int]:
        return {row: i for i, row in enumerate(self.rows)}

    @property
    def predicted(self) -> Ints:
        """The number of each text's label."""
        return np.asarray(self.chances.argmax(axis=1))

    @property
    def highest(self) -> Floats:
        """The largest weight of each text."""
        return np.array([float(one.max()) for one in self.weights])

    def under(self, labels: Sequence[str]) -> Floats:
        """The probabilities in another order of the labels."""
        if sorted(labels) != sorted(self.labels):
            raise BadInput(
                f"the models have different labels: {', '.join(self.labels[:5])} and {', '.join(list(labels)[:5])}."
            )
        return self.chances[:, [self.labels.index(name) for name in labels]]

    def require_tokens(self, lengths: Sequence[int]) -> None:
        """An error where another tokenizer cuts the texts into other tokens."""
        own = [len(one) for one in self.weights]
        if own != list(lengths):
            raise BadInput("the attention belongs to other texts, or to a model that cuts them into other tokens.")


@dataclass(frozen=True, eq=False)
class Apart:
    """How far two models are apart on each text: what they say (TVD), and where they look (JSD)."""

    tvd: Floats
    jsd: Floats


def apart(one: Observed, other: Observed) -> Apart:
    other.require_tokens([len(weights) for weights in one.weights])
    return Apart(tvd(one.chances, other.under(one.labels)), jsd(one.weights, other.weights))


def tvd(one: Floats, other: Floats) -> Floats:
    """Total variation distances of probabilities [texts, labels]."""
    return np.asarray(np.abs(one - other).sum(axis=1) / 2)


def jsd(one: Sequence[Floats], other: Sequence[Floats]) -> Floats:
    """Jensen-Shannon divergences, text by text; a sum that rounding makes longer than ln 2 is ln 2."""
    a, b = np.concatenate(one), np.concatenate(other)
    middle = (a + b) / 2
    starts = np.cumsum([0, *(len(weights) for weights in one[:-1])])
    sums = np.add.reduceat(rel_entr(a, middle) + rel_entr(b, middle), starts) / 2
    return np.asarray(np.clip(sums, 0.0, log(2)))

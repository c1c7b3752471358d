"""How far two distributions lie apart, and how spread out one of them is.

    TVD(p, q) = 1/2 sum_i |p_i - q_i|                                        total variation, 0 to 1
    JSD(p, q) = 1/2 KL(p || m) + 1/2 KL(q || m),  m = (p + q) / 2            Jensen-Shannon, 0 to ln 2 = 0.693
    H(p)      = -sum_i p_i ln p_i                                            entropy, 0 to ln n

As in Jain and Wallace (2019), section 3, arXiv:1902.10186, with natural logarithms; a probability of exactly zero adds
nothing. All work on the last axis. Labels that may all hold at once are no distribution: there the change of an answer
is the mean of |p - q| over the labels, which for one label with two outcomes is the same as TVD.
"""

from __future__ import annotations

from math import log

import numpy as np
from scipy.special import entr, rel_entr

from assay.statistics.arrays import Floats

MOST = log(2)  # no two distributions have a larger JSD


def distribution(scores: Floats) -> Floats:
    """Scores without their signs, divided by their sum; where all are zero, the same for all."""
    sizes = np.abs(np.asarray(scores, dtype=np.float64))
    largest = sizes.max(axis=-1, keepdims=True, initial=0.0)
    # Divided by the largest first: very large and very small scores would be lost in their sum.
    raised = np.where(largest > 0, sizes / np.where(largest > 0, largest, 1.0), 1.0)
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def tvd(p: Floats, q: Floats) -> Floats:
    return np.asarray(np.abs(p - q).sum(axis=-1) / 2)


def jsd(p: Floats, q: Floats) -> Floats:
    middle = (p + q) / 2
    apart = (rel_entr(p, middle).sum(axis=-1) + rel_entr(q, middle).sum(axis=-1)) / 2
    return np.asarray(np.clip(apart, 0.0, MOST))  # rounding may step over either end


def entropy(p: Floats) -> Floats:
    return np.asarray(entr(p).sum(axis=-1))

"""The 95 % interval of a mean over few texts, where percentiles of the bootstrap are too narrow.

    x_1 ... x_n, their mean m, s their deviation, e = s / sqrt(n) with n - 1 under the root of s, t Student's quantile

    side down    max of  t e,   k (m - low),   T_high e         low, high: percentiles of the bootstrap
    side up      max of  t e,   k (high - m),  -T_low e         k = t / 1.96 sqrt(n / (n - 1))

where T are the percentiles of (m* - m) / e* over resamples, e* at least a quarter of what the texts have: Student's
interval is right for normal numbers, the widened percentiles keep the shape, and the studentised bootstrap (Efron and
Tibshirani 1993, section 12.5) reaches far enough where numbers are skewed. In simulations of normal, exponential and
discrete numbers it covers the mean in 93 % or more from 5 texts on; the percentiles cover it in 83, 77 and 87 % at 5
texts and in 94, 92 and 95 % at 50. There it is 8 % wider than they are (17 % for exponential numbers); from 100 texts
on the percentiles themselves do. Below 5 texts nothing does: of two coins half of the pairs are equal, and show no
spread at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt

import numpy as np

from assay.statistics.arrays import Floats, Ints

FEWEST = 5  # texts that an interval over texts needs
ENOUGH = 100  # texts from which on percentiles of the bootstrap cover
_EDGES = (0.025, 0.975)
_LEAST_SPREAD = 0.25  # of a resample, which may hold one text again and again


def interval_of_few(values: Floats, resamples: Iterable[Ints]) -> tuple[float, float]:
    """Of the mean of some numbers; `resamples` are places in them [resamples, n], in blocks."""
    from scipy.special import stdtrit  # slow to import, and only wanted here

    n, mean = len(values), float(values.mean())
    drawn = [values[chosen] for chosen in resamples]
    means = np.concatenate([block.mean(axis=1) for block in drawn])
    spreads = np.concatenate([block.std(axis=1) for block in drawn])
    low, high = np.quantile(means, _EDGES)
    student, error = float(stdtrit(n - 1, _EDGES[1])), float(values.std(ddof=1)) / sqrt(n)
    if error == 0:
        return mean, mean
    wider = student / 1.96 * sqrt(n / (n - 1))
    least = np.maximum(spreads, _LEAST_SPREAD * float(values.std())) / sqrt(n)
    left, right = np.quantile((means - mean) / least, _EDGES)
    down = max(student * error, wider * (mean - low), right * error)
    up = max(student * error, wider * (high - mean), -left * error)
    return float(mean - down), float(mean + up)

"""A share with its exact 95 % interval (Clopper and Pearson 1934), and exact tests of shares, all by scipy.

low   the p for which k or more of n have a chance of 2.5 %
high  the p for which k or less of n have a chance of 2.5 %
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Share:
    """So many of so many, and where the true share lies; of none there is no share, and it may lie anywhere."""

    count: int
    of: int
    low: float = 0.0
    high: float = 1.0

    @classmethod
    def exact(cls, count: int, of: int) -> Share:
        if not of:
            return cls(count, of)
        from scipy.stats import binomtest  # slow to import, and only wanted here

        interval = binomtest(count, of).proportion_ci(method="exact")
        return cls(count, of, float(interval.low), float(interval.high))

    @property
    def value(self) -> float | None:
        return self.count / self.of if self.of else None

    def shown(self) -> str:
        return f"{self.count / self.of:.1%} [{self.low:.1%}, {self.high:.1%}]" if self.of else "no answers"


def against_half(share: Share) -> float | None:
    """The two-sided exact binomial test of a share of one half."""
    if not share.of:
        return None
    from scipy.stats import binomtest

    return float(binomtest(share.count, share.of).pvalue)


def above_chance(share: Share, chance: float) -> float | None:
    """The one-sided exact binomial test that a share is no higher than chance."""
    if not share.of:
        return None
    from scipy.stats import binomtest

    return float(binomtest(share.count, share.of, chance, alternative="greater").pvalue)


def fisher(one: Share, other: Share) -> float | None:
    """Fisher's two-sided exact test that two shares are the same."""
    if not one.of or not other.of:
        return None
    from scipy.stats import fisher_exact

    table = [[one.count, one.of - one.count], [other.count, other.of - other.count]]
    return float(fisher_exact(table).pvalue)

"""A share with its exact 95 % interval (Clopper and Pearson 1934), and exact tests of shares.

low   the p for which k or more of n have a chance of 2.5 %      beta quantile, I_p(k, n - k + 1) = 0.025
high  the p for which k or less of n have a chance of 2.5 %      I_p(k + 1, n - k) = 0.975
against one half, two-sided:  min(1, 2 P(X <= min(k, n - k))),   X ~ Binomial(n, 1/2)
"""

from __future__ import annotations

from dataclasses import dataclass

from scipy.special import bdtr, betaincinv

_TAIL = 0.025


@dataclass(frozen=True)
class Share:
    """So many of so many, and where the true share lies; of none there is no share, and it may lie anywhere."""

    count: int
    of: int
    low: float = 0.0
    high: float = 1.0

    @classmethod
    def exact(cls, count: int, of: int) -> Share:
        low = float(betaincinv(count, of - count + 1, _TAIL)) if count else 0.0
        high = float(betaincinv(count + 1, of - count, 1 - _TAIL)) if count < of else 1.0
        return cls(count, of, low, high)

    @property
    def value(self) -> float | None:
        return self.count / self.of if self.of else None

    def shown(self) -> str:
        return f"{self.count / self.of:.1%} [{self.low:.1%}, {self.high:.1%}]" if self.of else "no answers"


def against_half(share: Share) -> float | None:
    """The two-sided exact binomial test of a share of one half."""
    fewer = min(share.count, share.of - share.count)
    return min(1.0, 2 * float(bdtr(fewer, share.of, 0.5))) if share.of else None


def fisher(one: Share, other: Share) -> float | None:
    """Fisher's two-sided exact test that two shares are the same."""
    if not one.of or not other.of:
        return None
    from scipy.stats import fisher_exact  # slow to import, and only wanted here

    table = [[one.count, one.of - one.count], [other.count, other.of - other.count]]
    return float(fisher_exact(table).pvalue)

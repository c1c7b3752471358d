"""Krippendorff's alpha for names: how far people agree beyond chance, with any number of people and missing answers.

    alpha = 1 - D_o / D_e
    D_o = 1/n sum_u (ordered pairs of unequal answers to u) / (m_u - 1)
    D_e = sum_{c != k} n_c n_k / (n (n - 1))

m_u answers to item u (items with one answer are left out), n_c answers c among all n. 1: all agree; 0: as by chance;
none where there is nothing to compare or all say the same. Krippendorff (2011), Computing Krippendorff's
Alpha-Reliability.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence


def alpha(units: Iterable[Sequence[Hashable]]) -> float | None:
    """The agreement of the answers to each item."""
    paired = [Counter(answers) for answers in units if len(answers) > 1]
    total = sum(paired, Counter())
    n = total.total()
    if len(total) < 2:
        return None
    observed = sum(_unequal(of) / (of.total() - 1) for of in paired) / n
    return 1 - observed * n * (n - 1) / _unequal(total)


def _unequal(counts: Counter[Hashable]) -> int:
    """The ordered pairs of unequal answers."""
    return counts.total() ** 2 - sum(count**2 for count in counts.values())

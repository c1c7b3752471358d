"""Many texts in a few numbers: means with 95 % bootstrap intervals, for all texts and for each predicted label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from assay.statistics.arrays import Floats
from assay.statistics.intervals import Estimate, estimate
from assay.statistics.ranks import Tau
from assay.workflows.audit.audited import PAIRS, AuditedText

LEVEL = 0.05  # of significance
FAR = 0.4  # a JSD of which one would say that the two attentions tell different stories; the most is 0.69


@dataclass(frozen=True)
class Correlation:
    """Kendall's tau over texts: mean, standard deviation, the share of texts with p <= .05, texts without a tau."""

    mean: Estimate | None
    std: float | None
    significant: Estimate | None
    undefined: int

    @classmethod
    def of(cls, found: Sequence[Tau | None]) -> Correlation:
        known = [tau for tau in found if tau is not None]
        values = np.array([tau.value for tau in known])
        sure = np.array([tau.p_value <= LEVEL for tau in known], dtype=np.float64)
        spread = float(values.std()) if known else None
        return cls(estimate(values), spread, estimate(sure), len(found) - len(known))


@dataclass(frozen=True)
class Group:
    """The texts of one predicted label, or all of them."""

    label: str | None
    texts: int
    correlations: Mapping[str, Correlation]
    max_attention: Estimate
    median_tvd: Estimate
    jsd: Estimate
    far: Estimate  # the share of texts whose epsilon-max JSD is above FAR

    @classmethod
    def of(cls, label: str | None, texts: Sequence[AuditedText]) -> Group:
        jsds = column(texts, "jsd")
        return cls(
            label,
            len(texts),
            {name: Correlation.of([one.taus[name] for one in texts]) for name in PAIRS},
            _mean(column(texts, "max_attention")),
            _mean(column(texts, "median_tvd")),
            _mean(jsds),
            _mean((jsds > FAR).astype(np.float64)),
        )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def groups(texts: Sequence[AuditedText]) -> list[Group]:
    """All texts, then those of each predicted label, the most frequent first."""
    return [Group.of(None, texts), *(Group.of(label, predicted(texts, label)) for label in labels(texts))]


def labels(texts: Sequence[AuditedText]) -> list[str]:
    return [label for label, _ in Counter(one.label for one in texts).most_common()]


def predicted(texts: Sequence[AuditedText], label: str) -> list[AuditedText]:
    return [one for one in texts if one.label == label]


def column(texts: Sequence[AuditedText], name: str) -> Floats:
    return np.array([getattr(one, name) for one in texts], dtype=np.float64)


def _mean(values: Floats) -> Estimate:
    found = estimate(values)
    assert found is not None
    return found

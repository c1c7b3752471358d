"""What ROAR found: accuracies for each method and share, one per model, and how sure one may be of a difference.

    p            two-sample t-test without equal variances (Welch 1947, doi:10.1093/biomet/34.1-2.28), two-sided
    p_value      of "lower than random": the larger one of that test, one-sided, and of this one:
                 t = (m - mean r) / (sd r sqrt(1 + 1/R)),  R - 1 degrees of freedom

for accuracies r_1 ... r_R with random explanations, drawn anew for each model, and the mean m of a method. The first is
the test of Pham et al. (2022), Table 2, arXiv:2110.04947 (their p-values come out). It compares means over models, and
takes a single lucky draw of random words, trained on many times, for a good method. The second asks whether one more
random explanation would do as well, and so is right for a method that is nothing but a draw. Accuracies are counts of
whole texts: a spread of less than one text is taken as one text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from scipy.special import stdtr, stdtrit

from assay.errors import UnknownName
from assay.statistics.arrays import Floats
from assay.verdicts.verdict import Verdict

if TYPE_CHECKING:
    import pandas as pd

RANDOM = "random"
_SURE = 0.975


def spread(accuracies: Floats, texts: int) -> float:
    """The standard deviation, at least one text."""
    return max(float(np.std(accuracies, ddof=1)), 1 / texts)


def interval(accuracies: Floats, texts: int) -> tuple[float, float]:
    """95 % of the mean; no accuracy is below 0 or above 1."""
    n, mean = len(accuracies), float(np.mean(accuracies))
    half = float(stdtrit(n - 1, _SURE)) * spread(accuracies, texts) / n**0.5
    return max(0.0, mean - half), min(1.0, mean + half)


def welch(a: Floats, b: Floats, texts: int, alternative: Literal["two-sided", "less"] = "two-sided") -> Any:
    """The two-sample t-test; `less` asks whether a is lower."""
    one, two = ((float(np.mean(x)), spread(x, texts), len(x)) for x in (a, b))
    from scipy.stats import ttest_ind_from_stats  # slow to import, and only wanted here

    return ttest_ind_from_stats(*one, *two, equal_var=False, alternative=alternative)


def one_more(value: float, random: Floats, texts: int) -> float:
    """The chance that one more random explanation is as low as this value."""
    n = len(random)
    return float(stdtr(n - 1, (value - np.mean(random)) / (spread(random, texts) * (1 + 1 / n) ** 0.5)))


@dataclass(frozen=True, eq=False, kw_only=True)
class RoarVerdict(Verdict):
    """Accuracies of one method at one share, per model, against those with random explanations."""

    share: float = 0.0
    texts: int = 1

    @cached_property
    def interval(self) -> tuple[float, float]:
        """95 % of the difference to random."""
        a, b = self.scores, self.random_scores[:, 0]
        parts = np.array([spread(x, self.texts) ** 2 / len(x) for x in (a, b)])
        freedom = parts.sum() ** 2 / (parts**2 / (np.array([len(a), len(b)]) - 1)).sum()
        half = float(stdtrit(freedom, _SURE) * parts.sum() ** 0.5)
        return self.difference - half, self.difference + half

    def _tail(self, sign: int) -> float:
        """One-sided, both tests; sign -1 asks whether the method is lower than random."""
        ours, random = -sign * self.scores, -sign * self.random_scores[:, 0]
        lower = float(welch(ours, random, self.texts, "less").pvalue)
        return max(lower, one_more(float(ours.mean()), random, self.texts))

    def to_dict(self) -> dict[str, Any]:
        seen = {"random_scores": self.random_scores[:, 0].tolist(), "models": len(self.scores), "draws": 1}
        return super().to_dict() | {"share": self.share, "texts": self.texts} | seen


@dataclass(frozen=True, eq=False)
class Retrained:
    """The models of one method at one share."""

    method: str
    share: float
    accuracies: Floats

    def __post_init__(self) -> None:
        accuracies = np.array(self.accuracies, dtype=np.float64)
        accuracies.flags.writeable = False
        object.__setattr__(self, "accuracies", accuracies)

    @property
    def mean(self) -> float:
        return float(self.accuracies.mean())


@dataclass(frozen=True, eq=False, kw_only=True)
class RoarResult:
    """Accuracies on dev for every method and share, `random` among the methods; `whole` are those of whole texts."""

    rows: tuple[Retrained, ...]
    whole: tuple[float, ...]
    texts: int
    parameters: Mapping[str, Any] = field(default_factory=dict)
    trainer: Mapping[str, Any] = field(default_factory=dict)
    model: str = ""
    seed: int = 0
    warnings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def methods(self) -> list[str]:
        return list(dict.fromkeys(row.method for row in self.rows))

    @property
    def shares(self) -> list[float]:
        return list(dict.fromkeys(row.share for row in self.rows))

    def at(self, method: str, share: float) -> Retrained:
        for row in self.rows:
            if row.method == method and row.share == share:
                return row
        raise UnknownName.of("method and share", f"{method} {share}", (f"{r.method} {r.share}" for r in self.rows))

    def p(self, one: str, other: str, share: float) -> float:
        """The two-sided t-test between two methods."""
        a, b = (self.at(name, share).accuracies for name in (one, other))
        return float(welch(a, b, self.texts).pvalue)

    def verdicts(self) -> list[RoarVerdict]:
        """Every method but random, at every share."""
        return [self._verdict(row) for row in self.rows if row.method != RANDOM]

    def _verdict(self, row: Retrained) -> RoarVerdict:
        return RoarVerdict(
            row.method,
            "roar",
            "lower",
            row.accuracies,
            self.at(RANDOM, row.share).accuracies[:, None],
            warnings=(*self.warnings.get(row.method, ()), *self._unmoved(row)),
            parameters=self.parameters,
            model=self.model,
            seed=self.seed,
            facts={"share": row.share, "whole": float(np.mean(self.whole))},
            share=row.share,
            texts=self.texts,
        )

    def _unmoved(self, row: Retrained) -> Iterator[str]:
        if np.ptp(row.accuracies) == 0:
            yield f"the seeds change nothing: all {len(row.accuracies)} models have the same accuracy."

    def comparisons(self) -> list[dict[str, Any]]:
        """Every two methods at every share: how far the first is above the second, and the t-test."""
        pairs = [(a, b, q) for q in self.shares for a, b in combinations(self.methods, 2)]
        return [
            {"share": q, "method": a, "other": b, "p": self.p(a, b, q)}
            | {"difference": self.at(a, q).mean - self.at(b, q).mean}
            for a, b, q in pairs
        ]

    def table(self) -> list[dict[str, Any]]:
        """One row per method and share."""
        told = {(v.method, v.share): v for v in self.verdicts()}
        return [self._line(row, told.get((row.method, row.share))) for row in self.rows]

    def _line(self, row: Retrained, verdict: RoarVerdict | None) -> dict[str, Any]:
        low, high = interval(row.accuracies, self.texts)
        line = {"method": row.method, "share": row.share, "mean": row.mean, "low": low, "high": high}
        tests = {"p_random": self.p(row.method, RANDOM, row.share), "p_value": verdict.p_value} if verdict else {}
        said = {"verdict": verdict.sentence} if verdict else {}
        return {**line, "accuracies": row.accuracies.tolist(), "p_random": None, "p_value": None, **tests, **said}

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back."""
        plain = {name: value for name, value in asdict(self).items() if name not in ("rows", "warnings", "whole")}
        said = {name: list(warnings) for name, warnings in self.warnings.items()}
        rows = {"rows": self.table(), "whole": list(self.whole), "comparisons": self.comparisons()}
        return {"check": "roar", **plain, **rows, "warnings": said}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        rows = tuple(Retrained(row["method"], row["share"], np.array(row["accuracies"])) for row in data["rows"])
        said = {name: tuple(warnings) for name, warnings in data["warnings"].items()}
        same = {name: data[name] for name in ("texts", "parameters", "trainer", "model", "seed")}
        return cls(rows=rows, whole=tuple(data["whole"]), warnings=said, **same)

    def to_frame(self) -> pd.DataFrame:
        """The table; accuracies are lists, one number per model."""
        import pandas as pd  # slow to import, and only wanted here

        return pd.DataFrame(self.table())

    def __str__(self) -> str:
        whole = f"nothing removed: {np.mean(self.whole):.4f}"
        lines = [f"{r['method']} without {r['share']:.0%}: {_shown(r)}" for r in self.table()]
        return "\n".join([f"accuracy on {self.texts} texts, lower is better", whole, *lines])


def _shown(row: Mapping[str, Any]) -> str:
    told = f"{row['mean']:.4f} [{row['low']:.4f}, {row['high']:.4f}]"
    return f"{told}, {row['verdict']} (p = {row['p_value']:.4f})" if "verdict" in row else told

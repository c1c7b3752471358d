"""When a claim holds: the one place where the studies come to a verdict.

    holds            the 95 % interval lies wholly on the side where the claim puts the number
    does not hold    it lies wholly on the other side
    open             it reaches both, there are fewer than 20 texts, or nothing was measured
    not learned      the number is of a model whose own interval reaches the commonest class: it says nothing

No point estimate and no single end of an interval decides. Where one claim has several comparisons they are corrected
by Holm's procedure (1979): p-values, read off the intervals, times the number of comparisons that are left. With one
comparison that is the interval itself. What is `aside` is shown and does not decide: a setting that was chosen after
the test numbers were seen, or an adversary that turned out to be none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import hypot
from typing import Literal, NamedTuple, Self, TypeAlias

from scipy.stats import norm, t

from assay.statistics.arrays import Floats
from assay.statistics.intervals import Estimate, estimate

Word: TypeAlias = Literal["holds", "does not hold", "open", "not learned"]
HOLDS: Word = "holds"
FAILS: Word = "does not hold"
OPEN: Word = "open"
NOT_LEARNED: Word = "not learned"
Side: TypeAlias = Literal["above", "below", "within"]
Reach: TypeAlias = Literal["all", "most", "any", "alike"]
SURE = 0.05
CORRECTED = (
    "A claim holds where the 95 % interval lies wholly on the claimed side, does not hold where it lies wholly on the "
    "other, and is open otherwise. The comparisons of one claim are corrected together (Holm). A model that is not "
    "surely better than to say the commonest class always has not learned: it decides nothing and enters no mean."
)
_HALF = float(norm.isf(SURE / 2))  # 1.96: half a 95 % interval in standard errors


@dataclass(frozen=True)
class Rule:
    """Where a claim puts a number: above or below a bound, or no farther from zero than the bound."""

    side: Side
    bound: float = 0.0

    def __call__(self, found: Estimate | None) -> bool | None:
        """Whether one number alone lies there; None: open."""
        return {HOLDS: True, FAILS: False}.get(words([Comparison("", found, self)])[0])

    def leaning(self, found: Estimate, freedom: float | None = None) -> tuple[bool, float]:
        """Whether the value is on the claimed side, and how easily chance would put it there (two-sided)."""
        if self.side != "within":
            return (found.value > self.bound) == (self.side == "above"), _chance(found, self.bound, freedom)
        inside = abs(found.value) < self.bound
        ends = [_chance(found, end, freedom) for end in (-self.bound, self.bound)]
        return inside, max(ends) if inside else ends[found.value > 0]

    def __str__(self) -> str:
        return f"{'within ±' if self.side == 'within' else self.side + ' '}{self.bound:g}"


@dataclass(frozen=True)
class Comparison:
    """A number of a claim: what it is about, its estimate, and the rule; without a rule it is only shown.

    `over` says what the interval is over. `performance` is that of the model that the number is of, `commonest` the
    share of the commonest class, which a model that learned must surely beat. `freedom` are the degrees of freedom of
    an interval after Student, as one over a few seeds is: its tails are heavier than those of many texts.
    """

    about: str
    estimate: Estimate | None
    rule: Rule | None = None
    name: str = ""
    published: str = ""
    over: str = "texts"
    performance: Estimate | None = None
    commonest: float | None = None
    aside: str = ""
    freedom: float | None = None

    @property
    def learned(self) -> bool:
        return self.performance is None or self.commonest is None or has_learned(self.performance, self.commonest)

    @property
    def decides(self) -> bool:
        return self.rule is not None and not self.aside


class Learned(NamedTuple):
    """How good the model is that numbers are of, and what saying the commonest class always would give."""

    performance: Estimate
    commonest: float

    @classmethod
    def of(cls, right: Floats, labels: Iterable[str]) -> Self | None:
        """Of whether each text is predicted right, and the labels of the texts."""
        counts, found = Counter(labels), estimate(right)
        return None if found is None else cls(found, max(counts.values()) / counts.total())


def has_learned(performance: Estimate, commonest: float) -> bool:
    """A model that is surely better than to say the commonest class always."""
    return performance.low > commonest


def words(comparisons: Sequence[Comparison]) -> list[Word]:
    """What each comparison of one claim says, corrected for all of them."""
    tested: dict[int, tuple[bool, float]] = {}
    for i, one in enumerate(comparisons):
        if one.rule is not None and one.decides and one.learned and one.estimate is not None and not one.estimate.few:
            tested[i] = one.rule.leaning(one.estimate, one.freedom)
    sure = {i for i, p in zip(tested, holm([p for _, p in tested.values()]), strict=True) if p <= SURE}
    return [_word(one, tested[i][0] if i in sure else None) for i, one in enumerate(comparisons)]


def _word(one: Comparison, side: bool | None) -> Word:
    if not one.learned:
        return NOT_LEARNED
    return OPEN if side is None else HOLDS if side else FAILS


def holm(chances: Sequence[float]) -> list[float]:
    """P-values corrected for how many there are, in their order."""
    order = sorted(range(len(chances)), key=chances.__getitem__)
    corrected, largest = [0.0] * len(chances), 0.0
    for place, i in enumerate(order):
        largest = max(largest, min(1.0, (len(chances) - place) * chances[i]))
        corrected[i] = largest
    return corrected


def together(found: Iterable[Word], reach: Reach = "all") -> Word:
    """What several words say of one claim; models that did not learn are no case of it.

    all     holds where all hold, does not where one does not
    most    holds where more than half hold, does not where at least half do not
    any     holds where one holds, does not where none does for sure
    alike   holds where all hold, does not where all do not: what turns around when one case is left out is open
    """
    cases = list(found)
    known = [word for word in cases if word != NOT_LEARNED]
    if not known:
        return NOT_LEARNED if cases else OPEN
    held, failed, n = known.count(HOLDS), known.count(FAILS), len(known)
    needed = {"all": n, "most": n // 2 + 1, "any": 1, "alike": n}[reach]
    enough = n if reach == "alike" else n - needed + 1
    return HOLDS if held >= needed else FAILS if failed >= enough else OPEN


def mean_of(found: Sequence[Estimate]) -> Estimate | None:
    """The mean of numbers of several datasets, these and no others: the interval is over their texts."""
    if not found:
        return None
    n, value = len(found), sum(one.value for one in found) / len(found)
    low = value - hypot(*(one.value - one.low for one in found)) / n
    high = value + hypot(*(one.high - one.value for one in found)) / n
    return Estimate(value, low, high, min(one.n for one in found))


def apart(one: Estimate, other: Estimate) -> Estimate:
    """How much higher the first is, where the two are not paired: half intervals add as independent errors do."""
    gap = one.value - other.value
    low = gap - hypot(one.value - one.low, other.high - other.value)
    high = gap + hypot(one.high - one.value, other.value - other.low)
    return Estimate(gap, low, high, min(one.n, other.n))


def _chance(found: Estimate, bound: float, freedom: float | None = None) -> float:
    """The two-sided p-value of a bound: 0.05 where the interval just reaches it."""
    gap = found.value - bound
    half = found.value - found.low if gap > 0 else found.high - found.value
    if half <= 0:
        return 0.0 if gap else 1.0
    if freedom is not None:
        return float(2 * t.sf(t.isf(SURE / 2, freedom) * abs(gap) / half, freedom))
    return float(2 * norm.sf(_HALF * abs(gap) / half))

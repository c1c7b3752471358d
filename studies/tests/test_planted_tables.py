"""The verdicts of studies on planted numbers: a clear win, a clear loss, a tie, models at chance, one outlier."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import ttest_ind_from_stats

from assay.checks.roar import RoarResult
from assay.statistics.accuracies import Retrained, freedom, interval_of_difference
from assay.statistics.intervals import Estimate
from assay_studies.claims import higher
from assay_studies.double_trouble import page as double_trouble
from assay_studies.double_trouble.retraining import gaps
from assay_studies.judged import Judged, judged
from assay_studies.kept import Kept
from assay_studies.pathologies import page as pathologies
from assay_studies.rules import Comparison, Rule, Word, words
from assay_studies.specification import Values

_SHARES = (0.1, 0.2, 0.3)
_TEXTS = 872


def roar(im: Sequence[float], loo: Sequence[float]) -> RoarResult:
    """The same accuracies at every share."""
    rows = [Retrained(name, q, np.array(of)) for name, of in (("im", im), ("loo", loo)) for q in _SHARES]
    return RoarResult(rows=tuple(rows), whole=(0.9,), texts=_TEXTS)


@pytest.mark.parametrize(
    ("im", "loo", "word"),
    [
        ((0.80, 0.801, 0.799), (0.70, 0.702, 0.698), "holds"),
        ((0.70, 0.702, 0.698), (0.80, 0.801, 0.799), "does not hold"),
        ((0.75, 0.74, 0.76), (0.75, 0.76, 0.74), "open"),
        ((0.80, 0.801, 0.799), (0.51, 0.505, 0.50), "not learned"),
        ((0.80, 0.801, 0.72), (0.70, 0.702, 0.698), "open"),  # one of three models learned badly
        ((0.80, 0.801, 0.52), (0.70, 0.702, 0.698), "not learned"),  # with it the mean may be at chance
    ],
)
def test_retrained_models_decide_over_their_seeds(im: Sequence[float], loo: Sequence[float], word: Word) -> None:
    evidence = gaps({"ROAR": roar(im, loo)}, ("IM", "im"), ("LOO_empty", "loo"), higher, 51.0)
    comparisons = [one.of("SST-2") for one in evidence]
    assert words(comparisons) == [word] * 3
    assert [one.published for one in comparisons] == ["1.63", "1.13", "-1.35"]
    (sentence,) = (one for one in double_trouble.PAGE.sentences if one.key == "roar")
    assert judged(sentence, comparisons).word == word


def test_an_interval_over_seeds_has_the_tails_of_student() -> None:
    """Among six comparisons p must be 0.0083; three seeds reach it less easily than many texts do."""
    one, other = np.array([0.80, 0.81, 0.79]), np.array([0.765, 0.775, 0.755])
    low, high = interval_of_difference(one, other, _TEXTS)
    found = Comparison("", Estimate(0.035, low, high, _TEXTS), Rule("above"), freedom=freedom(one, other, _TEXTS))
    assert found.estimate is not None
    assert found.rule is not None
    p = ttest_ind_from_stats(0.80, 0.01, 3, 0.765, 0.01, 3, equal_var=False).pvalue
    assert found.rule.leaning(found.estimate, found.freedom)[1] == pytest.approx(p)
    assert found.rule.leaning(found.estimate)[1] < 0.0083 / 2 < p
    assert words([found]) == ["holds"]
    assert words([found] * 6) == ["open"] * 6


def test_freedom_is_kept_beside_the_page() -> None:
    few = Comparison("a", Estimate(0.04, 0.02, 0.06, _TEXTS), Rule("above"), freedom=3.5)
    many = Comparison("b", Estimate(0.04, 0.02, 0.06, _TEXTS), Rule("above"))
    with_seeds, without = (
        Kept({}, {"key": some}, {}).files()["claims.csv"].decode() for some in ((few, many), (many,))
    )
    assert with_seeds.splitlines()[0] == f"{without.splitlines()[0]},freedom"
    assert [line.rsplit(",", 1)[1] for line in with_seeds.splitlines()[1:]] == ["3.5", ""]


def _planted(mean: float, spread: float, n: int = 200, outlier: float | None = None) -> Estimate:
    """Of texts around a mean; the last may be far away."""
    values = mean + spread * np.resize([-1.0, 1.0], n)
    values[-1] = values[-1] if outlier is None else outlier
    found = Values(values).estimate()
    assert found is not None
    return found


def transfer(reduced_less_random: Estimate) -> Judged:
    """The sentence on transfer of the study of Feng et al., with its ceiling beside it."""
    (sentence,) = (one for one in pathologies.PAGE.sentences if one.key == "transfer")
    shown = {"share kept, reduced": 0.6, "the ceiling: share of whole texts on which both agree": 0.65}
    more = [Comparison("SNLI", _planted(mean, 0.1), name=name) for name, mean in shown.items()]
    decides = Comparison("SNLI", reduced_less_random, higher, "share kept, reduced - random")
    return judged(sentence, [decides, *more])


@pytest.mark.parametrize(
    ("found", "word"),
    [
        (_planted(0.2, 0.1), "holds"),
        (_planted(-0.2, 0.1), "does not hold"),
        (_planted(0.001, 0.5), "open"),
        (_planted(0.02, 0.01, outlier=-3.0), "open"),  # one text against all others widens the interval over zero
        (_planted(0.2, 0.1, n=19), "open"),
    ],
)
def test_reduced_texts_carry_over_or_not(found: Estimate, word: Word) -> None:
    seen = transfer(found)
    assert seen.word == word
    assert "reduced texts 0.600" in seen.ours
    assert "the ceiling, whole texts 0.650" in seen.ours


def test_a_tie_within_a_limit_is_told_from_one_that_is_not_known() -> None:
    """ "Within a word" needs the whole interval inside, a difference of zero with wide ends does not do."""
    limit = Rule("within", 1.0)
    assert words([Comparison("", _planted(0.1, 0.5), limit)]) == ["holds"]
    assert words([Comparison("", _planted(0.0, 30.0), limit)]) == ["open"]
    assert words([Comparison("", _planted(3.0, 0.5), limit)]) == ["does not hold"]

"""Verdicts on planted tables, and that each committed page is what its committed tables give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from assay.statistics.intervals import Estimate
from assay_studies import STUDIES
from assay_studies.judged import Sentence, judged
from assay_studies.kept import Kept
from assay_studies.pages import find_page
from assay_studies.rules import Comparison, Rule, Word, apart, holm, mean_of, together, words

PAGES = Path(__file__).parents[2] / "docs" / "studies"
HIGHER = Rule("above")


def _at(value: float, half: float, n: int = 100) -> Estimate:
    return Estimate(value, value - half, value + half, n)


def _one(estimate: Estimate | None, about: str = "SST", **more: object) -> Comparison:
    return Comparison(about, estimate, HIGHER, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "word"),
    [
        (_at(0.5, 0.1), "holds"),
        (_at(-0.5, 0.1), "does not hold"),
        (_at(0.05, 0.1), "open"),
        (_at(0.5, 0.1, n=19), "open"),
        (None, "open"),
    ],
)
def test_a_win_a_loss_a_tie_few_texts_and_nothing(found: Estimate | None, word: Word) -> None:
    assert words([_one(found)]) == [word]


def test_a_point_estimate_or_a_favourable_end_decides_nothing() -> None:
    assert words([Comparison("", Estimate(0.02, -0.05, 0.09, 500), Rule("below", 0.03))]) == ["open"]
    assert words([Comparison("", Estimate(-0.05, -0.08, -0.02, 500), Rule("above", -0.03))]) == ["open"]


def test_a_model_at_chance_is_not_learned_and_enters_nothing() -> None:
    chance = _one(_at(0.5, 0.1), "bAbI 3", performance=_at(0.21, 0.03), commonest=0.215)
    good = _one(_at(0.5, 0.1), performance=_at(0.8, 0.03), commonest=0.5)
    assert words([chance, good]) == ["not learned", "holds"]
    found = judged(Sentence(key="", short=""), [chance, good])
    assert (found.word, found.ours) == ("holds", "0.500 [0.400, 0.600]")
    assert "not learned: bAbI 3" in found.verdict
    assert judged(Sentence(key="", short=""), [chance]).word == "not learned"


def test_holm_is_that_of_statsmodels() -> None:
    chances = np.random.default_rng(0).uniform(0, 0.2, size=9).tolist()
    assert holm(chances) == pytest.approx(multipletests(chances, method="holm")[1].tolist())


def test_several_comparisons_are_corrected_together() -> None:
    barely = _at(0.105, 0.1)  # p = 0.04: enough alone, not among five
    assert words([_one(barely)]) == ["holds"]
    assert words([_one(barely) for _ in range(5)]) == ["open"] * 5
    assert words([_one(_at(0.5, 0.1)) for _ in range(5)]) == ["holds"] * 5


def test_one_collapsed_adversary_does_not_decide() -> None:
    bend, without = _one(_at(0.12, 0.01), name="bend"), _one(_at(-0.01, 0.005), name="without")
    assert judged(Sentence(key="", short="", within="alike"), [bend, without]).word == "open"
    steady = _one(_at(0.11, 0.01), name="without")
    assert judged(Sentence(key="", short="", within="alike"), [bend, steady]).word == "holds"


def test_a_setting_chosen_afterwards_is_told_and_does_not_decide() -> None:
    first = Comparison("20 News", _at(0.036, 0.025), Rule("below", 0.03), "8 epochs")
    later = Comparison("20 News", _at(0.010, 0.016), Rule("below", 0.03), aside="30 epochs, chosen afterwards")
    found = judged(Sentence(key="", short=""), [first, later])
    assert found.word == "open"
    assert "+0.010 [-0.006, +0.026]: 30 epochs, chosen afterwards" in found.verdict
    assert found.ours == "0.036 [0.011, 0.061]"


def test_a_claim_in_reverse_is_judged_as_the_paper_made_it() -> None:
    others, exception = _one(_at(0.3, 0.1)), Comparison("SNLI", _at(0.145, 0.02), Rule("below"))
    assert words([others, exception]) == ["holds", "does not hold"]


def test_words_together() -> None:
    def said(*some: Word) -> list[Word]:
        return [together(some, reach) for reach in ("all", "most", "any", "alike")]

    assert said("holds", "holds", "holds") == ["holds"] * 4
    assert said("holds", "holds", "does not hold") == ["does not hold", "holds", "holds", "open"]
    assert said("holds", "open", "open") == ["open", "open", "holds", "open"]
    assert said("does not hold", "does not hold", "not learned") == ["does not hold"] * 4
    assert said() == ["open"] * 4


def test_unpaired_differences_and_means() -> None:
    gap = apart(_at(0.5, 0.03), _at(0.2, 0.04))
    assert (gap.value, gap.low, gap.high) == pytest.approx((0.3, 0.25, 0.35))
    mean = mean_of([_at(0.1, 0.03), _at(0.3, 0.04)])
    assert mean is not None
    assert (mean.value, mean.low) == pytest.approx((0.2, 0.175))
    assert mean_of([]) is None


@pytest.mark.parametrize("name", [name for name in STUDIES if (PAGES / name).is_dir()])  # the others were not run yet
def test_the_committed_page_is_what_the_committed_tables_give(name: str) -> None:
    kept = Kept.read(PAGES / name / "tables")
    assert find_page(name).text(name, kept) == (PAGES / f"{name}.md").read_text(encoding="utf-8"), (
        f"write it anew: assay study {name} --page docs/studies/{name}"
    )
    for key, data in kept.files().items():
        assert (PAGES / name / "tables" / key).read_bytes() == data
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    for picture in (one.split(")")[0] for one in page.split("](")[1:] if ".png)" in one[: one.find(")") + 1]):
        assert (PAGES / picture).is_file(), picture

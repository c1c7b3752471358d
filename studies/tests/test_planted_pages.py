"""The page of every study on planted numbers: a clear win, a clear loss, a tie, models at chance, one outlier.

The claims are those of the committed tables with their rules; only the numbers are planted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assay.statistics.intervals import Estimate
from assay_studies import STUDIES
from assay_studies.judged import judged
from assay_studies.kept import Kept
from assay_studies.pages import find_page
from assay_studies.rules import Comparison, Rule
from assay_studies.specification import Values

PAGES = Path(__file__).parents[2] / "docs" / "studies"
Plant = Callable[[Rule], Estimate]


def _around(value: float, half: float) -> Estimate:
    return Estimate(value, value - half, value + half, 100)


def _win(rule: Rule) -> Estimate:
    return _around({"above": rule.bound + 1, "below": rule.bound - 1, "within": 0.0}[rule.side], _narrow(rule))


def _loss(rule: Rule) -> Estimate:
    return _around(
        {"above": rule.bound - 1, "below": rule.bound + 1, "within": 3 * rule.bound}[rule.side], _narrow(rule)
    )


def _narrow(rule: Rule) -> float:
    return 0.1 * rule.bound if rule.side == "within" else 0.1


def _tie(rule: Rule) -> Estimate:
    return _around(rule.bound, 0.1 * (rule.bound or 1))


def _outlier(rule: Rule) -> Estimate:
    """On the claimed side in all texts but one, which alone is so far on the other that it may decide."""
    won, lost = _win(rule).value, _loss(rule).value
    found = Values(np.array([won] * 99 + [won + 60 * (lost - won)])).estimate()
    assert found is not None
    return found


def _planted(one: Comparison, plant: Plant, learned: float = 0.1) -> Comparison:
    """By a model so much better than chance; what stood aside decides too, or nothing would be planted in it."""
    if one.rule is None:
        return one
    performance = None if one.commonest is None else _around(one.commonest + learned, 0.01)
    return replace(one, estimate=plant(one.rule), aside="", freedom=None, performance=performance)


@pytest.mark.parametrize("name", [name for name in STUDIES if (PAGES / name).is_dir()])
@pytest.mark.parametrize(
    ("plant", "word"), [(_win, "holds"), (_loss, "does not hold"), (_tie, "open"), (_outlier, "open")]
)
def test_every_claim_of_every_page_is_decided_by_its_numbers(name: str, plant: Plant, word: str) -> None:
    kept, page = Kept.read(PAGES / name / "tables"), find_page(name)
    for sentence in page.sentences:
        comparisons = [_planted(one, plant) for one in kept.claims.get(sentence.key, ())]
        if any(one.decides and one.about not in sentence.beyond for one in comparisons):
            found = judged(sentence, comparisons)
            assert found.word == word, sentence.key
            text = page.text(name, replace(kept, claims={**kept.claims, sentence.key: tuple(comparisons)}))
            assert f"\n### {sentence.short}\n\n**{word}**" in text


@pytest.mark.parametrize("name", [name for name in STUDIES if (PAGES / name).is_dir()])
def test_models_at_chance_decide_no_claim(name: str) -> None:
    kept = Kept.read(PAGES / name / "tables")
    for sentence in find_page(name).sentences:
        known = [one for one in kept.claims.get(sentence.key, ()) if one.commonest is not None and one.rule is not None]
        asked = [one for one in known if one.about not in sentence.beyond]
        if asked:
            chance = [_planted(one, _win, learned=0.0) for one in asked]
            assert judged(sentence, chance).word == "not learned", sentence.key

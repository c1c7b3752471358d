"""The numbers of the ERASER benchmark (DeYoung et al. 2020, arXiv:1911.03429), by slow loops from paper and code.

Faithfulness: the drop of the predicted label's probability for each share of the tokens, averaged over the shares and
then over the texts (AOPC). Plausibility: token F1, per text and then averaged; AUPRC, the area under precision and
recall by trapezoids.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from assay.checks.human_agreement import HumanAgreement
from assay.data.highlights import Highlights
from assay.engine.engine import Engine
from assay.explanations.about import About
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.models import BlackBox
from assay.registry.finding import find_check
from assay.registry.measured import Measured
from assay.text.example import Example, Mark

SHARES = (0.01, 0.05, 0.1, 0.2, 0.5)
TEXTS = ["good film", "a dull and slow film with a good cast", " ".join(f"w{i}" for i in range(100)), "bad"]
scores = st.lists(st.one_of(st.integers(-3, 3).map(float), st.floats(-5, 5)), min_size=1, max_size=12)


def chance(text: str) -> float:
    """The probability of label 1: any function of the words and of their order will do."""
    total = sum((hash_of(word) - 0.5) * (1 + i / 10) for i, word in enumerate(text.split()))
    return float(1 / (1 + np.exp(-total)))


def hash_of(word: str) -> float:
    return (sum(ord(c) * 31**i for i, c in enumerate(word)) % 1009) / 1009


MODEL = BlackBox(lambda texts: np.array([chance(text) for text in texts]), labels=["n", "p"])


def rounded_up(share: float, n: int) -> int:
    """As many tokens as the share makes: the smallest whole number that is not less, 7 for 0.07 of 100."""
    count = 0
    while count + 1e-6 < share * n:
        count += 1
    return count


def drops(text: str, importance: Any, label: int, keep_best: bool) -> list[float]:
    """For each share: the probability of the whole text less that of the rationale alone, or of the text without it."""
    words = text.split()
    order = sorted(range(len(words)), key=lambda i: -importance[i])  # a stable sort: among equals the earlier
    whole = [1 - chance(text), chance(text)][label]
    found = []
    for share in SHARES:
        best = set(order[: rounded_up(share, len(words))])
        left = " ".join(word for i, word in enumerate(words) if (i in best) == keep_best)
        found.append(whole - [1 - chance(left), chance(left)][label])
    return found


@pytest.mark.parametrize(("name", "keep_best"), [("comprehensiveness", False), ("sufficiency", True)])
@pytest.mark.parametrize("label", [0, 1])
def test_comprehensiveness_and_sufficiency_are_aopc(name: str, keep_best: bool, label: int) -> None:
    maps, expected = [], []
    for seed, text in enumerate(TEXTS):
        importance = np.round(np.random.default_rng(seed).normal(size=len(text.split())), 1)
        maps.append(TokenScores(Case(assay.Text.of(text), label), importance))
        expected.append(drops(text, importance, label, keep_best))
    check = find_check(name).make({"shares": SHARES})
    found = [outcome.get() for outcome in Engine(MODEL).run(check.examine(e) for e in maps)]
    np.testing.assert_allclose(found, np.mean(expected, axis=1), atol=1e-6)
    # The benchmark's code: over the flattened array, or by share and then across: all the same.
    assert np.mean(found) == pytest.approx(np.average(np.array(expected)), abs=1e-6)
    one_by_one = [find_check(name).make({"shares": (share,)}) for share in SHARES]
    points = [[o.get() for o in Engine(MODEL).run(one.examine(e) for e in maps)] for one in one_by_one]
    np.testing.assert_allclose(points, np.transpose(expected), atol=1e-6)


def measured(importance: list[float], gold: set[int], metric: str, threshold: float | None = None) -> float:
    text = assay.Text.of(" ".join(f"w{i}" for i in range(len(importance))))
    e = TokenScores(Case(text, 1), np.array(importance), about=About(method="m", labels=("a", "b")))
    marks = tuple(Mark(0, *e.spans[i]) for i in sorted(gold))
    highlights = Highlights.of([Example("", e.strings, None, (marks,))])
    check = HumanAgreement(highlights=highlights, metric=metric, threshold=threshold)  # type: ignore[arg-type]
    with pytest.raises(StopIteration) as stop:
        next(check.prepare([e]).examine(e))
    told = stop.value.value
    assert isinstance(told, Measured)
    return float(told.score)


@settings(max_examples=60)
@given(scores, st.sets(st.integers(0, 11), min_size=1))
def test_token_f1(importance: list[float], words: set[int]) -> None:
    """Of one text; the benchmark's macro average is the mean of these over the texts."""
    gold = {i for i in words if i < len(importance)} or {0}
    top = max(importance)
    chosen = {i for i, score in enumerate(importance) if top > 0 and score / top >= 0.5}
    hits = sum(1 for i in chosen if i in gold)
    precision = hits / len(chosen) if chosen else 0
    recall = hits / len(gold)
    f1 = 0 if precision == 0 or recall == 0 else 2 * precision * recall / (precision + recall)
    assert measured(importance, gold, "f1", 0.5) == pytest.approx(f1, abs=1e-12)
    assert measured(importance, gold, "precision", 0.5) == pytest.approx(precision, abs=1e-12)
    assert measured(importance, gold, "recall", 0.5) == pytest.approx(recall, abs=1e-12)


def trapezoids(importance: list[float], gold: set[int]) -> float:
    """A point of the curve for every score as threshold, and precision 1 at recall 0; straight lines between them."""
    points = [(0.0, 1.0)]
    for threshold in sorted(set(importance), reverse=True):
        chosen = {i for i, score in enumerate(importance) if score >= threshold}
        points.append((len(chosen & gold) / len(gold), len(chosen & gold) / len(chosen)))
    return sum((r1 - r0) * (p0 + p1) / 2 for (r0, p0), (r1, p1) in pairwise(points))


@settings(max_examples=60)
@given(scores, st.sets(st.integers(0, 11), min_size=1))
def test_auprc_is_the_area_by_trapezoids(importance: list[float], words: set[int]) -> None:
    gold = {i for i in words if i < len(importance)} or {0}
    assert measured(importance, gold, "auprc") == pytest.approx(trapezoids(importance, gold), abs=1e-12)


def test_auprc_is_that_of_scikit_learns_curve() -> None:
    from sklearn.metrics import auc, precision_recall_curve

    rng = np.random.default_rng(0)
    for _ in range(40):
        importance = np.round(rng.normal(size=12), 1).tolist()
        gold = set(rng.choice(12, rng.integers(1, 12), replace=False).tolist())
        precision, recall, _ = precision_recall_curve([i in gold for i in range(12)], importance)
        assert measured(importance, gold, "auprc") == pytest.approx(auc(recall, precision), abs=1e-12)

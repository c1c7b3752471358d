"""What the trust card says: of disagreement, of too few samples, of single words, of erasers, of small effects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import assay
from assay.explanations.about import About
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.statistics.verdict import Verdict
from assay.text.text import Text
from assay.verdicts.standing import Standing
from assay.verdicts.trust_card import TrustCard
from assay.views.strip import strip
from assay.views.trust import page, tag

WORDS = "one two three four five six"


def verdict(name: str, place: float = 2.0, check: str = "deletion", eraser: str = "mask") -> Verdict:
    random = np.arange(100)[None, :] / 100
    return Verdict(name, check, "higher", np.array([place]), random, parameters={"eraser": eraser})


def standing(name: str, scores: list[float], *, warnings: tuple[str, ...] = (), eraser: str = "delete") -> Standing:
    text = Text.of(" ".join(WORDS.split()[: len(scores)]))
    about = About(method=name, title=name.upper(), parameters={"eraser": eraser}, labels=("a", "b"))
    e = TokenScores(Case(text, 0), np.array(scores), warnings=warnings, about=about, prediction={"a": 0.8, "b": 0.2})
    return Standing(name, name.upper(), (e,), (verdict(name), verdict(name, check="insertion")))


def test_maps_that_pass_and_disagree_are_the_headline_with_the_words_they_share() -> None:
    card = TrustCard((standing("x", [9, 1, 2, 3, 4, 5]), standing("y", [9, 5, 4, 3, 2, 1])))
    assert card.agreement.tau[0, 1] < 0.3
    assert "But X and Y both pass and order the words differently (τ −0.33)" in card.summary
    assert "rely on “one” alone, which all that pass find strong." in card.summary
    apart = TrustCard((standing("x", [1, 2, 3, 4, 5, 6]), standing("y", [6, 5, 4, 3, 2, 1])))
    assert "they share no strong word." in apart.summary
    alike = TrustCard((standing("x", [1, 2, 3, 4, 5, 6]), standing("y", [1, 2, 3, 4, 6, 5])))
    assert "order the words differently" not in alike.summary


def test_too_few_samples_are_said_instead_of_a_pass() -> None:
    few = standing("lime", [1, 2, 3, 4, 5, 6], warnings=("too few samples: 6 words need more",))
    assert few.level == "open"
    assert tag(few) == ("?", "too few samples")
    assert "too few samples for so many words" in few.sentence
    assert "had too few samples" in TrustCard((few,)).summary
    assert "? too few samples" in _shown(page(TrustCard((few,))))


@pytest.mark.parametrize(("method", "samples"), [("lime", 59), ("kernel_shap", 47)])
def test_methods_that_sample_know_when_they_have_too_few(method: str, samples: int) -> None:
    model = assay.BlackBox(
        lambda rows: np.array([[1 / (1 + len(t.split())), len(t.split()) / (1 + len(t.split()))] for t in rows]),
        labels=["no", "yes"],
    )
    text = " ".join(f"w{i}" for i in range(12))
    settings = {"exact_up_to": 2} if method == "kernel_shap" else {}
    (short,) = assay.explain(model, text, method, samples=samples, **settings).warnings
    assert short.startswith("too few samples: 12 words need at least")
    assert not assay.explain(model, text, method, samples=samples + 1, **settings).warnings


def test_a_single_word_gets_one_answer() -> None:
    card = TrustCard((standing("x", [1.0]), standing("y", [2.0])))
    assert card.summary == "Every map of a single word says the same, so there is nothing to test: give a longer text."
    assert {one.level for one in card.standings} == {"open"}
    assert set(card.sentences.values()) == {"Nothing to test: every map of a single word says the same."}


def test_the_note_on_the_same_eraser_stands_once() -> None:
    card = TrustCard((standing("x", [1, 2, 3], eraser="mask"), standing("y", [3, 2, 1], eraser="mask")))
    shown = _shown(page(card))
    assert shown.count("same eraser") == 1
    assert "same eraser: X and Y take words away as Deletion by mask and Insertion by mask do" in shown
    alone = TrustCard((standing("x", [1, 2, 3], eraser="mask"), standing("y", [3, 2, 1])))
    assert _shown(page(alone)).count("same eraser") == 1


def test_the_page_says_what_it_is_about_and_draws_the_threshold() -> None:
    html = page(TrustCard((standing("x", [1, 2, 3, 4, 5, 6]),)))
    assert "not whether the model is right" in html
    assert html.count('class="threshold"') == 2
    drawn = strip(verdict("x", 0.97))
    assert drawn.threshold is not None
    assert drawn.threshold < drawn.own
    below = strip(verdict("x", 0.90))
    assert below.threshold is not None
    assert below.own < below.threshold


def test_the_threshold_parts_what_passes_from_what_does_not() -> None:
    rng = np.random.default_rng(0)
    for better in ("higher", "lower"):
        for _ in range(200):
            v = Verdict("m", "c", better, rng.standard_normal(1) * 1.5, rng.standard_normal((1, 99)))  # type: ignore[arg-type]
            drawn = strip(v)
            assert drawn.threshold is not None
            if abs(drawn.own - drawn.threshold) > 0.2:  # places are rounded
                assert (drawn.own > drawn.threshold) == v.passed


def test_an_effect_is_judged_by_its_size_not_by_its_p_value() -> None:
    rng = np.random.default_rng(1)
    random = rng.normal(0.191, 0.2, (4000, 5))
    little = Verdict("m", "deletion", "lower", rng.normal(0.167, 0.2, 4000), random)
    assert little.passed
    assert little.p_value < 0.01
    assert little.effect == "negligible"
    large = Verdict("m", "deletion", "lower", rng.normal(-0.3, 0.2, 4000), random)
    assert large.effect == "large"
    assert large.to_dict()["effect"] == "large"


def _shown(html: str) -> str:
    """The text of a page."""
    import re

    return " ".join(re.sub(r"<[^>]+>", " ", re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)).split())


def test_cliffs_delta_against_a_double_loop() -> None:
    rng = np.random.default_rng(2)
    own, random = rng.integers(0, 5, 7).astype(float), rng.integers(0, 5, (7, 9)).astype(float)
    v: Any = Verdict("m", "c", "lower", own, random)
    wins = sum((r > s) + 0.5 * (r == s) for s, row in zip(own, random, strict=True) for r in row)
    assert v.ahead == pytest.approx(wins / random.size)

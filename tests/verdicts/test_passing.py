"""What it takes to pass on one text: half of the tests, and clearly the one that every score enters."""

from __future__ import annotations

import numpy as np
import pytest

from assay.explanations.about import About
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.statistics.verdict import Verdict
from assay.text.text import Text
from assay.verdicts.standing import Standing

TEXT = Text.of("a b c d e f g h i j")
TESTS = ("comprehensiveness", "deletion", "insertion", "sufficiency")


def verdict(check: str, beaten: int, draws: int = 100, texts: int = 1) -> Verdict:
    """Ahead of so many of the random maps."""
    random = np.tile(np.arange(draws, dtype=float), (texts, 1))
    return Verdict("m", check, "higher", np.full(texts, beaten - 0.5), random)


def level(passed: int, infidelity: int | None, draws: int = 100, texts: int = 1) -> str:
    e = TokenScores(Case(TEXT, 0), np.arange(10.0), about=About(method="m"))
    found = [verdict(name, draws if i < passed else draws // 2, draws, texts) for i, name in enumerate(TESTS)]
    if infidelity is not None:
        found.append(verdict("infidelity", infidelity, draws, texts))
    return Standing("m", "M", (e,) * texts, tuple(found)).level


@pytest.mark.parametrize(
    ("passed", "infidelity", "expected"),
    [
        (4, 100, "yes"),
        (2, 99, "yes"),  # half of the tests, infidelity among them, and one random map as good
        (2, 98, "partly"),  # better than random in infidelity, but not clearly
        (4, 96, "partly"),
        (4, 50, "partly"),
        (1, 100, "no"),
        (3, None, "yes"),  # without infidelity three quarters
        (2, None, "partly"),
    ],
)
def test_one_text(passed: int, infidelity: int | None, expected: str) -> None:
    assert level(passed, infidelity) == expected


def test_of_few_random_maps_it_must_be_ahead_of_all() -> None:
    assert level(4, 40, draws=40) == "yes"
    assert level(4, 39, draws=40) == "partly"


def test_over_several_texts_it_takes_three_quarters() -> None:
    assert level(2, 100, texts=30) == "partly"
    assert level(3, 100, texts=30) == "yes"


def test_the_sentence_says_why_a_map_that_passes_most_tests_is_a_hint() -> None:
    e = TokenScores(Case(TEXT, 0), np.arange(10.0), about=About(method="m"))
    found = (*tuple(verdict(name, 100) for name in TESTS), verdict("infidelity", 96))
    assert "not clearly in infidelity" in Standing("m", "M", (e,), found).sentence


def test_random_maps_hardly_ever_pass() -> None:
    """Maps of words of which one decides: the worst case, as the tests of the first words pass together."""
    rng = np.random.default_rng(0)
    passes, trials, n, draws = 0, 2000, 20, 100
    effect = np.zeros(n)
    effect[3], effect[7] = 4.0, -1.0
    gone = rng.random((128, n)) < rng.random((128, 1))
    lost = gone @ effect + rng.standard_normal(128)

    def scores(maps: np.ndarray) -> dict[str, np.ndarray]:
        first = np.array([effect[np.argsort(-one)[:4]].cumsum().mean() for one in maps])
        forecast = maps @ gone.T
        factor = (forecast @ lost) / (forecast**2).sum(axis=1)
        error = ((factor[:, None] * forecast - lost) ** 2).mean(axis=1)
        return dict.fromkeys(TESTS, first) | {"infidelity": -error}

    random, own = scores(rng.standard_normal((draws, n))), scores(rng.standard_normal((trials, n)))
    e = TokenScores(Case(Text.of("w " * n), 0), np.arange(float(n)), about=About(method="m"))
    for i in range(trials):
        found = [Verdict("m", name, "higher", own[name][i : i + 1], random[name][None]) for name in random]
        passes += Standing("m", "M", (e,), tuple(found)).level == "yes"
    assert passes <= trials / 100

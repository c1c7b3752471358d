"""The card of a long text: by its sentences, then by the words inside the strongest ones."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import assay
from assay import BlackBox, TrustCard
from assay.engine.engine import Engine
from assay.progress import forecast
from assay.verdicts.long_text import LONG
from assay.views.trust_terminal import trusted

WEIGHTS = {"superb": 2.0, "good": 1.0, "mess": -3.0, "dull": -1.5}
DULL = "people walk down one more street in the rain."
SENTENCES = (
    [DULL] * 5 + ["but the script is an awful mess, I fear."] + [DULL] * 5 + ["she is superb, and good."] + [DULL] * 2
)
REVIEW = " ".join(SENTENCES)


def chances(texts: Sequence[str]) -> np.ndarray[Any, Any]:
    values = np.array([sum(weight * text.count(word) for word, weight in WEIGHTS.items()) for text in texts])
    positive = 1 / (1 + np.exp(-values))
    return np.stack([1 - positive, positive], axis=1)


MODEL = BlackBox(chances, labels=["negative", "positive"], name="lexicon")


@pytest.fixture(scope="module")
def card() -> TrustCard:
    return assay.trust(MODEL, REVIEW, ["leave_one_out", "lime", "random"], target="negative", progress=False)


def test_it_goes_by_sentences_and_says_so(card: TrustCard) -> None:
    assert len(assay.Text.of(REVIEW)) > LONG
    assert card.first.words == tuple(SENTENCES)
    assert card.how.startswith(
        f"This text has {len(assay.Text.of(REVIEW))} words: the card goes by its 14 sentences first"
    )
    assert "by the words of the 2 strongest sentences" in card.how
    assert card.explanations["leave_one_out"][0].top(1) == (SENTENCES[5],)
    assert card.to_dict()["unit"] == "sentence"


def test_the_words_inside_are_those_of_the_strongest_sentences(card: TrustCard) -> None:
    assert card.inside is not None
    inside = card.inside.explanations["leave_one_out"][0]
    assert str(inside.text) == f"{SENTENCES[5]} … {SENTENCES[11]}"
    assert inside.top(1) == ("mess",)
    assert inside.prediction == card.first.prediction


def test_the_words_inside_have_the_scores_that_they_have_in_the_whole_text(card: TrustCard) -> None:
    assert card.inside is not None
    inside = card.inside.explanations["leave_one_out"][0]
    whole = assay.explain(MODEL, REVIEW, "leave_one_out", target="negative")
    at = [i for i, (a, _) in enumerate(whole.spans) if SENTENCES[5].startswith("but") and a >= REVIEW.index("but the")]
    first = whole.scores[at[0] : at[0] + 10]
    assert inside.scores[:10] == pytest.approx(first, abs=1e-9)


def test_inside_words_are_taken_away_only(card: TrustCard) -> None:
    assert card.inside is not None
    asked = {v.check for v in card.inside.verdicts["leave_one_out"]}
    assert asked == {"comprehensiveness", "deletion", "infidelity"}


def test_true_maps_pass_and_random_ones_do_not(card: TrustCard) -> None:
    levels = {standing.name: standing.level for standing in card.standings}
    assert levels["leave_one_out"] in ("yes", "partly")
    assert levels["random"] in ("no", "open")


def test_every_random_map_is_of_the_same_sentences(card: TrustCard) -> None:
    assert {v.random_scores.shape for v in card.verdicts["lime"]} == {(1, 40)}


def test_it_asks_a_fraction_of_the_rows() -> None:
    parts, words = Engine(MODEL), Engine(MODEL)
    methods = ["leave_one_out"]
    assay.trust(MODEL, REVIEW, methods, engine=parts, progress=False)
    assay.trust(MODEL, REVIEW, methods, engine=words, every_word=True, progress=False)
    assert parts.totals.forwards < words.totals.forwards / 2


def test_short_texts_and_units_of_ones_own_are_as_they_were() -> None:
    short = assay.trust(MODEL, "a good film but a mess", ["leave_one_out"], progress=False)
    own = assay.trust(MODEL, REVIEW, ["leave_one_out"], ["deletion"], split="phrases", progress=False)
    assert not short.how
    assert not own.how
    assert short.inside is own.inside is None


def test_given_scores_of_words_are_summed_by_sentence() -> None:
    words = assay.Text.of(REVIEW).words
    scores = {"mine": [(word, float(word == "mess")) for word in words]}
    card = assay.trust(MODEL, REVIEW, scores=scores, progress=False)
    assert card.first.words == tuple(SENTENCES)
    assert card.first.scores.tolist() == [float("mess" in sentence) for sentence in SENTENCES]
    assert card.inside is None


def test_the_views_show_both_levels(card: TrustCard) -> None:
    out = StringIO()
    Console(file=out, width=80, highlight=False).print(trusted(card))
    shown = " ".join(out.getvalue().split())
    page = card.to_html()
    for part in ("The words inside the strongest sentences", "the card goes by its 14 sentences first"):
        assert part in shown
        assert part in page
    assert max(map(len, out.getvalue().splitlines())) <= 80


def test_a_forecast_says_how_long_without_a_terminal(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "assay.progress")
    with forecast(100, "work") as bar:
        bar.began -= 50
        bar.show.__closure__[0].cell_contents[0] -= 50  # as if fifty seconds had passed
        bar.at(50)
        assert caplog.messages == ["work: 50 % done, about 50 s left"]
        bar.at(300)
        assert bar.total > 300


@pytest.mark.parametrize("other", [REVIEW[::-1], "a good film but a mess"])
def test_a_long_text_among_several_goes_by_its_sentences(other: str) -> None:
    card = assay.trust(MODEL, [REVIEW, other], ["leave_one_out"], target="negative", draws=4, progress=False)
    assert card.explanations["leave_one_out"][0].words == tuple(SENTENCES)
    assert len(card.explanations["leave_one_out"][1].words) < LONG
    assert "more than 100 words" in card.how
    assert card.unit == "part"
    assert card.inside is None


def test_the_list_says_how_many_texts_are_long() -> None:
    short = ["a good film but a mess", "dull and good"]
    mixed = assay.trust(MODEL, [REVIEW, *short], ["leave_one_out"], ["deletion"], draws=4, progress=False)
    alike = assay.trust(MODEL, [REVIEW, f"{DULL} {REVIEW}"], ["leave_one_out"], ["deletion"], draws=4, progress=False)
    words = assay.trust(MODEL, [REVIEW, *short], ["leave_one_out"], ["deletion"], draws=4, every_word=True)
    assert mixed.how.startswith("1 of 3 texts has more than 100 words: scores are of its sentences")
    assert alike.how == "Each of these texts has more than 100 words: scores are of their sentences."
    assert alike.unit == "sentence"
    assert not words.how
    assert assay.trust(MODEL, short, ["leave_one_out"], ["deletion"], draws=4, progress=False).how == ""


def test_inside_the_parts_random_maps_are_fewer_where_each_is_asked_for(card: TrustCard) -> None:
    assert card.inside is not None
    draws = {v.check: v.random_scores.shape[1] for v in card.inside.verdicts["leave_one_out"]}
    assert draws == {"comprehensiveness": 20, "deletion": 20, "infidelity": 40}


def test_default_methods_get_the_rows_that_the_words_inside_need() -> None:
    card = assay.trust(MODEL, REVIEW, target="negative", progress=False)
    assert card.inside is not None
    words = len(card.inside.first.words)
    own = {standing.name: standing.first.about.parameters for standing in card.inside.standings}
    asked = {name: parameters["samples"] for name, parameters in own.items() if "samples" in parameters}
    assert asked.items() <= {"lime": 5 * words, "kernel_shap": 4 * words}.items()
    assert not any(standing.too_few_samples for standing in card.inside.standings)

"""Input marginalization: by hand, and with tiny models against the equation read word by word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import tiny
from scipy.special import expit

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput, Unanswerable
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.methods.input_features.input_marginalization import InputMarginalization
from assay.models import BlackBox
from assay.questions.answers import Fills, Predictions
from assay.questions.erasers import each
from assay.questions.fill import Fill
from assay.questions.predict import Predict
from assay.text.text import Text
from assay.text.variants import Variants

SILENT = BlackBox(lambda texts: texts, labels=["n", "p"])
FILLS = [
    Fills((("bad", "good"),), np.array([[0.6, 0.2]])),
    Fills((("film", "plot"),), np.array([[0.3, 0.1]])),
]
# p(label 1) of: good film | bad film, good film | good film, good plot
CHANCES = [0.8, 0.1, 0.8, 0.8, 0.4]


def odds(p: Any) -> Any:
    return np.log(p) - np.log1p(-p)


def by_hand(method: InputMarginalization, logits: Any, **case: Any) -> TokenScores:
    """The explanation of "good film" when the questions are answered with these tables."""
    talk = method.explain(Case(Text.of("good film"), 1, **case))
    fill = next(talk)
    assert isinstance(fill, Fill)
    assert fill.variants.keep.tolist() == [[False, True], [True, False]]
    question = talk.send(FILLS)
    assert isinstance(question, Predict)
    rows = [row for (row,) in question.rows(SILENT)]
    assert rows == ["good film", "bad film", "good film", "good film", "good plot"]
    with pytest.raises(StopIteration) as stop:
        talk.send(logits)
    told: TokenScores = stop.value.value
    return told


MEANS = np.array([(0.6 * 0.1 + 0.2 * 0.8) / 0.8, (0.3 * 0.8 + 0.1 * 0.4) / 0.4])


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ({}, odds(0.8) - odds(MEANS)),
        ({"scalar": "probability"}, 0.8 - MEANS),
        ({"scalar": "logit"}, np.log(0.8) - np.log(MEANS)),
        ({"against": 0}, odds(0.8) - odds(MEANS)),
    ],
)
def test_the_conversation_by_hand(case: dict[str, Any], expected: Any) -> None:
    p = np.array(CHANCES)
    constants = np.array([[3.0], [0], [-1], [2], [0]])  # of no consequence
    shifted = np.log(np.stack([1 - p, p], axis=1)) + constants
    e = by_hand(InputMarginalization(k=2), Predictions(shifted), **case)
    np.testing.assert_allclose(e.scores, expected, atol=1e-12)
    np.testing.assert_allclose(e.facts["mass"], [0.8, 0.4])
    assert e.facts["candidates"] == [["bad", "good"], ["film", "plot"]]
    assert e.facts["counts"] == [2, 2]


@pytest.mark.parametrize("scalar", ["log_odds", "probability", "logit"])
def test_several_labels_that_may_hold_together(scalar: Any) -> None:
    p = np.array(CHANCES)
    answers = Predictions(np.stack([0 * p, odds(p)], axis=1), multi_label=True)
    e = by_hand(InputMarginalization(k=2), answers, scalar=scalar)
    expected = 0.8 - MEANS if scalar == "probability" else odds(0.8) - odds(MEANS)
    np.testing.assert_allclose(e.scores, expected, atol=1e-12)


def test_three_labels_are_contrasted_by_their_mean_probabilities() -> None:
    table = np.random.default_rng(0).dirichlet([1, 1, 1], size=5)
    e = by_hand(InputMarginalization(k=2), Predictions(np.log(table)), against=2)
    first = np.average(table[1:3], axis=0, weights=[0.6, 0.2])
    second = np.average(table[3:5], axis=0, weights=[0.3, 0.1])
    whole = np.log(table[0, 1] / table[0, 2])
    np.testing.assert_allclose(e.scores, [whole - np.log(m[1] / m[2]) for m in (first, second)], atol=1e-12)


@pytest.mark.parametrize("size", [50.0, 800.0, 1e5])
@pytest.mark.parametrize("chances", [[1.0, 0.0], [0.0, 0.0]])
def test_nothing_becomes_infinite(size: float, chances: list[float]) -> None:
    """Where every probability rounds to one, and the masked model gives a candidate no chance at all."""
    talk = InputMarginalization(k=2).explain(Case(Text.of("film"), 1))
    next(talk)
    talk.send([Fills((("plot", "dull"),), np.array([chances]))])
    with pytest.raises(StopIteration) as stop:
        talk.send(Predictions(np.array([[-size, size], [-size, size], [size, -size]])))
    assert np.isfinite(stop.value.value.scores).all()


@pytest.mark.parametrize(("threshold", "counts"), [(0.25, [1, 1]), (0.15, [2, 1]), (0.05, [2, 2]), (0.9, [1, 1])])
def test_the_threshold_drops_what_is_unlikely_but_never_all(threshold: float, counts: list[int]) -> None:
    talk = InputMarginalization(threshold=threshold, cap=7).explain(Case(Text.of("good film"), 1))
    fill = next(talk)
    assert fill.k == 7  # type: ignore[attr-defined]
    question = talk.send(FILLS)
    rows = question.rows(SILENT)
    assert len(rows) == 1 + sum(counts)
    with pytest.raises(StopIteration) as stop:
        talk.send(Predictions(np.zeros((len(rows), 2))))
    assert stop.value.value.facts["counts"] == counts


def engine(model: Any) -> Engine:
    return Engine(model, resolve=lambda name: assay.load(tiny.masked_lm()))


def loop(model: Any, text: Text, target: int, k: int, threshold: float) -> tuple[list[float], list[float]]:
    """Equations 3 and 4, word by word and candidate by candidate."""
    (fills, scores, masses) = (engine(model).ask(Fill(Variants(text, each(len(text))), model="mlm", k=k)), [], [])
    whole = model.predict([_given(text)])[0][target]
    for i, fill in enumerate(fills):
        mean = mass = 0.0
        for word, m in zip(fill.words[0], fill.probabilities[0], strict=True):
            if m >= threshold:
                mean += m * model.predict([_given(text.replace(i, word))])[0][target]
                mass += m
        scores.append(odds(whole) - odds(mean / mass))
        masses.append(mass)
    return scores, masses


def _given(text: Text) -> Any:
    return text.strings if len(text.strings) > 1 else text.strings[0]


@pytest.mark.parametrize("source", ["a slow, but good film .", ("the film was good", "a good film")])
@pytest.mark.parametrize(("settings", "k", "threshold"), [({}, 10, 0.0), ({"threshold": 0.02, "cap": 40}, 40, 0.02)])
def test_against_a_plain_loop(source: Any, settings: dict[str, Any], k: int, threshold: float) -> None:
    model = assay.load(tiny.bert())
    e = assay.explain(model, source, "input_marginalization", engine=engine(model), **settings)
    scores, masses = loop(model, e.text, e.target, k, threshold)
    np.testing.assert_allclose(e.scores, scores, atol=1e-4)
    np.testing.assert_allclose(e.facts["mass"], masses, atol=1e-5)
    assert len(set(np.round(e.scores, 3))) > 2


def test_what_is_the_same_text_is_computed_once() -> None:
    seen: list[str] = []

    def chances(texts: list[str]) -> Any:
        seen.extend(texts)
        return expit([len(text) / 20 - 1 for text in texts])

    model = BlackBox(chances, labels=["n", "p"])
    text = "film film film"
    e = assay.explain(model, text, "input_marginalization", engine=engine(model), k=350)
    words = engine(model).ask(Fill(Variants(e.text, each(3)), model="mlm", k=350))
    versions = {text} | {e.text.replace(i, w).strings[0] for i, fill in enumerate(words) for w in fill.words[0]}
    assert "film" in words[0].words[0], "the original word is among the candidates"
    assert len(seen) == len(set(seen)) == len(versions)
    assert e.about.cost.forwards == len(versions) + 3


def test_a_word_that_the_masked_model_is_sure_of_gets_nothing() -> None:
    """Pham et al., section 4.6: the original word alone as candidate, whatever the classifier does."""
    talk = InputMarginalization(k=1).explain(Case(Text.of("good film"), 1))
    next(talk)
    talk.send([Fills(((word,),), np.array([[0.98]])) for word in ("good", "film")])
    with pytest.raises(StopIteration) as stop:
        talk.send(Predictions(np.array([[0.0, 4.0]] * 3)))
    np.testing.assert_allclose(stop.value.value.scores, 0, atol=1e-12)


def answered(talk: Any, sees: int) -> tuple[TokenScores, list[tuple[int, int]]]:
    """The explanation when the masked model sees so many words, and (words, holes) of each Fill that was asked."""
    question, asked = next(talk), []
    while True:
        try:
            if isinstance(question, Fill):
                holes, words = question.variants.keep.shape
                asked.append((words, holes))
                if words > sees:
                    question = talk.throw(Unanswerable("beyond the window"))
                else:
                    question = talk.send([Fills(((f"{words}",),), np.ones((1, 1)))] * holes)
            else:
                rows: Sequence[Any] = question.rows(SILENT)
                question = talk.send(Predictions(np.array([[0.0, len(row[0])] for row in rows])))
        except StopIteration as stop:
            return stop.value, asked


def test_a_text_beyond_the_window_is_read_in_halves() -> None:
    text = Text.of(" ".join(f"w{i:03d}" for i in range(200)))
    e, asked = answered(InputMarginalization(k=1).explain(Case(text, 1)), sees=60)
    assert len(e.scores) == 200
    assert asked == [(200, 1), (100, 1), (50, 50), (50, 50), (100, 1), (50, 50), (50, 50)]
    assert e.facts["candidates"] == [["50"]] * 200


def test_a_model_that_fills_nothing_is_named() -> None:
    model = assay.load(tiny.bert())
    with pytest.raises(Unanswerable, match="cannot answer Fill"):
        assay.explain(model, "a good film", "input_marginalization", engine=Engine(model, resolve=lambda name: model))


def test_no_candidates_make_no_sense() -> None:
    with pytest.raises(BadInput, match="one candidate"):
        InputMarginalization(k=0)


@pytest.mark.parametrize(
    ("threshold", "chances", "used"),
    [
        (0.2, [0.6, 0.2, 0.1], 2),  # just as likely as asked for counts
        (0.2, [0.15, 0.1, 0.05], 1),  # the likeliest in any case
        (0.05, [0.6, 0.2, 0.1], 3),
        (None, [0.6, 0.2, 0.0], 3),  # without a threshold all that came
    ],
)
def test_which_candidates_are_likely_enough(threshold: float | None, chances: list[float], used: int) -> None:
    method = InputMarginalization(k=3, threshold=threshold, cap=7)
    talk = method.explain(Case(Text.of("film"), 1, scalar="probability"))
    question = next(talk)
    assert isinstance(question, Fill)
    assert (question.k, question.threshold) == ((3, None) if threshold is None else (7, threshold))
    predict = talk.send([Fills((("a", "b", "c"),), np.array([chances]))])
    assert predict.rows(SILENT) == [("film",), ("a",), ("b",), ("c",)][: used + 1]
    p = np.array([0.9, 0.5, 0.2, 0.4])[: used + 1]
    with pytest.raises(StopIteration) as stop:
        talk.send(Predictions(np.log(np.stack([1 - p, p], axis=1))))
    mean = np.average(p[1:], weights=np.maximum(chances[:used], 1e-30))
    np.testing.assert_allclose(stop.value.value.scores, [0.9 - mean], atol=1e-12)
    assert stop.value.value.facts["counts"] == [used]

"""Expected gradients against closed forms (linear and quadratic models) and against a slow loop on a real network."""

from __future__ import annotations

import json
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
import torch
from quadratic import quadratic

import assay
import smooth_functions
from assay.engine.engine import Engine
from assay.errors import BadFile, BadInput
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.methods.input_features.expected_gradients import ExpectedGradients, _Draw
from assay.questions.answers import Gradients
from assay.registry.finding import find_method
from assay.text.corpus import Corpus
from assay.text.text import Text

TEXT = "the film was good , but slow"
CORPUS = ["a dull film", "two dogs run through the tall grass , chasing a yellow ball", "it is that"]
PLAIN: dict[str, Any] = {"corpus": CORPUS, "target": 1, "scalar": "logit"}


def standing(reference: str, n: int) -> list[str]:
    """The words of a reference in the place of n words: cut, or repeated."""
    return list(islice(cycle(reference.split()), n))


def test_a_linear_model_has_its_weights_less_those_of_the_references() -> None:
    bow = tiny.linear_bow(double=True)
    e = assay.explain((bow.model, bow.tokenizer), TEXT, "expected_gradients", samples=7, **PLAIN)
    weights = bow.weights
    others = [[weights.get(word, 0.0) for word in standing(reference, len(e.words))] for reference in CORPUS]
    np.testing.assert_allclose(e.scores, [weights.get(w, 0.0) for w in e.words] - np.mean(others, axis=0), atol=1e-6)
    assert e.facts["baseline"] == pytest.approx(np.sum(others) / len(CORPUS), abs=1e-6)
    assert e.facts["gap"] < 1e-6
    assert e.facts["gap_error"] < 1e-6  # every sample is held against its own reference
    assert not e.warnings


def quadratic_truth(text: str, corpus: list[str]) -> Any:
    """(x - x') . mean gradient on the way = f(x) - f(x'), piece by piece, for what is quadratic in each piece."""
    model, tokenizer = quadratic()
    words = text.split()

    def values(these: list[str]) -> Any:
        return model.of(model.embedding(torch.tensor(tokenizer.convert_tokens_to_ids(these)))).detach().numpy()

    return values(words) - np.mean([values(standing(one, len(words))) for one in corpus], axis=0)


def test_a_quadratic_model_within_the_standard_errors() -> None:
    truth = quadratic_truth(TEXT, CORPUS)
    runs = [assay.explain(quadratic(), TEXT, "expected_gradients", samples=24, seed=s, **PLAIN) for s in range(40)]
    misses = np.array([e.scores - truth for e in runs])
    errors = np.array([e.facts["standard_errors"] for e in runs])
    assert (np.abs(misses) < 3 * errors).mean() > 0.97
    assert (np.abs(misses.mean(axis=0)) < 4 * misses.std(axis=0, ddof=1) / np.sqrt(len(runs))).all()
    more = assay.explain(quadratic(), TEXT, "expected_gradients", samples=3000, **PLAIN)
    np.testing.assert_allclose(more.scores, truth, atol=1e-2)
    assert max(more.facts["standard_errors"]) < errors.mean() / 50  # strata: faster than the square root


def test_standard_errors_hold_with_many_samples_of_each_reference() -> None:
    """Samples of one reference that all came too early in their turns were off together, by more than they differed."""
    f, x = smooth_functions.network(3, seed=1), np.array([1.0, -0.7, 0.4])
    rng = np.random.default_rng(0)
    references = {f"text {i}": rng.normal(size=3) for i in range(6)}
    truth = np.mean([smooth_functions.integral(f, start, x) for start in references.values()], axis=0)
    method = ExpectedGradients(corpus=Corpus(references), samples=600)
    runs = [smooth_functions.walk(method, f, x, references, seed=s) for s in range(60)]
    misses = np.array([e.scores - truth for e in runs])
    errors = np.array([e.facts["standard_errors"] for e in runs])
    assert (np.abs(misses) < 3 * errors).mean() > 0.97
    assert all(e.facts["gap"] < 4 * e.facts["gap_error"] for e in runs)
    assert errors.mean() < 3 * misses.std()  # nor do they cover because they are huge


def test_a_corpus_larger_than_the_samples_is_drawn_from() -> None:
    """Every run misses the mean over the corpus by what its own references make; over runs that averages out."""
    tokenize = quadratic()[1].tokenize
    corpus = [line for line in (" ".join(tokenize(line)) for line in tiny.CORPUS) if tokenize(line) == line.split()]
    assert len(corpus) > 20
    settings = PLAIN | {"corpus": corpus, "samples": 10}
    runs = [assay.explain(quadratic(), TEXT, "expected_gradients", seed=s, **settings) for s in range(150)]
    misses = np.array([e.scores - quadratic_truth(TEXT, corpus) for e in runs])
    errors = np.array([e.facts["standard_errors"] for e in runs])
    assert (np.abs(misses.mean(axis=0)) < 4 * misses.std(axis=0, ddof=1) / np.sqrt(len(runs))).all()
    assert (np.abs(misses) < 3 * errors).mean() > 0.95
    assert errors.mean() < 2 * misses.std()
    assert {e.facts["references"] for e in runs} == {10}


@pytest.mark.parametrize(("corpus", "samples"), [(3, 8), (3, 6), (3, 2), (5, 5), (1, 4), (40, 7)])
def test_references_and_strata(corpus: int, samples: int) -> None:
    texts = tuple(Text.of(f"text {i}") for i in range(corpus))
    draw = _Draw.of(texts, samples, np.random.default_rng(1))
    n = len(draw.at)
    assert samples <= n < 2 * samples or n == samples
    turns = np.array([int(at * n) for at in draw.at]).reshape(draw.times, -1)
    assert np.sort(turns, axis=1).ravel().tolist() == list(range(n))  # every turn is a part of the way, in order
    # Where a reference has several turns, its places in them are drawn: else it would be early in each, or late.
    assert (turns.ravel().tolist() == list(range(n))) == (draw.times == 1 or len(draw.used) == 1)
    assert len(set(draw.used)) == len(draw.used) == min(corpus, samples)
    assert [draw.texts.count(text) for text in draw.used] == [draw.times] * len(draw.used)


def slow(text: str, corpus: list[str], samples: int, seed: int, target: int) -> tuple[Any, Any, float]:
    """One point after the other through a tiny BERT, by its own argument for embeddings."""
    model, tokenizer = tiny.bert()
    table = model.get_input_embeddings()
    coded = tokenizer(text, return_tensors="pt")
    x, words = table(coded["input_ids"][0]).detach(), coded.word_ids()
    own = [i for i, word in enumerate(words) if word is not None]
    draw = _Draw.of(tuple(map(Text.of, corpus)), samples, Case(Text.of(text), 0, seed=seed).generator())
    scores, starts = np.zeros(len(text.split())), []
    for reference, at in zip(draw.texts, draw.at, strict=True):
        start, ids = x.clone(), tokenizer(str(reference), add_special_tokens=False)["input_ids"]
        start[own] = table(torch.tensor(list(islice(cycle(ids), len(own))))).detach()
        point = (start + at * (x - start)).requires_grad_()
        (gradient,) = torch.autograd.grad(_log_odds(model, point, target), point)
        for i in own:
            scores[words[i]] += float((gradient[i] * (x - start)[i]).sum()) / len(draw.at)
        starts.append(_log_odds(model, start, target).item())
    return scores, np.array(starts), _log_odds(model, x, target).item()


def _log_odds(model: Any, point: torch.Tensor, target: int) -> torch.Tensor:
    chance = torch.log_softmax(model(inputs_embeds=point[None]).logits[0], -1)[target]
    return chance - torch.log1p(-chance.exp())


@pytest.mark.parametrize("samples", [2, 7])
def test_against_a_slow_loop(samples: int) -> None:
    text = "the film was unwatchable , but never dull"
    e = assay.explain(tiny.bert(), text, "expected_gradients", corpus=CORPUS, samples=samples, target=2, seed=3)
    scores, starts, value = slow(text, CORPUS, samples, 3, 2)
    start, miss = starts.mean(), abs(scores.sum() - (value - starts.mean()))
    np.testing.assert_allclose(e.scores, scores, atol=1e-5)
    assert (e.facts["baseline"], e.facts["value"]) == pytest.approx((start, value), abs=1e-5)
    assert e.facts["gap"] == pytest.approx(miss / abs(value - start), abs=1e-4)
    assert bool(e.warnings) == (miss > 0.05 * np.abs(value - starts).mean())


def test_the_gap_closes_with_more_samples() -> None:
    few, many = (
        assay.explain(tiny.bert(), TEXT, "expected_gradients", corpus=CORPUS, samples=samples) for samples in (3, 600)
    )
    assert few.warnings
    assert not many.warnings
    assert many.facts["gap"] < 0.01
    assert many.facts["gap"] < 4 * many.facts["gap_error"] + 1e-3
    assert many.scores.sum() == pytest.approx(many.facts["value"] - many.facts["baseline"], rel=0.01)


def test_words_out_of_focus_stay() -> None:
    pair = ("the film was good", "a good film")
    e = assay.explain(tiny.bert(), pair, "expected_gradients", corpus=CORPUS, samples=600, focus=["hypothesis"])
    assert e.words == ("a", "good", "film")
    same = assay.explain(tiny.bert(), pair, "expected_gradients", corpus=["a good film"], focus=["hypothesis"])
    np.testing.assert_allclose(same.scores, 0, atol=1e-9)
    assert same.facts["value"] == pytest.approx(same.facts["baseline"], abs=1e-5)
    assert e.facts["value"] == pytest.approx(same.facts["value"], abs=1e-5)


@pytest.mark.parametrize("corpus", [[], [""], ["  ", "\u200b"]])
def test_without_references_it_says_how_to_give_them(corpus: list[str]) -> None:
    with pytest.raises(BadInput, match=r"-p corpus=@FILE"):
        assay.explain(tiny.bert(), TEXT, "expected_gradients", corpus=corpus)


@pytest.mark.parametrize("corpus", ["a text", 5, [5], ["a \ud800 film"], [("a", "b")]])
def test_what_is_no_corpus_is_refused(corpus: Any) -> None:
    with pytest.raises(BadInput, match="corpus"):
        assay.explain(tiny.bert(), TEXT, "expected_gradients", corpus=corpus)
    with pytest.raises(BadInput, match="samples >= 2"):
        assay.explain(tiny.bert(), TEXT, "expected_gradients", corpus=CORPUS, samples=1)


def test_a_reference_that_the_tokenizer_does_not_see_is_named() -> None:
    with pytest.raises(BadInput, match="nothing in the reference text"):
        assay.explain(tiny.bert(), TEXT, "expected_gradients", corpus=["\ufffd"])


def test_a_corpus_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_bytes("\ufeff".encode() + b"one, two\r\n\n  \nthree\n")
    assert Corpus.of(f"@{path}") == ("one, two", "three")
    given = find_method("expected_gradients").make({"corpus": f"@{path}"})
    assert given == find_method("expected_gradients").make({"corpus": ["one, two", "three"]})
    path.write_bytes(b"\xff\xfe\x00")
    for name in (path, tmp_path / "none", tmp_path):
        with pytest.raises(BadFile, match="cannot be read"):
            Corpus.of(f"@{name}")


@pytest.mark.parametrize("name", ["expected_gradients", "anchors"])
def test_a_corpus_is_written_short_and_can_be_used_again(name: str) -> None:
    corpus = ["a long text of many words " * 50] * 100
    e = assay.explain(tiny.bert(), "a film", name, corpus=corpus, **({"limit": 200} if name == "anchors" else {}))
    again = find_method(name).make(e.about.parameters)
    assert again.corpus == tuple(corpus)
    assert len(e.to_json()) < 3000
    written = json.loads(e.to_json())["about"]["parameters"]["corpus"]
    assert written.startswith("100 texts, ")
    assert written == str(Corpus(corpus)) != str(Corpus([*corpus[1:], "another"]))
    back = type(e).from_json(e.to_json())
    assert back.to_dict() == e.to_dict()
    with pytest.raises(BadInput, match="give its texts again"):
        find_method(name).make(back.about.parameters)


def test_company_and_order_do_not_matter() -> None:
    model = assay.load(tiny.bert())
    texts = [TEXT, "dull", ("a man sleeps", "a man"), "a gripping , funny film that never lets go of its audience ."]
    settings: dict[str, Any] = {"samples": 6, "corpus": CORPUS}
    alone: list[TokenScores] = [assay.explain(model, text, "expected_gradients", **settings) for text in texts]
    for order in ([3, 0, 2, 1], [1, 2, 0, 3]):
        engine = Engine(model, budget=100)
        told = assay.explain(model, [texts[i] for i in order], "expected_gradients", engine=engine, **settings)
        for i, e in zip(order, told, strict=True):
            np.testing.assert_allclose(e.scores, alone[i].scores, atol=1e-5)
            assert e.facts["baseline"] == pytest.approx(alone[i].facts["baseline"], abs=1e-5)


@pytest.mark.parametrize(("references", "samples"), [(3, 9), (3, 6), (4, 4), (5, 3)])
def test_standard_errors_are_made_of_neighbours_on_the_way(references: int, samples: int) -> None:
    """Of one reference from turn to turn; where each has one turn only, from one reference to the next."""
    corpus = Corpus(f"text {'x' * (i + 1)}" for i in range(references))
    method = ExpectedGradients(corpus=corpus, samples=samples)
    talk = method.explain(Case(Text.of("a film"), 1))
    question = next(talk)
    used = min(references, samples)
    turns = samples // used
    rng = np.random.default_rng(0)
    table, starts = rng.normal(size=(samples + used + 1, 2)), rng.normal(size=samples + used + 1)
    assert len(question.at) == samples + used + 1
    with pytest.raises(StopIteration) as stop:
        talk.send([Gradients(starts, table)])
    slopes, told = table[:samples].reshape(turns, used, 2), stop.value.value
    squares = [
        (slopes[t + 1, r] - slopes[t, r]) ** 2 if turns > 1 else (slopes[0, r + 1] - slopes[0, r]) ** 2
        for t in range(max(1, turns - 1))
        for r in range(used if turns > 1 else used - 1)
    ]
    np.testing.assert_allclose(told.facts["standard_errors"], np.sqrt(np.mean(squares, axis=0) / 2 / samples))
    np.testing.assert_allclose(told.scores, table[:samples].mean(axis=0))
    assert told.facts["baseline"] == pytest.approx(starts[samples:-1].mean())
    assert told.facts["value"] == starts[-1]


@pytest.mark.parametrize(("slope", "flagged"), [(0.5, False), (0.499, True), (1.5, False), (1.501, True)])
def test_the_scores_may_miss_their_sum_by_the_tolerance_and_no_more(slope: float, flagged: bool) -> None:
    """From 0 to 1, on average by a half: up to a half too little or too much is within a tolerance of a half."""
    method = ExpectedGradients(corpus=Corpus(["one"]), samples=2, tolerance=0.5)
    talk = method.explain(Case(Text.of("film"), 1))
    next(talk)
    with pytest.raises(StopIteration) as stop:
        talk.send([Gradients(np.array([0.3, 0.6, 0.0, 1.0]), np.array([[slope], [slope], [0.0], [0.0]]))])
    assert stop.value.value.facts["gap"] == pytest.approx(abs(1 - slope))
    assert bool(stop.value.value.warnings) == flagged

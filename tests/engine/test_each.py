"""Conversations that open conversations: the engine's promises hold for children as for anybody else."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tiny
from hypothesis import given
from hypothesis import strategies as st
from test_engine import Counting, Sized, counted, lexicon, sentences

import assay
from assay.engine.engine import Engine
from assay.errors import AssayError, BadInput, NonFiniteAnswer
from assay.explanations.about import Cost
from assay.models import BlackBox
from assay.questions import Aims, Cases, Conversation, Each, Predict, elsewhere, now
from assay.registry import find_method
from assay.text.text import Text


def value(text: str) -> Conversation[float]:
    answer = yield Predict(Text.of(text))
    return float(answer.value(1)[0])


def twice(text: str) -> Conversation[float]:
    """Two questions, one after the other."""
    return (yield from value(text)) + (yield from value(f"{text} again"))


def values(texts: list[str]) -> Conversation[list[float]]:
    found: list[float] = yield Each(twice(text) for text in texts)
    return found


def box() -> BlackBox:
    return BlackBox(lexicon, labels=["negative", "positive"])


def test_the_parent_gets_the_results_in_order() -> None:
    texts = sentences(30)
    alone = [Engine(box()).run([twice(text)]) for text in texts]
    expected = [next(outcomes).get() for outcomes in alone]
    assert next(Engine(box()).run([values(texts)])).get() == pytest.approx(expected)


# A tree of conversations: a leaf is a text, a node opens its children and sums what they return.
trees = st.recursive(
    st.text("ab ", min_size=1, max_size=6).filter(str.strip), lambda inner: st.lists(inner, max_size=4), max_leaves=12
)


def total(tree: Any) -> Conversation[float]:
    if isinstance(tree, str):
        return (yield from twice(tree))
    parts: list[float] = yield Each(total(part) for part in tree)
    return sum(parts)


@given(st.lists(trees, max_size=5), st.integers(1, 4), st.integers(1, 8))
def test_nesting_changes_no_answer(forest: list[Any], live: int, open_rows: int) -> None:
    """Promise 1, and no deadlock however little room there is."""
    alone = [next(Engine(box()).run([total(tree)])).get() for tree in forest]
    tight = Engine(box(), live=live, open_rows=open_rows)
    assert [outcome.get() for outcome in tight.run(map(total, forest))] == pytest.approx(alone)


def test_a_score_does_not_depend_on_nesting() -> None:
    model = assay.load(tiny.bert())
    texts, method = sentences(8), find_method("integrated_gradients").make()
    plain = [e.scores for e in assay.explain(model, texts, method)]

    def nested() -> Conversation[Any]:
        readings = yield Cases(texts)
        return (yield Each(now_each(reading) for reading in readings))

    def now_each(reading: Any) -> Conversation[Any]:
        return (yield Each([reading.explained_by(method)]))

    for (e,), scores in zip(next(Engine(model, budget=64).run([nested()])).get(), plain, strict=True):
        np.testing.assert_allclose(e.scores, scores, atol=1e-5 * max(1, np.abs(scores).max()))
        assert e.prediction


def test_children_of_all_parents_share_batches_and_answers() -> None:
    """Promises 2 and 3: a row asked by children of several parents is computed once, in few calls."""
    function, model = counted()
    texts = sentences(40)
    engine = Engine(model)
    list(engine.run(values(texts) for _ in range(5)))
    assert len(function.asked) == len(set(function.asked)) == len({*texts, *(f"{t} again" for t in texts)})
    assert len(function.calls) <= 4


def test_memory_that_runs_out_among_children_halves_the_budget() -> None:
    texts, tight = sentences(30), Engine(Sized(most=60))
    plain = [outcome.get() for outcome in Engine(Sized()).run([values(texts), values(texts[::-1])])]
    assert [outcome.get() for outcome in tight.run([values(texts), values(texts[::-1])])] == plain
    assert tight.batcher.budget <= 60


def test_costs_of_children_are_costs_of_the_parent() -> None:
    """Promise 4."""
    _, model = counted()
    engine = Engine(model)
    outcomes = list(engine.run([values(sentences(7)), values(sentences(7, seed=1)), twice("alone")]))
    assert sum((outcome.cost for outcome in outcomes), Cost()) == engine.totals
    assert [outcome.cost.sequences for outcome in outcomes] == [14, 14, 2]


def test_costs_of_children_that_were_given_up_are_counted() -> None:
    def failing() -> Conversation[float]:
        yield Predict(Text.of("good"))
        raise BadInput("no")

    def parent() -> Conversation[str]:
        try:
            yield Each([failing(), twice("bad film"), twice("dull film")])
        except BadInput:
            return "caught"
        return "not caught"

    engine = Engine(box())
    (outcome,) = engine.run([parent()])
    assert outcome.get() == "caught"
    assert outcome.cost == engine.totals
    assert outcome.cost.sequences >= 3


def test_children_are_drawn_lazily_and_folded() -> None:
    """Promise 5: a hundred thousand children, of which only a few are alive at once."""
    drawn = alive = most = 0

    def child(i: int) -> Conversation[int]:
        nonlocal alive, most
        alive += 1
        most = max(most, alive)
        yield Predict(Text.of(f"{i % 50} good"))
        alive -= 1
        return 1

    def children() -> Iterator[Conversation[int]]:
        nonlocal drawn
        for i in range(100_000):
            drawn += 1
            yield child(i)

    def parent() -> Conversation[int]:
        return (yield Each(children(), fold=lambda so_far, one: so_far + one, start=0))

    engine = Engine(box(), live=64)
    (outcome,) = engine.run([parent()])
    assert outcome.get() == drawn == 100_000
    assert most <= 64
    gc.collect()


def test_many_parents_do_not_open_all_their_children_at_once() -> None:
    alive = most = 0

    def child(i: int, j: int) -> Conversation[int]:
        nonlocal alive, most
        alive += 1
        most = max(most, alive)
        yield Predict(Text.of(f"{i} {j}"))
        yield Predict(Text.of(f"{j} {i}"))
        alive -= 1
        return 1

    def parent(i: int) -> Conversation[int]:
        return sum((yield Each(child(i, j) for j in range(20))))

    engine = Engine(box(), live=16)
    assert [outcome.get() for outcome in engine.run(parent(i) for i in range(50))] == [20] * 50
    assert most <= 32


def test_the_first_error_reaches_the_parent_and_the_others_are_closed() -> None:
    closed = []

    def child(i: int) -> Conversation[int]:
        try:
            yield Predict(Text.of(f"{i} film"))
            if i == 3:
                raise BadInput("the fourth")
            for word in ("films",) if i < 3 else ("films", "plots", "casts"):
                yield Predict(Text.of(f"{i} {word}"))
        except GeneratorExit:
            closed.append(i)
            raise
        return i

    def parent() -> Conversation[list[int]]:
        return (yield Each(child(i) for i in range(6)))

    broken, fine = Engine(box()).run([parent(), now(7)])
    assert isinstance(broken.error, BadInput)
    assert fine.get() == 7
    assert closed == [4, 5]


def test_errors_can_be_kept() -> None:
    def parent() -> Conversation[list[Any]]:
        return (yield Each([value("good"), value("nan"), value("bad")], keep_errors=True))

    model = BlackBox(lambda texts: np.array([np.nan if t == "nan" else 0.5 for t in texts]), labels=["n", "p"])
    first, error, last = next(Engine(model).run([parent()])).get()
    assert first == last == 0.0
    assert isinstance(error, NonFiniteAnswer)


def test_an_error_while_drawing_children_is_the_parents() -> None:
    def children() -> Iterator[Conversation[float]]:
        yield value("good")
        raise BadInput("row 2 of the file is broken")

    def parent() -> Conversation[list[float]]:
        return (yield Each(children()))

    (outcome,) = Engine(box()).run([parent()])
    with pytest.raises(AssayError, match="row 2"):
        outcome.get()


def test_children_without_questions_and_no_children() -> None:
    def parent() -> Conversation[Any]:
        nothing = yield Each([])
        some = yield Each(now(i) for i in range(3000))
        return nothing, some

    assert next(Engine(box(), live=8).run([parent()])).get() == ([], list(range(3000)))


def test_children_go_to_the_other_model_too() -> None:
    function = Counting()
    other = BlackBox(function, labels=["n", "p"])

    def parent() -> Conversation[list[float]]:
        return (yield Each(value(text) for text in ("good", "bad")))

    engine = Engine(box(), resolve={"other": other}.__getitem__)
    assert next(engine.run([elsewhere(parent(), "other")])).get() == pytest.approx([1.0, -2.0], abs=1e-6)
    assert sorted(function.asked) == ["bad", "good"]


def test_cases_are_what_explain_reads() -> None:
    model = assay.load(tiny.bert())
    texts = sentences(4)
    readings = Engine(model).ask(Cases(texts, Aims(target=2, scalar="logit", seed=5)))
    for reading, e in zip(
        readings, assay.explain(model, texts, "random", target=2, scalar="logit", seed=5), strict=True
    ):
        assert reading.case == e.case
        assert reading.prediction == e.prediction


def test_randomness_is_the_same_in_any_nesting() -> None:
    """Promise 7."""
    model, texts = box(), sentences(5)
    method = find_method("random").make()
    plain = [e.scores.tolist() for e in assay.explain(model, texts, "random")]

    def nested() -> Conversation[Any]:
        return (yield Each(reading.explained_by(method) for reading in reversed((yield Cases(texts)))))

    assert [e.scores.tolist() for e in next(Engine(model).run([nested()])).get()][::-1] == plain


def test_a_nan_in_a_child_is_an_error_with_a_name() -> None:
    """Promise 8."""
    model = BlackBox(lambda texts: np.full(len(texts), np.nan), labels=["n", "p"])
    (outcome,) = Engine(model).run([values(["good"])])
    assert isinstance(outcome.error, NonFiniteAnswer)

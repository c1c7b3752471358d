"""How much the engine asks in one round, and that what the disk keeps belongs to one model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny

import assay
from assay.engine.engine import Engine
from assay.models import BlackBox
from assay.questions.base import Conversation, Question, now
from assay.questions.each import Each
from assay.questions.predict import Predict
from assay.text.text import Text


class Rounds(BlackBox):
    """A model that remembers how many rows it was asked at once; its answer is the length of the text."""

    def __init__(self) -> None:
        super().__init__(_lengths, labels=["n", "p"], logits=True)
        self.asked: list[int] = []

    def encode(self, kind: type[Question], rows: Sequence[Any]) -> Sequence[Any]:
        self.asked.append(len(rows))
        return super().encode(kind, rows)


def _lengths(texts: list[str]) -> Any:
    return np.array([[0.0, len(text)] for text in texts])


def conversations(sizes: Sequence[int]) -> Iterator[Conversation[Any]]:
    """Each asks so many rows that nobody else asks."""

    def one(number: int, size: int) -> Conversation[Any]:
        answers = yield Predict(*(Text.of("x" * (100 * number + i + 1)) for i in range(size)))
        return answers.logits[:, 1].tolist()

    return (one(number, size) for number, size in enumerate(sizes))


@pytest.mark.parametrize(
    ("open_rows", "sizes", "asked"),
    [
        (20, [15, 15, 15], [15, 15, 15]),  # two would be more than are allowed
        (20, [10, 10, 10, 10], [20, 20]),  # two are just as many as are allowed
        (5, [10, 10], [10, 10]),  # one is asked in any case
        (20, [15, 10, 5], [15, 15]),  # those that waited go together
    ],
)
def test_a_round_has_no_more_rows_than_allowed(open_rows: int, sizes: list[int], asked: list[int]) -> None:
    model = Rounds()
    engine = Engine(model, open_rows=open_rows)
    told = [outcome.get() for outcome in engine.run(conversations(sizes))]
    assert model.asked == asked
    assert told == [[100 * number + i + 1 for i in range(size)] for number, size in enumerate(sizes)]


@pytest.mark.parametrize("live", [1, 3])
def test_no_more_conversations_are_held_than_allowed(live: int) -> None:
    """The first one waits for an answer, the others have nothing to ask: they are held until it has ended."""
    drawn: list[int] = []

    def asking() -> Conversation[int]:
        yield Predict(Text.of("a"))
        return 0

    def many() -> Iterator[Conversation[int]]:
        for number in range(10):
            drawn.append(number)
            yield now(number) if number else asking()

    outcomes = Engine(Rounds(), live=live).run(many())
    assert next(outcomes).get() == 0
    assert drawn == list(range(live))
    assert [outcome.get() for outcome in outcomes] == list(range(1, 10))


class Ahead(Rounds):
    """A model that remembers how many conversations had been drawn whenever it was asked."""

    def __init__(self, drawn: list[int]) -> None:
        super().__init__()
        self.drawn, self.ahead = drawn, list[int]()

    def encode(self, kind: type[Question], rows: Sequence[Any]) -> Sequence[Any]:
        self.ahead.append(len(self.drawn))
        return super().encode(kind, rows)


def _asks(number: int, size: int, times: int = 1) -> Conversation[int]:
    for turn in range(times):
        yield Predict(*(Text.of("x" * (1000 * number + 100 * turn + i + 1)) for i in range(size)))
    return number


def _drawn_into(drawn: list[int], made: Iterable[Conversation[int]]) -> Iterator[Conversation[int]]:
    for number, conversation in enumerate(made):
        drawn.append(number)
        yield conversation


@pytest.mark.parametrize(
    ("limits", "ahead"),
    [
        ({"open_rows": 20}, [2, 4, 6]),  # two have as many rows as are allowed: no third is drawn
        ({"open_rows": 25}, [3, 5, 6]),  # the third is drawn and waits, and beside it two more the next time
        ({"live": 4}, [4, 6]),
    ],
)
def test_no_more_is_drawn_than_a_round_needs(limits: dict[str, int], ahead: list[int]) -> None:
    drawn: list[int] = []
    model = Ahead(drawn)
    outcomes = Engine(model, **limits).run(_drawn_into(drawn, (_asks(n, 10) for n in range(6))))
    assert [outcome.get() for outcome in outcomes] == list(range(6))
    assert model.ahead == ahead


def test_what_is_open_from_before_counts_by_its_rows() -> None:
    """The first asks three times. In the second round it is open beside the third: ten rows, and room for one more."""
    drawn: list[int] = []
    model = Ahead(drawn)
    talks = (_asks(n, 5, times=1 if n else 3) for n in range(8))
    list(Engine(model, open_rows=12).run(_drawn_into(drawn, talks)))
    assert model.ahead[:2] == [3, 4]


def test_children_of_all_parents_count_together() -> None:
    """Three children are all that may wait; those of the second parent are drawn when the first ones have ended."""
    drawn: list[int] = []
    model = Ahead(drawn)

    def parent(first: int) -> Conversation[list[int]]:
        children: list[int] = yield Each(_drawn_into(drawn, (_asks(first + n, 1) for n in range(5))))
        return children

    told = [outcome.get() for outcome in Engine(model, live=3).run(parent(first) for first in (0, 5))]
    assert told == [list(range(5)), list(range(5, 10))]
    assert model.ahead == [3, 6, 9, 10]


def test_answers_of_the_models_asked_last_are_remembered() -> None:
    """Of sixteen; the one that was not asked for longest is forgotten for the next."""
    model = Rounds()
    engine = Engine(model, resolve=lambda name: model)

    def ask(number: int) -> int:
        question = Predict(Text.of("a"))
        question.model = f"m{number}"
        before = engine.totals.forwards
        engine.ask(question)
        return engine.totals.forwards - before

    assert [ask(number) for number in range(16)] == [1] * 16
    assert [ask(number) for number in range(16)] == [0] * 16
    assert ask(16) == 1
    assert [ask(15), ask(1)] == [0, 0]
    assert ask(0) == 1


def plus(texts: list[str]) -> Any:
    return np.array([[0.0, 1.0]] * len(texts))


def minus(texts: list[str]) -> Any:
    return np.array([[0.0, -1.0]] * len(texts))


def test_answers_of_another_model_are_not_kept_for_this_one(tmp_path: Path) -> None:
    path, text = str(tmp_path / "answers.sqlite"), Text.of("a film")
    own, other = (BlackBox(function, labels=["n", "p"], logits=True) for function in (plus, minus))

    def value(model: str | None) -> float:
        question = Predict(text)
        question.model = model
        return float(Engine(own, cache=path, resolve=lambda name: other).ask(question).logits[0, 1])

    assert value("other") == -1.0
    assert value(None) == 1.0
    assert value("other") == -1.0
    assert value(None) == 1.0


def test_only_predictions_are_kept_on_disk(tmp_path: Path) -> None:
    model = assay.load(tiny.bert())
    plain = assay.explain(model, "a good film", "integrated_gradients").scores
    for _ in range(2):
        engine = Engine(model, cache=str(tmp_path / "answers.sqlite"))
        np.testing.assert_array_equal(
            assay.explain(model, "a good film", "integrated_gradients", engine=engine).scores, plain
        )


def test_what_the_disk_has_is_put_in_its_place(tmp_path: Path) -> None:
    """Of three rows the middle one is known: the others are computed, and only they cost anything."""
    path = str(tmp_path / "answers.sqlite")
    model = BlackBox(_lengths, labels=["n", "p"], logits=True)
    Engine(model, cache=path).ask(Predict(Text.of("ab")))
    engine = Engine(model, cache=path)
    answers = engine.ask(Predict(Text.of("abc"), Text.of("ab"), Text.of("a")))
    assert answers.logits[:, 1].tolist() == [3.0, 2.0, 1.0]
    assert (engine.totals.sequences, engine.totals.forwards, engine.totals.hits) == (3, 2, 1)

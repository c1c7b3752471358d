"""Two batches at a time: the same answers in the same order, only where nothing in the model can be disturbed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tiny
import torch

import assay
from assay.engine.engine import Engine
from assay.models.batching import Batcher
from assay.models.transformers.side_by_side import side_by_side, stateless
from assay.questions.gradients import InputGradient
from assay.questions.predict import Predict

WORDS = ("a", "good", "bad", "film", "the", "plot", "not")


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def fresh() -> Any:
    """A model of its own: on one that tests share, one of them may have left hooks of transformers."""
    return tiny.bert.__wrapped__()


def rows(count: int = 60) -> list[tuple[str]]:
    rng = np.random.default_rng(0)
    return [(" ".join(rng.choice(WORDS, rng.integers(1, 12))),) for _ in range(count)]


def one_after_another(model: Any, wanted: list[tuple[str]]) -> list[Any]:
    return [Batcher(1).answers(model, Predict, [row])[0][0] for row in wanted]


def test_answers_are_those_of_single_rows_in_their_order() -> None:
    model: Any = assay.load(fresh())
    assert Predict in model.side_by_side
    values, tokens = Batcher(24).answers(model, Predict, rows())
    np.testing.assert_allclose(values, one_after_another(model, rows()), atol=1e-5)
    assert (tokens > 0).all()


def test_it_is_done_by_two_threads_that_have_half_of_the_threads_each() -> None:
    both, seen = threading.Barrier(2, timeout=30), []

    def work(number: int) -> int:
        if number < 2:
            both.wait()  # passes only if two are at work at once
        seen.append((threading.current_thread().name, torch.get_num_threads()))
        if number == 4:
            begin_another()
        return number * number

    def begin_another() -> None:
        other = threading.Thread(target=lambda: inherited.append(torch.get_num_threads()))
        other.start()
        other.join()

    inherited: list[int] = []
    assert side_by_side(work, range(9)) == [n * n for n in range(9)]
    assert {threads for _, threads in seen} == {1}
    assert torch.get_num_threads() == 2
    begin_another()
    assert inherited == [2, 2]  # threads that others start meanwhile, or later, are as they were


def test_one_thread_and_few_batches_go_one_after_another() -> None:
    names: list[str] = []
    side_by_side(lambda _: names.append(threading.current_thread().name), range(3))
    torch.set_num_threads(1)
    side_by_side(lambda _: names.append(threading.current_thread().name), range(9))
    assert set(names) == {threading.main_thread().name}


def test_an_error_stays_with_its_batch() -> None:
    told = side_by_side(lambda n: 1 // (n - 3), range(8))
    assert [type(one) for one in told].index(ZeroDivisionError) == 3
    assert [one for one in told if not isinstance(one, Exception)] == [1 // (n - 3) for n in range(8) if n != 3]


def test_out_of_memory_is_met_as_if_alone() -> None:
    model: Any = assay.load(fresh())
    answer, batcher = model.answer, Batcher(40)

    def tight(kind: Any, batch: Any) -> Any:
        if len(batch) * max(len(ids) for ids, _ in batch) > 20 and len(batch) > 1:
            raise RuntimeError("out of memory")
        return answer(kind, batch)

    expected = one_after_another(model, rows())
    model.answer = tight
    values, _ = batcher.answers(model, Predict, rows())
    np.testing.assert_allclose(values, expected, atol=1e-5)
    assert batcher.budget <= 20


@pytest.mark.parametrize("listen", ["register_forward_hook", "register_forward_pre_hook"])
def test_a_model_that_somebody_listens_to_is_asked_by_one_thread(listen: str) -> None:
    model: Any = assay.load(fresh())
    handle = getattr(model.model.bert.embeddings, listen)(lambda *_: None)
    assert not model.side_by_side
    handle.remove()
    assert model.side_by_side


def test_unknown_models_and_gradients_are_asked_by_one_thread() -> None:
    class Own(type(fresh()[0])):  # type: ignore[misc]
        """Nobody knows what it keeps."""

    model: Any = assay.load(fresh())
    assert InputGradient not in model.side_by_side
    assert not stateless(Own(model.model.config))


@pytest.mark.parametrize("made", [tiny.masked_lm, tiny.causal_lm], ids=["masked", "causal"])
def test_models_of_words_are_asked_by_one_thread(made: Any) -> None:
    """They hang a hook on the model for every batch: two batches at once would get the places of one."""
    assert not assay.load(made()).side_by_side


def test_explanations_are_the_same_by_one_thread_and_by_two() -> None:
    model: Any = assay.load(fresh())
    texts = [row[0] for row in rows(12)]
    two = assay.explain(model, texts, "lime", samples=50, engine=Engine(model, budget=32), progress=False)
    torch.set_num_threads(1)
    one = assay.explain(model, texts, "lime", samples=50, engine=Engine(model, budget=32), progress=False)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a.scores, b.scores, atol=1e-5)

"""Every verb takes `threads`, computes with so many, and puts the number back, whatever happens."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch

import assay
from assay.engine.threads import computing_with, with_threads

BEFORE = 2
NO_MODEL_TO_ASK = {"load", "open", "given"}  # they compute nothing


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(BEFORE)
    yield
    torch.set_num_threads(before)


class Noting:
    """A model that notes how many threads there are when it is asked."""

    def __init__(self) -> None:
        self.seen: set[int] = set()

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        self.seen.add(torch.get_num_threads())
        return [[0.2, 0.8] if "good" in text else [0.6, 0.4] for text in texts]


VERBS: dict[str, Any] = {
    "explain": lambda model, **more: assay.explain(model, ["a good film"], "leave_one_out", **more),
    "stream": lambda model, **more: list(assay.stream(model, ["a good film"], "leave_one_out", **more)),
    "describe": lambda model, **more: assay.describe(
        model, ["a good film", "a dull plot"], "sp_lime", picks=1, of="leave_one_out", progress=False, **more
    ),
    "check": lambda model, **more: assay.check(
        model, ["a good film"], "leave_one_out", "deletion", draws=3, progress=False, **more
    ),
    "trust": lambda model, **more: assay.trust(
        model, "a good film", "leave_one_out", "deletion", draws=3, progress=False, **more
    ),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_computes_with_so_many_threads_and_puts_the_number_back(verb: str) -> None:
    asked = Noting()
    VERBS[verb](assay.BlackBox(asked, labels=("bad", "good")), threads=3)
    assert asked.seen == {3}
    assert torch.get_num_threads() == BEFORE
    asked.seen.clear()
    VERBS[verb](assay.BlackBox(asked, labels=("bad", "good")))
    assert asked.seen == {BEFORE}


def test_every_verb_has_the_argument() -> None:
    verbs = {name for name in assay.__all__ if inspect.isfunction(getattr(assay, name))} - NO_MODEL_TO_ASK
    assert verbs >= {"explain", "check", "trust", "describe", "mend", "index", "audit_attention", "roar"}
    assert not [name for name in verbs if "threads" not in inspect.signature(getattr(assay, name)).parameters]
    assert not [name for name in verbs if not hasattr(getattr(assay, name), "__wrapped__")]


def test_after_an_error_too() -> None:
    def fails(texts: Sequence[str]) -> Any:
        raise RuntimeError("no")

    with pytest.raises(assay.AssayError):
        assay.explain(assay.BlackBox(fails, labels=("a", "b")), "a good film", "leave_one_out", threads=1)
    assert torch.get_num_threads() == BEFORE


def test_between_the_steps_of_a_stream_the_caller_has_his_own_number() -> None:
    asked = Noting()
    model = assay.BlackBox(asked, labels=("bad", "good"))
    for _ in assay.stream(model, ["a good film", "dull"], "leave_one_out", threads=1):
        assert torch.get_num_threads() == BEFORE
    assert asked.seen == {1}


def test_a_stream_that_is_left_leaves_nothing_behind() -> None:
    stream = assay.stream(
        assay.BlackBox(Noting(), labels=("bad", "good")), ["a good film", "dull"], "leave_one_out", threads=1
    )
    next(stream)
    del stream
    assert torch.get_num_threads() == BEFORE


def test_two_threads_of_python_have_two_numbers_at_once() -> None:
    both = threading.Barrier(2)

    def seen(count: int) -> tuple[int, int, int]:
        torch.get_num_threads()  # no longer new to torch: its first look takes over what was said last
        both.wait(30)
        with computing_with(count):
            both.wait(30)
            inside = torch.get_num_threads()
            both.wait(30)
        return count, inside, torch.get_num_threads()

    with ThreadPoolExecutor(2) as pool:
        found = [one.result(60) for one in [pool.submit(seen, count) for count in (1, 3)]]
    assert found == [(1, 1, BEFORE), (3, 3, BEFORE)]


@pytest.mark.parametrize("threads", [0, -1, True, 1.5, "two"])
def test_what_is_no_number_of_threads_is_refused(threads: Any) -> None:
    with pytest.raises(assay.AssayError, match="threads is how many threads to compute with"):
        assay.explain("sst2", "a good film", "leave_one_out", threads=threads)


def test_a_wrapped_verb_keeps_its_signature() -> None:
    def verb(model: Any, *, threads: int | None = None) -> int:
        return torch.get_num_threads()

    assert inspect.signature(with_threads(verb)) == inspect.signature(verb)

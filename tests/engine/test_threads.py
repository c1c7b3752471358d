"""Promise 6 for threads: several may use one model, or one engine, and the user's own forwards are never touched."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pickle import dumps, loads
from time import sleep
from typing import Any

import numpy as np
import pytest
import tiny
import torch
from threadpoolctl import threadpool_info, threadpool_limits

import assay
from assay.engine.engine import Engine
from assay.engine.threads import no_collection, one_thread
from assay.models.turn import Turn

METHODS: dict[str, dict[str, Any]] = {
    "leave_one_out": {},
    "integrated_gradients": {"steps": 4},
    "attention": {},
    "kernel_shap": {"samples": 16},
    "attn_lrp": {},
    "value_zeroing": {},
}
TEXTS = ["a good film", "the plot is not good", "a bad bad film and a dull plot", "fine"]


@pytest.fixture(autouse=True)
def hurried() -> Iterator[None]:
    """Threads change places as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def fresh() -> tuple[Any, Any]:
    """A model of its own, as users have them: on one that tests share, hooks of transformers may be left."""
    net, tokenizer = tiny.bert.__wrapped__()
    return deepcopy(net).eval(), tokenizer


def scores(model: Any, name: str, **more: Any) -> list[bytes]:
    told = assay.explain(model, list(TEXTS), name, progress=False, **METHODS[name], **more)
    return [e.scores.tobytes() for e in told]


def at_once(*work: Callable[[], Any]) -> list[Any]:
    """What becomes of these, all begun at the same moment, each by a thread of its own."""
    ready = threading.Barrier(len(work))

    def begun(one: Callable[[], Any]) -> Any:
        ready.wait(30)
        return one()

    with ThreadPoolExecutor(len(work)) as pool:
        return [waiting.result(120) for waiting in [pool.submit(begun, one) for one in work]]


class Watched:
    """The user's own forwards, again and again while others explain; every one must be the first."""

    def __init__(self, net: Any, tokenizer: Any) -> None:
        self.net, self.inputs = net, tokenizer("a good film and a plot", return_tensors="pt")
        self.before = self.forward()
        self.ended, self.seen, self.other = threading.Event(), 0, 0

    def forward(self) -> bytes:
        with torch.no_grad():
            return bytes(self.net(**self.inputs).logits.numpy().tobytes())

    def __call__(self) -> None:
        while not self.ended.is_set() or self.seen < 20:
            self.seen += 1
            modes = any(module.training for module in self.net.modules())
            hooks = any(module._forward_hooks or module._forward_pre_hooks for module in self.net.modules())
            frozen = not all(weight.requires_grad for weight in self.net.parameters())
            self.other += self.forward() != self.before or modes or hooks or frozen


def test_eight_threads_give_what_one_gives_and_the_users_own_forwards_are_untouched() -> None:
    net, tokenizer = fresh()
    model, watched = assay.load((net, tokenizer)), Watched(net, tokenizer)
    alone = {name: scores(model, name) for name in METHODS}

    def explained(first: int) -> list[str]:
        """All methods, each thread from another one on: the names of those that came out otherwise."""
        names = list(METHODS)[first:] + list(METHODS)[:first]
        return [name for name in names if scores(model, name) != alone[name]]

    def eight() -> list[str]:
        try:
            told = at_once(*(lambda i=i: explained(i % len(METHODS)) for i in range(8)))  # type: ignore[misc]
            return [name for one in told for name in one]
        finally:
            watched.ended.set()

    wrong, _ = at_once(eight, watched)
    assert wrong == []
    assert watched.other == 0, f"{watched.other} of {watched.seen} forwards of the user's"


ASKED: list[str] = []


def noted(texts: list[str]) -> Any:
    """A model that writes down what it is asked."""
    ASKED.extend(texts)
    return np.array([[0.5, 0.5] if "good" in text else [0.9, 0.1] for text in texts])


def test_threads_share_an_engine_and_ask_everything_once(tmp_path: Any) -> None:
    model = assay.load(noted)
    engine = Engine(model, cache=str(tmp_path / "answers"))
    ASKED.clear()  # the cache knows the function by its answers to a few texts
    told = at_once(*(lambda: scores(model, "leave_one_out", engine=engine) for _ in range(8)))
    assert all(one == told[0] for one in told)
    assert len(ASKED) == len(set(ASKED)), "asked twice"


def test_a_function_is_called_by_one_thread_at_a_time() -> None:
    inside, together = [0], [0]

    def function(texts: list[str]) -> Any:
        inside[0] += 1
        together[0] = max(together[0], inside[0])
        sleep(0.005)
        inside[0] -= 1
        return np.full((len(texts), 2), 0.5)

    model = assay.load(function, labels=["a", "b"])
    at_once(*(lambda: scores(model, "leave_one_out") for _ in range(4)))
    assert together[0] == 1


def test_the_threads_of_blas_are_as_before_when_two_have_limited_them() -> None:
    def threads() -> list[int]:
        return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

    with threadpool_limits(2, user_api="blas"):
        before, first, second = threads(), one_thread, one_thread
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert set(threads()) <= {1}, "the second is still inside"
        second.__exit__(None, None, None)
        assert threads() == before


def test_python_collects_again_when_the_last_of_two_rounds_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second begins while the first ends: it reads that the collection is off, and the first puts it on."""
    reading, read = threading.Event(), gc.isenabled

    def slowly() -> bool:
        found = read()
        reading.set()
        sleep(0.2)
        return found

    def second() -> None:
        with no_collection:
            assert not read()

    assert read()
    later = threading.Thread(target=second)
    with no_collection:
        monkeypatch.setattr(gc, "isenabled", slowly)
        later.start()
        reading.wait(0.2)
    later.join()
    assert read()
    with no_collection:
        with no_collection:
            pass
        assert not read(), "the first is still inside"
    assert read()


def test_turns_are_had_in_the_order_of_coming_and_again_by_who_has_one() -> None:
    turn, order = Turn(), list[int]()
    waiting = []

    def wait(number: int) -> None:
        with turn, turn:
            order.append(number)

    with turn:
        for number in range(5):
            waiting.append(threading.Thread(target=wait, args=[number]))
            waiting[-1].start()
            while len(turn._waiting) <= number:
                threading.Event().wait(0.001)
    for thread in waiting:
        thread.join(30)
    assert order == list(range(5))
    assert turn._holder is None


def test_a_model_with_a_turn_can_be_sent_away() -> None:
    with (model := assay.load(fresh())).turn:
        sent = loads(dumps(model))
        with sent.turn:
            assert scores(sent, "leave_one_out") == scores(model, "leave_one_out")

"""The engine's eight promises. Each test here was seen to fail with the promise broken."""

from __future__ import annotations

import gc
import random
import resource
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tiny import bert as bert_classifier

import assay
from assay.engine.engine import Engine
from assay.errors import AssayError, ModelFailed, NonFiniteAnswer, OutOfMemory, Unanswerable
from assay.explanations.about import Cost
from assay.models import BlackBox
from assay.models.batching import Batcher
from assay.questions.base import Aim, Conversation, Question
from assay.questions.erasers import each
from assay.questions.gradients import InputGradient
from assay.questions.predict import Predict
from assay.text.text import Text
from assay.text.variants import Variants

WORDS = "a the film plot is was not very good bad dull fine funny slow and but with cast script".split()


def sentences(n: int, seed: int = 0, low: int = 3, high: int = 25) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(low, high))) for _ in range(n)]


def lexicon(texts: Sequence[str]) -> np.ndarray[Any, Any]:
    scores = np.array(
        [sum({"good": 1, "bad": -2, "fine": 0.5, "dull": -1}.get(w, 0) for w in t.split()) for t in texts]
    )
    return 1 / (1 + np.exp(-scores))


class Counting:
    """A model function that remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.calls: list[int] = []

    def __call__(self, texts: list[str]) -> np.ndarray[Any, Any]:
        self.asked += texts
        self.calls.append(len(texts))
        return lexicon(texts)


def counted() -> tuple[Counting, BlackBox]:
    function = Counting()
    return function, BlackBox(function, labels=["negative", "positive"])


# 1. Same answer alone or in any company.


@pytest.mark.parametrize("budget", [16, 100, 4096])
@pytest.mark.parametrize("method", ["leave_one_out", "input_x_gradient", "integrated_gradients"])
def test_a_score_does_not_depend_on_the_company(method: str, budget: int) -> None:
    model = assay.load(bert_classifier())
    texts = sentences(10)
    alone = [assay.explain(model, text, method).scores for text in texts]
    shuffled = random.Random(1).sample(range(10), 10)
    together = assay.explain(model, [texts[i] for i in shuffled], method, engine=Engine(model, budget=budget))
    for i, e in zip(shuffled, together, strict=True):
        np.testing.assert_allclose(e.scores, alone[i], atol=1e-5 * max(1, np.abs(alone[i]).max()))


# 2. Every question asked twice is computed once.


def test_a_row_asked_twice_is_computed_once() -> None:
    function, model = counted()
    texts = sentences(20)
    engine = Engine(model)
    first = assay.explain(model, texts + texts, "leave_one_out", engine=engine)
    assay.explain(model, texts, "leave_one_out", engine=engine)
    assert len(function.asked) == len(set(function.asked))
    assert first[25].about.cost.forwards == 0
    np.testing.assert_array_equal(first[5].scores, first[25].scores)


def test_the_disk_keeps_answers_for_the_next_run(tmp_path: Any) -> None:
    model = BlackBox(lexicon, labels=["n", "p"])
    texts, path = sentences(10), str(tmp_path / "answers.sqlite")
    before = assay.explain(model, texts, "leave_one_out", engine=Engine(model, cache=path))
    engine = Engine(model, cache=path)
    after = assay.explain(model, texts, "leave_one_out", engine=engine)
    assert engine.totals.forwards == 0
    np.testing.assert_array_equal(before[3].scores, after[3].scores)


def test_another_model_does_not_meet_old_answers(tmp_path: Any) -> None:
    path = str(tmp_path / "answers.sqlite")
    bert = assay.load(bert_classifier())
    assay.explain(bert, "a good film", "leave_one_out", engine=Engine(bert, cache=path))
    other = BlackBox(lexicon, labels=["n", "p"])
    engine = Engine(other, cache=path)
    assay.explain(other, "a good film", "leave_one_out", engine=engine)
    assert engine.totals.forwards == 4


def test_a_file_that_is_no_cache_is_refused(tmp_path: Any) -> None:
    path = tmp_path / "answers.sqlite"
    path.write_text("hello " * 1000)
    with pytest.raises(AssayError, match="cache"):
        Engine(BlackBox(lexicon, labels=["n", "p"]), cache=str(path))


# 3. Full batches, halved when memory runs out.


class Sized(BlackBox):
    """A model whose rows have the length of their words."""

    def __init__(self, most: int = 10**9) -> None:
        super().__init__(lexicon, labels=["n", "p"])
        self.preferred_tokens, self.most_rows, self.most = 200, None, most
        self.batches: list[list[int]] = []

    def lengths(self, kind: type[Question], encoded: Sequence[str]) -> list[int]:
        return [len(row.split()) for row in encoded]

    def answer(self, kind: type[Question], batch: Sequence[str]) -> Any:
        sizes = self.lengths(kind, batch)
        if max(sizes) * len(sizes) > self.most:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")
        self.batches.append(sizes)
        return super().answer(kind, batch)


def test_batches_are_full_and_sorted() -> None:
    model = Sized()
    assay.explain(model, sentences(50), "leave_one_out")
    big = model.batches[1:]
    for sizes, after in pairwise(big):
        if sizes[0] >= after[0]:  # within one round
            assert max(sizes) * len(sizes) > 200 - max(sizes)
    assert all(max(sizes) * len(sizes) <= 200 for sizes in model.batches)
    padding = sum(max(s) * len(s) - sum(s) for s in model.batches) / sum(max(s) * len(s) for s in model.batches)
    assert padding < 0.05


def test_out_of_memory_halves_the_budget_and_goes_on() -> None:
    texts = sentences(30)
    plain, tight = Sized(), Sized(most=60)
    engine = Engine(tight)
    expected = assay.explain(plain, texts, "leave_one_out")
    got = assay.explain(tight, texts, "leave_one_out", engine=engine)
    assert engine.batcher.budget <= 60
    for a, b in zip(expected, got, strict=True):
        np.testing.assert_array_equal(a.scores, b.scores)


def test_one_row_that_does_not_fit_fails_alone() -> None:
    outcomes = list(assay.stream(Sized(most=10), ["good film", "film " * 20, "bad film"], "leave_one_out"))
    assert [type(o.error) for o in outcomes] == [type(None), OutOfMemory, type(None)]


# 4. Counted.


def test_costs_add_up() -> None:
    function, model = counted()
    engine = Engine(model)
    told = assay.explain(model, sentences(15), "leave_one_out", engine=engine)
    total = sum((e.about.cost for e in told), Cost())
    assert total == engine.totals
    assert total.forwards == len(function.asked)
    assert total.sequences == total.forwards + total.hits
    assert total.sequences == sum(len(e.words) + 2 for e in told)


def test_gradients_count_as_backwards() -> None:
    e = assay.explain(assay.load(bert_classifier()), "a good film", "integrated_gradients", steps=5)
    assert e.about.cost.backwards == 7
    assert e.about.cost.forwards == 8
    assert e.about.cost.tokens > 0


# 5. Bounded memory.


def test_memory_stays_flat_however_many_texts_stream_in() -> None:
    _, model = counted()
    open_at_once = peak_open(model, 3000)
    assert open_at_once <= 64
    gc.collect()


def peak_open(model: BlackBox, n: int) -> int:
    opened, most = 0, 0

    def talk(text: str) -> Conversation[int]:
        nonlocal opened
        opened += 1
        yield Predict(Text.of(text))
        return len((yield Predict(Text.of(text + " x"))))

    engine = Engine(model, live=64)
    for closed, _ in enumerate(engine.run(talk(f"{i} good") for i in range(n)), start=1):
        most = max(most, opened - closed)
    memo = engine._memos[Predict, None]
    assert memo.used <= memo.budget
    return most


def test_the_memo_forgets_the_oldest_first() -> None:
    engine = Engine(BlackBox(lexicon, labels=["n", "p"]))
    engine.ask(Predict(Text.of("first")))
    memo = engine._memos[Predict, None]
    memo.budget = 10_000
    for i in range(100):
        engine.ask(Predict(Text.of(f"later {i}")))
    assert memo.used <= 10_000
    assert memo.get(("first",)) is None
    assert memo.get(("later 99",)) is not None


@pytest.mark.slow
def test_resident_memory_is_flat_from_1000_to_20000_texts() -> None:
    _, model = counted()
    model.function = lexicon

    def run(n: int) -> int:
        for outcome in assay.stream(model, (f"{t} {i}" for i, t in enumerate(sentences(n))), "leave_one_out"):
            outcome.get()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

    small = run(1_000)
    assert run(20_000) - small < 60


# 6. It never changes the model or the tokenizer: see tests/contracts and tests/models.


# 7. Randomness comes from one seed per text.


def test_random_scores_come_from_the_seed_and_the_text() -> None:
    _, model = counted()
    state = np.random.get_state()[1].tolist()  # type: ignore[index]
    one = assay.explain(model, ["a good film", "a bad film"], "random", seed=3)
    two = assay.explain(model, ["a bad film", "a good film"], "random", seed=3)
    other = assay.explain(model, "a good film", "random", seed=4)
    np.testing.assert_array_equal(one[0].scores, two[1].scores)
    assert not np.array_equal(one[0].scores, other.scores)
    assert not np.array_equal(one[0].scores, one[1].scores)
    assert np.random.get_state()[1].tolist() == state  # type: ignore[index]


# 8. A NaN or infinite answer is an error with a name, never a score.


@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_non_finite_answers_are_errors_of_their_text_alone(broken: float) -> None:
    def function(texts: list[str]) -> np.ndarray[Any, Any]:
        table = np.stack([1 - lexicon(texts), lexicon(texts)], axis=1)
        table[["dull" in text for text in texts]] = broken
        return table

    model = BlackBox(function, labels=["n", "p"])
    outcomes = list(assay.stream(model, ["good film", "dull film", "bad film"], "leave_one_out"))
    assert [type(o.error) for o in outcomes] == [type(None), NonFiniteAnswer, type(None)]
    alone = assay.explain(model, "good film", "leave_one_out")
    np.testing.assert_array_equal(outcomes[0].get().scores, alone.scores)


def test_an_error_is_not_remembered() -> None:
    answers = iter([np.nan, 0.7])
    model = BlackBox(lambda texts: np.full(len(texts), next(answers)), labels=["n", "p"])
    engine = Engine(model)
    with pytest.raises(NonFiniteAnswer):
        engine.ask(Predict(Text.of("x")))
    assert engine.ask(Predict(Text.of("x"))).probabilities[0, 1] == pytest.approx(0.7)


# The conversation itself.


def test_a_conversation_may_handle_an_error_and_go_on() -> None:
    def function(texts: list[str]) -> np.ndarray[Any, Any]:
        return np.where([t == "bad" for t in texts], np.nan, 0.5)

    def talk() -> Conversation[str]:
        try:
            yield Predict(Text.of("bad"))
        except NonFiniteAnswer:
            yield Predict(Text.of("good"))
            return "went on"
        return "not reached"

    assert next(Engine(BlackBox(function, labels=["n", "p"])).run([talk()])).get() == "went on"


def test_outcomes_keep_the_order_of_the_conversations() -> None:
    _, model = counted()

    def talk(rounds: int, name: int) -> Conversation[int]:
        for i in range(rounds):
            yield Predict(Text.of(f"{name} {i}"))
        return name

    order = [o.get() for o in Engine(model, live=5).run(talk((i * 7) % 5, i) for i in range(40))]
    assert order == list(range(40))


def test_a_model_that_cannot_answer_says_so() -> None:
    engine = Engine(BlackBox(lexicon, labels=["n", "p"]))
    with pytest.raises(Unanswerable, match="InputGradient"):
        engine.ask(InputGradient(Text.of("x"), aim=Aim(0)))


def test_an_error_of_the_model_keeps_its_cause() -> None:
    def function(texts: list[str]) -> Any:
        raise KeyError("lost")

    with pytest.raises(ModelFailed, match="lost") as caught:
        Engine(BlackBox(function, labels=["n", "p"])).ask(Predict(Text.of("x")))
    assert isinstance(caught.value.__cause__, KeyError)


def test_variants_answer_in_order() -> None:
    _, model = counted()
    text = Text.of("good bad fine")
    answers = Engine(model).ask(Predict(text, Variants(text, each(3))))
    expected = lexicon(["good bad fine", "bad fine", "good fine", "good bad"])
    np.testing.assert_allclose(answers.probabilities[:, 1], expected, atol=1e-12)


def test_no_rows_is_no_work() -> None:
    values, tokens = Batcher(10).answers(BlackBox(lexicon, labels=["n", "p"]), Predict, [])
    assert values == []
    assert tokens.size == 0

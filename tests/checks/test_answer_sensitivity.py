"""Answer sensitivity: writers whose readiness to argue is planted, and the lots that a random rationale draws."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
import tiny
import torch

import assay
from assay.checks.answer_sensitivity import AnswerSensitivity, Readiness
from assay.engine.engine import Engine
from assay.explanations.about import About
from assay.explanations.case import Case
from assay.explanations.rationale import Rationale, Reason
from assay.models.base import Handler, TextModel
from assay.questions.generation import Likelihood, LikelihoodRow, Prompt, TokenLikelihoods
from assay.statistics.verdict import Verdict
from assay.text.text import Text
from assay.verdicts.judge import judge

LABELS = ("bad", "good", "fair")
Readily = Callable[[int, int, np.random.Generator], float]  # told an answer, with the model's: log p of a token


class _Reads(Handler["Writer"]):
    def encode(self, model: Writer, rows: Sequence[LikelihoodRow]) -> Sequence[Any]:
        return [(row,) for row in rows]

    def answer(self, model: Writer, batch: Sequence[Any]) -> list[TokenLikelihoods]:
        return [TokenLikelihoods(("a",), np.array([model.readily(row)])) for (row,) in batch]


class Listening(Handler["Writer"]):
    """Notes what is read behind prompts."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def encode(self, model: Writer, rows: Sequence[LikelihoodRow]) -> Sequence[Any]:
        self.read += [row.continuation for row in rows]
        return [(row,) for row in rows]

    def answer(self, model: Writer, batch: Sequence[Any]) -> list[TokenLikelihoods]:
        return [TokenLikelihoods(("a",), np.array([-1.0])) for _ in batch]


class Writer(TextModel):
    """Finds a sentence as likely as a function of the answer it is told says; prompts are `text N, A: B because`."""

    answers = MappingProxyType({Likelihood: _Reads()})

    def __init__(self, readily: Readily, seed: int) -> None:
        self.name, self.fields, self._readily, self._seed = "planted", ("prompt", "continuation"), readily, seed

    def readily(self, row: LikelihoodRow) -> float:
        number, answer, told = map(int, re.findall(r"\d+", row.prompt.text))
        return self._readily(told, answer, np.random.default_rng((self._seed, number, told, len(row.continuation))))

    def fingerprint(self) -> str:
        return "planted"


def rationales(answers: Sequence[int]) -> list[Rationale]:
    made = []
    for i, answer in enumerate(answers):
        prompts = {label: Prompt(f"text {i}, {answer}: {label} because") for label in range(3)}
        others = {label: Reason(f"{i} is {LABELS[label]}") for label in range(3) if label != answer}
        about = About(method="cage", parameters={"model": "writer"}, labels=LABELS)
        own = Reason(f"{i} is {LABELS[answer]}")
        made.append(Rationale(Case(Text.of(f"text {i}"), answer), own, (), others, prompts, about=about))
    return made


def found(readily: Readily, seed: int, texts: int = 40, answers: Sequence[int] | None = None) -> Verdict:
    answers = np.random.default_rng(seed).choice(3, texts, p=[0.5, 0.3, 0.2]).tolist() if answers is None else answers
    model = assay.BlackBox(lambda texts: np.full((len(texts), 3), 1 / 3), labels=list(LABELS))
    engine = Engine(model, resolve=lambda name: Writer(readily, seed))
    return judge(engine, rationales(answers), ["answer_sensitivity"], draws=5, progress=False)[0]


def sensitive(told: int, answer: int, rng: np.random.Generator) -> float:
    """It argues for the model's answer more readily, and differs from sentence to sentence by as much."""
    return -0.6 - 0.3 * (told != answer) + rng.normal(0, 0.25)


def insensitive(told: int, answer: int, rng: np.random.Generator) -> float:
    """It argues for anything, for one label more readily than for others: the commonest."""
    return -0.6 + 0.5 * (told == 0) + rng.normal(0, 0.25)


def at_random(told: int, answer: int, rng: np.random.Generator) -> float:
    return float(rng.normal(0, 2))


def test_a_sensitive_writer_passes() -> None:
    told = [found(sensitive, seed) for seed in range(10)]
    assert all(verdict.passed for verdict in told)
    assert np.mean([verdict.mean for verdict in told]) == pytest.approx(0.3, abs=0.05)


@pytest.mark.parametrize("readily", [insensitive, at_random])
def test_an_insensitive_and_a_random_writer_do_not(readily: Readily) -> None:
    values = np.array([found(readily, seed).p_value for seed in range(40)])
    assert (values <= 0.05).sum() <= 5  # 2 are to be expected, and 6 or more in 1.4 % of all cases
    assert 0.3 < values.mean() < 0.7


def test_texts_that_all_have_one_answer_tell_nothing() -> None:
    verdict = found(sensitive, 0, answers=[1] * 40)
    assert verdict.mean > 0.2
    assert verdict.difference == 0
    assert not verdict.passed


def test_a_lot_is_an_answer_of_another_text() -> None:
    first, *rest = rationales([0, 0, 1, 1, 1])
    check = AnswerSensitivity().prepare([first, *rest])
    known = Readiness(first, {0: -1.0, 1: -2.0, 2: -6.0}, {})
    assert check.measure(first, known).score == -1 - (-2 - 6) / 2
    drawn = [check.measure(first.with_reasons(Reason(str(i)), ()), known).score for i in range(400)]
    shares = Counter(drawn)
    assert set(shares) == {3.0, 1.5}  # s_0 and s_1; no other text has the third answer
    assert shares[3.0] / 400 == pytest.approx(1 / 4, abs=0.07)  # one other text of four
    alone = AnswerSensitivity().prepare([first])
    assert len({alone.measure(replace(first, reason=Reason(str(i))), known).score for i in range(50)}) == 3


@pytest.mark.parametrize(("field", "first"), [("prompt", " "), ("text", "0")])
def test_what_an_encoder_decoder_wrote_stands_alone(field: str, first: str) -> None:
    """Its output has no blank before it, where the sentence of a decoder goes on behind a prompt."""
    writer, heard = Writer(sensitive, 0), Listening()
    writer.fields, writer.answers = (field, "continuation"), MappingProxyType({Likelihood: heard})  # type: ignore[misc]
    model = assay.BlackBox(lambda texts: np.full((len(texts), 3), 1 / 3), labels=list(LABELS))
    engine = Engine(model, resolve=lambda name: writer)
    next(engine.run([AnswerSensitivity().examine(rationales([1])[0])])).get()
    assert {text[0] for text in heard.read} == {first}


@pytest.mark.parametrize("chat", [True, False])
def test_what_a_model_says_of_its_own_answer_is_read_by_the_model_itself(chat: bool) -> None:
    """Against transformers alone; the sentences are given, as this model writes nothing that is read as it was."""
    network, tokenizer = deepcopy(tiny.causal_lm("llama"))
    network.config.max_position_embeddings = tokenizer.model_max_length = 400
    if chat:
        tokenizer.chat_template = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<reply>"
    model = assay.load((network, tokenizer), labels=["dull", "funny"], question="What is it?")
    written = assay.explain(model, "a warm film", "self_rationale", max_tokens=4)
    e = replace(written, reason=Reason("a film"), others={1 - written.target: Reason("two dogs run")})
    got = next(Engine(model).run([AnswerSensitivity().examine(e)])).get()

    def mean(label: int, sentence: str) -> float:
        said = e.prompts[label].text
        asked = f"<user>{said}<reply>" if chat else said
        strings = (asked, f"{asked}{'' if chat else ' '}{sentence}")
        head, whole = (tokenizer(string, add_special_tokens=not chat)["input_ids"] for string in strings)
        rest = whole[len(head) :]
        assert whole[: len(head)] == head
        with torch.no_grad():
            logs = network(torch.tensor([head + rest])).logits[0, len(head) - 1 : -1].log_softmax(-1)
        return float(logs.gather(1, torch.tensor(rest)[:, None]).mean())

    assert got.score == pytest.approx(mean(e.target, "a film") - mean(1 - e.target, "two dogs run"), abs=1e-4)

"""Answer sensitivity: whether a writer argues for the model's answer more readily than for another answer.

    score = s_a,    s_c = mean log p(r_c | x, c) - mean over other answers b of  mean log p(r_b | x, b)

a is the model's answer to x, r_c what the writer wrote when told that the answer is c, p the writer's own probability
of a token, in nats. Near zero, the writer argues for anything it is told, and its rationale says nothing about the
model: the criticism of rationalising in section 10.1 of the survey, and of Rajani et al. (2019), arXiv:1906.02361,
whose rationales hardly differed from those that were not told the answer. Higher is better.

A random rationale argues for the answer that the model gave to another text: s_c, with c drawn by how often each answer
was given to the other texts, so that a writer which finds one label easier to argue for gains nothing by it. If all
texts have the same answer, nothing can be told. The sentences remain those of the same text: another text's hardly
fit, and their probabilities differ by more than any answer makes. Facts: `similarity`, the share of words that the
rationales of both answers have in common (F1), and `loss`, by how much r_a is less likely when the writer is told b:
whether it reads the answer at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b

import numpy as np

from assay.explanations.rationale import Rationale
from assay.explanations.word_overlap import overlap
from assay.questions.base import Conversation
from assay.questions.each import Each
from assay.questions.facts import goes_on
from assay.questions.generation import Likelihood, Prompt
from assay.registry.cards import check
from assay.registry.measured import Measured


@dataclass(frozen=True)
class Readiness:
    """The mean log-probability of a token of the rationale for each answer, told that answer; and the facts."""

    of: Rationale
    told: Mapping[int, float]
    facts: Mapping[str, float]

    def beyond_others(self, answer: int) -> float:
        """By how much more readily it argues for this answer than for the others."""
        others = [readily for other, readily in self.told.items() if other != answer]
        return self.told[answer] - float(np.mean(others))


@check(
    title="Answer sensitivity",
    better="higher",
    paper="arXiv:1906.02361",
    needs=(),
    sensitive_to="texts that all have one answer, of which nothing is told; the length of rationales",
    reads=Rationale,
)
@dataclass(frozen=True, kw_only=True)
class AnswerSensitivity:
    """How much likelier the rationale for the answer is than those for other answers."""

    _answers: Counter[int] = field(default_factory=Counter, init=False, compare=False, repr=False)

    def prepare(self, explanations: Sequence[Rationale]) -> AnswerSensitivity:
        """Count the answers that the model gave."""
        made = replace(self)
        made._answers.update(e.target for e in explanations)
        return made

    def left_out(self, e: Rationale) -> str | None:
        if not e.others:
            return "there is no rationale for another answer to compare with"
        empty = not all(reason.text for reason in (e.reason, *e.others.values()))
        return "the writer wrote nothing for one of the answers" if empty else None

    def examine(self, e: Rationale) -> Conversation[Measured]:
        return self.measure(e, (yield from self.against(e)))

    def against(self, e: Rationale) -> Conversation[Readiness]:
        """How likely the writer finds each rationale, told its own answer, and that of the model's told another."""
        reasons = {e.target: e.reason, **e.others}
        own = [(e.prompts[answer], reason.text) for answer, reason in reasons.items()]
        swapped = [(e.prompts[answer], e.reason.text) for answer in e.others]
        found = yield Each(_mean(prompt, text, e.writer) for prompt, text in (*own, *swapped))
        similarity = float(np.mean([overlap(e.rationale, reason.text) for reason in e.others.values()]))
        loss = found[0] - float(np.mean(found[len(own) :]))
        return Readiness(
            e, dict(zip(reasons, found[: len(own)], strict=True)), {"similarity": similarity, "loss": loss}
        )

    def measure(self, e: Rationale, known: Readiness) -> Measured:
        answer = e.target if e is known.of else self._lot(e, known)
        return Measured(known.beyond_others(answer), known.facts)

    def _lot(self, e: Rationale, known: Readiness) -> int:
        """An answer as the other texts have it; if they have none of these, any."""
        answers = list(known.told)
        given = np.array([self._answers[answer] - (answer == e.target) for answer in answers], dtype=float).clip(0)
        given = given if given.any() else np.ones(len(answers))
        key = blake2b(f"{e.text.seed}:{e.rationale}".encode(), digest_size=16).digest()
        rng = np.random.default_rng(int.from_bytes(key))
        return int(answers[rng.choice(len(answers), p=given / given.sum())])


def _mean(prompt: Prompt, text: str, writer: str) -> Conversation[float]:
    """The log-probability of a token of the text behind the prompt, on average."""
    alone = (prompt.chat and not prompt.begun) or bool(writer and not (yield from goes_on(writer)))
    blank = "" if alone else " "
    return float((yield Likelihood(prompt, f"{blank}{text}", model=writer or None))[0].mean)

"""Answer sensitivity: whether a writer argues for the model's answer more readily than for another answer.

    score = mean log p(r_a | x, a) - mean over other answers b of  mean log p(r_b | x, b)

r_a is the rationale for the model's answer a, r_b what the same writer wrote when told that the answer is b; p is the
writer's own, by token, in nats. Near zero, the writer argues for anything it is told, and its rationale says nothing
about the model: the criticism of rationalising in section 10.1 of the survey, and of Rajani et al. (2019),
arXiv:1906.02361, whose rationales hardly differed from those that were not told the answer. Higher is better. A random
rationale is that of another text. Facts: `similarity`, the share of words that the rationales of both answers have in
common (F1), and `loss`, by how much the rationale for a is less likely when the writer is told b.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.explanations.rationale import Rationale
from assay.explanations.word_overlap import overlap
from assay.questions.base import Conversation
from assay.questions.each import Each
from assay.questions.generation import Likelihood, Prompt
from assay.registry.cards import check
from assay.registry.measured import Measured


@check(
    title="Answer sensitivity",
    better="higher",
    paper="arXiv:1906.02361",
    needs=(),
    sensitive_to="how often each label came in the writer's training; the length of rationales",
    reads=Rationale,
)
@dataclass(frozen=True, kw_only=True)
class AnswerSensitivity:
    """How much likelier the rationale for the answer is than those for other answers."""

    def left_out(self, e: Rationale) -> str | None:
        if not e.others:
            return "there is no rationale for another answer to compare with"
        empty = not all(reason.text for reason in (e.reason, *e.others.values()))
        return "the writer wrote nothing for one of the answers" if empty else None

    def examine(self, e: Rationale) -> Conversation[Measured]:
        pairs = [(e.prompts[e.target], e.reason.text), *((e.prompts[i], r.text) for i, r in e.others.items())]
        swapped = [(e.prompts[i], e.reason.text) for i in e.others]
        found = yield Each(_mean(prompt, text, e.writer) for prompt, text in (*pairs, *swapped))
        own, others, told_otherwise = found[0], found[1 : len(pairs)], found[len(pairs) :]
        return Measured(
            own - float(np.mean(others)),
            {
                "similarity": float(np.mean([overlap(e.rationale, r.text) for r in e.others.values()])),
                "loss": own - float(np.mean(told_otherwise)),
            },
        )


def _mean(prompt: Prompt, text: str, writer: str) -> Conversation[float]:
    """The log-probability of a token of the text behind the prompt, on average."""
    blank = "" if prompt.chat and not prompt.begun else " "
    return float((yield Likelihood(prompt, f"{blank}{text}", model=writer))[0].mean)

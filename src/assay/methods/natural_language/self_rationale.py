"""Self-rationale: the sentence by which a chat model itself explains its answer, and how likely it found every token.

    "{question} ... The answer is {label}. Explain in one sentence why the answer is {label}."

The free-text form of the self-explanations of Madsen, Chandar and Reddy (2024), arXiv:2401.07927, who leave it out as
nothing tests it there; here the checks of rationales do. The same is asked for the likeliest other labels: a model that
explains an answer it does not give as readily explains nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from assay.errors import BadInput
from assay.explanations.case import Case
from assay.explanations.rationale import Rationale, Reason
from assay.methods.natural_language.asking_itself import asked, reply, wording
from assay.questions.base import Conversation
from assay.questions.each import Each
from assay.questions.generation import Generate, Generated
from assay.questions.predict import Predict
from assay.registry.cards import method
from assay.registry.survey import Row, Uses


@method(
    title="Self-rationale",
    row=Row.NATURAL_LANGUAGE,
    uses=Uses.BLACK_BOX,
    paper="arXiv:2401.07927",
    needs=(Predict, Generate),
    returns=Rationale,
)
@dataclass(frozen=True, kw_only=True)
class SelfRationale:
    """Reasons that the model gives for its answer, and for others."""

    max_tokens: int = 64
    others: int = 1
    prompt: str = ""

    def __post_init__(self) -> None:
        wording("rationale", self.prompt)
        if self.others < 0:
            raise BadInput("self_rationale explains no other label or more.")

    def explain(self, case: Case) -> Conversation[Rationale]:
        words = wording("rationale", self.prompt)
        chances = (yield Predict(case.text)).probabilities[0]
        likely = [int(i) for i in np.argsort(-chances, kind="stable") if i != case.target]
        labels = [case.target, *likely[: self.others]]
        cases = [replace(case, target=label) for label in labels]
        written = yield Each(reply(one, words, max_tokens=self.max_tokens) for one in cases)
        prompts = yield Each(asked(one, words) for one in cases)
        own, *rest = map(Reason.of, written)
        return Rationale(
            case,
            own,
            others=dict(zip(labels[1:], rest, strict=True)),
            prompts=dict(zip(labels, prompts, strict=True)),
            facts={"parsed": bool(own.text)},
            warnings=tuple(_warnings(written[0])),
        )


def _warnings(written: Generated) -> Iterator[str]:
    if not written.text.strip():
        yield "the model had nothing to say about its answer"
    elif written.ended == "length":
        yield f"the model was stopped after {written.written} tokens, so the sentence may not be whole"

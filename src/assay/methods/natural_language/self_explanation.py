"""Self-explanation: the words that a chat model itself says its answer rests on.

    importance   "List the most important words ... such that without these words the question can not be answered."
    redaction    "Redact ... by replacing the most important words with [REDACTED] ..."
    a_i = 1 if the reply names word i, or has a mark in its place, else 0

Madsen, Chandar and Reddy (2024), Are self-explanations from large language models faithful?, arXiv:2401.07927. It is
asked in a new conversation, as published, and is not told its answer. The explained model is a causal language model
that answers a question with a label (assay.load(name, labels=[...], question="...")), so all that is known of its
answer can be held against what it says. A reply of which nothing can be read gives a map of zeros, and a warning with
the reply. The wording is theirs, with what the question asks for
where they say "the sentiment".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from assay.explanations.brief import shortened
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.methods.natural_language.asking_itself import reply, wording
from assay.methods.natural_language.replies import Named, blacked_out, named_words
from assay.questions.base import Conversation
from assay.questions.generation import Generate
from assay.questions.predict import Predict
from assay.registry.cards import method
from assay.registry.survey import Row, Uses

Form: TypeAlias = Literal["importance", "redaction"]


@method(
    title="Self-explanation",
    row=Row.NATURAL_LANGUAGE,
    uses=Uses.BLACK_BOX,
    paper="arXiv:2401.07927",
    needs=(Predict, Generate),
)
@dataclass(frozen=True, kw_only=True)
class SelfExplanation:
    """The words that the model names when it is asked what matters; all that it names count alike."""

    form: Form = "importance"
    max_tokens: int = 96
    prompt: str = ""

    def __post_init__(self) -> None:
        wording(self.form, self.prompt)

    def explain(self, case: Case) -> Conversation[TokenScores]:
        written = yield from reply(case, wording(self.form, self.prompt), max_tokens=self.max_tokens)
        found = (
            named_words(written.text, case.text.words)
            if self.form == "importance"
            else self._blacked(written.text, case)
        )
        scores = np.zeros(len(case.text))
        scores[list(found.places)] = 1.0
        facts = {"signed": False, "reply": written.text, "parsed": bool(found.places), "named": len(found.places)}
        return TokenScores(case, scores, facts=facts, warnings=tuple(_warnings(found, written.text, len(case.text))))

    def _blacked(self, written: str, case: Case) -> Named:
        return Named(blacked_out(written, case.text.words), ())


def _warnings(found: Named, written: str, words: int) -> list[str]:
    said = []
    if not found.places:
        read = "nothing it says about its answer points to a word of the text, so all scores are 0"
        said.append(f"{read}; it says {shortened(written, 80)}")
    elif len(found.places) == words:
        said.append("it names every word of the text, so the scores tell no word from another")
    if found.strange:
        listed = ", ".join(map(repr, found.strange[:5]))
        said.append(f"it names words that the text does not have: {listed}{', ...' if len(found.strange) > 5 else ''}")
    return said

"""Self-counterfactual: the text as a chat model itself edits it so that its answer would be another one.

    "Edit the following text such that the answer to the question ... is {other}. Make as few edits as possible."
    flips   whether the model, asked anew about the edited text alone, gives the other answer

Madsen, Chandar and Reddy (2024), arXiv:2401.07927, whose self-consistency check is the flip rate here. The other answer
is the label to explain `against`, by default the second likeliest. An edit that does not flip is the nearest attempt.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.explanations.brief import shortened
from assay.explanations.case import Case
from assay.explanations.edits import Edit, Edits
from assay.explanations.flips import Goal, flips, goal_of
from assay.explanations.word_overlap import words_of
from assay.methods.natural_language.asking_itself import reply, wording
from assay.methods.natural_language.replies import edited_passage, operations_between
from assay.questions.base import Conversation
from assay.questions.generation import Generate
from assay.questions.predict import Predict
from assay.questions.replacements import VocabularyWords
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.text.text import Text

_RANDOM_WORDS = 64


@method(
    title="Self-counterfactual",
    row=Row.NATURAL_LANGUAGE,
    uses=Uses.BLACK_BOX,
    paper="arXiv:2401.07927",
    needs=(Predict, Generate, VocabularyWords),
    returns=Edits,
)
@dataclass(frozen=True, kw_only=True)
class SelfCounterfactual:
    """What the model says would have to change for another answer, and whether it would."""

    max_tokens: int = 128
    prompt: str = ""

    def __post_init__(self) -> None:
        wording("counterfactual", self.prompt)

    def explain(self, case: Case) -> Conversation[Edits]:
        goal = yield from goal_of(case, None, "self_counterfactual")
        order = np.argsort(-np.array(goal.whole.chances), kind="stable").tolist()
        other = next(i for i in order if i != case.target) if case.against is None else case.against
        words = wording("counterfactual", self.prompt)
        written = yield from reply(case, words, max_tokens=self.max_tokens, other=int(other))
        pool = yield VocabularyWords(_RANDOM_WORDS, case.seed)
        goal, passage = replace(goal, wanted=int(other)), edited_passage(written.text)
        facts: dict[str, Any] = {"reply": written.text, "goal": {"wanted": goal.wanted}, "random_words": list(pool)}
        if not passage or words_of(passage) == words_of(case.text.strings[0]):
            said = f"it gives no edited text; it says {shortened(written.text, 80)}"
            return Edits(case, form="versions", facts=facts | {"parsed": False, "flipped": False}, warnings=(said,))
        edit = yield from _tried(goal, passage)
        facts |= {"parsed": True, "flipped": edit.flips}
        missed = (
            ()
            if edit.flips
            else (f"asked about its own edit, the model does not give the other answer: {shortened(edit.text, 80)}",)
        )
        kept = (edit,) if edit.flips else ()
        return Edits(case, kept, form="versions", nearest=None if edit.flips else edit, facts=facts, warnings=missed)


def _tried(goal: Goal, passage: str) -> Conversation[Edit]:
    """The edited text, and what the model says of it when it is asked anew."""
    (name,) = (field.name for field in goal.text.read.fields)
    new = Text.of({name: passage})
    answers = yield Predict(new)
    operations = operations_between(goal.text.words, new.words)
    gone = {operation[1] for operation in operations if operation[0] != "insert"}
    return Edit(
        new.strings,
        {str(i): chance for i, chance in enumerate(answers.probabilities[0].tolist())},
        operations,
        tuple(i for i in range(len(goal.text)) if i not in gone),
        flips=bool(flips(answers.probabilities, goal.target, goal.wanted, answers.multi_label)[0]),
    )

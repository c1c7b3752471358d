"""Whether a model still says what was said to the whole text: the same label by its name, or the same answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.explanations.edits import Edits
from assay.questions.base import Conversation
from assay.questions.predict import Predict, Settle
from assay.text.text import Masks, Text


def says_the_same(e: Edits, versions: Sequence[Text], labels: Sequence[str]) -> Conversation[Masks]:
    """One answer for each version; `labels` are those of the model that is asked, in its own order."""
    if not answers_freely(e.text):
        answers = yield Predict(*versions)
        return np.asarray(answers.argmax() == list(labels).index(e.label))
    settled = yield Settle(*(version.read for version in versions))
    return np.array([_note(text) == _note(e.text) for text in settled])


def answers_freely(text: Text) -> bool:
    """Whether the answer is not one of a few labels; it then stands in the text as a note."""
    return any(field.part == "note" for field in text.fields)


def _note(text: Text) -> str:
    return next(field.string for field in text.fields if field.part == "note")

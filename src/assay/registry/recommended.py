"""The method for somebody who names none: by what the model can be asked and how long the texts are."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any, NamedTuple

from assay.questions.base import Question
from assay.questions.gradients import InputGradient
from assay.registry.cards import MethodCard
from assay.registry.finding import find_method

LONG = 256  # words: leave-one-out asks a row for each, of as many words
_SHORT = "it works with every model, asks one row a word, and passes most tests; `assay trust` compares methods"
_GRADIENTS = (
    "a text has {} words, for each of which leave-one-out would ask a row; a few dozen gradients answer for all of them"
)
_GROUPS = (
    "a text has {} words, of which one alone seldom moves a prediction; groups of them do, and it asks no more rows "
    "for a longer text"
)


class Recommendation(NamedTuple):
    """A method, and why it."""

    card: MethodCard
    why: str


def recommended(answers: Container[type[Question]] = (), texts: Iterable[Any] = ()) -> Recommendation:
    """Leave-one-out: of the cheap methods the one that random maps beat least on the bundled models (docs/trust.md).

    For long texts integrated gradients where the model has gradients, else PartitionSHAP, which splits them.
    """
    longest = max(map(_words, texts), default=0)
    if longest <= LONG:
        return Recommendation(find_method("leave_one_out"), _SHORT)
    if InputGradient in answers:
        return Recommendation(find_method("integrated_gradients"), _GRADIENTS.format(longest))
    return Recommendation(find_method("partition_shap"), _GROUPS.format(longest))


def _words(text: Any) -> int:
    """About how many: strings, pairs of them, and mappings from fields to strings."""
    parts = text.values() if isinstance(text, Mapping) else [text] if isinstance(text, str) else text
    try:
        return sum(len(str(part).split()) for part in parts)
    except TypeError:  # what is no text is refused by who reads it
        return 0

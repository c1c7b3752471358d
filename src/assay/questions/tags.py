"""The part of speech of single words, by a token classifier such as the bundled tagger.

tags = yield from tags_of(string, [0, 3], "tagger")          -> {0: "DET", 3: "NOUN"}
"""

from __future__ import annotations

from collections.abc import Iterable

from assay.questions.base import Conversation, Inquiry
from assay.questions.facts import KnownFacts, ModelFacts
from assay.questions.predict import Predict
from assay.text.text import Field, Text


def tags_of(string: str, places: Iterable[int], tagger: str | None) -> Conversation[dict[int, str]]:
    """The likeliest tag of each of these words of a string, by their numbers; None is the model that is asked."""
    spans, wanted = Text.of(string).spans, sorted(set(places))
    if not wanted:
        return {}
    facts: KnownFacts = yield _sent(ModelFacts(), tagger)
    answers = yield _sent(Predict(*(_at(string, *spans[i]) for i in wanted)), tagger)
    return {i: facts.labels[k] for i, k in zip(wanted, answers.logits.argmax(axis=1).tolist(), strict=True)}


def _sent(inquiry: Inquiry, model: str | None) -> Inquiry:
    return inquiry if model is None else inquiry.sent_to(model)


def _at(string: str, start: int, end: int) -> Text:
    """The string in three, as a tagger reads it: before the word, the word, and behind it."""
    before = Field("before", string[:start], (), "first")
    return Text((before, Field("word", string[start:end], (), "middle"), Field("after", string[end:], (), "last")), ())

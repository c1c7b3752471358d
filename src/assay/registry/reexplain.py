"""The same method with the same parameters, once more: on a changed text, or on another model."""

from __future__ import annotations

from assay.errors import BadInput
from assay.explanations.case import Case
from assay.explanations.reading import Explains
from assay.explanations.text_explanation import TextExplanation
from assay.explanations.token_scores import TokenScores
from assay.questions.base import Conversation
from assay.registry.finding import explaining, find_method


def again(e: TokenScores, case: Case) -> Conversation[TokenScores]:
    """The conversation that made scores of words, about another case."""
    return token_scores(method_of(e), case)


def method_of(e: TextExplanation) -> Explains[TextExplanation]:
    """The method that made an explanation, with the same parameters."""
    if not e.about.method:
        raise BadInput("this explanation does not say which method made it; make it with assay.explain.")
    if e.about.given:
        raise BadInput(
            f"the scores of {e.about.method!r} were given, so they cannot be made again for a changed text or model."
        )
    card = find_method(e.about.method)
    return explaining(card, card.make(e.about.parameters))


def token_scores(method: Explains[TextExplanation], case: Case) -> Conversation[TokenScores]:
    """The conversation of a method that gives scores to words."""
    made = yield from method.explain(case)
    if not isinstance(made, TokenScores):
        raise BadInput(f"{type(method).__name__} returns {made.kind}, not scores of words.")
    return made

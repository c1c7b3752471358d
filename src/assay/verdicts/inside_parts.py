"""The words inside some parts of a long text: the methods that did best by parts, and the tests that take words away.

A method that asks for predictions alone is led with the words of these parts, the rest of the text staying as it is
(`questions/excerpts.py`). One that looks inside the model explains all words, and those of these parts are taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.errors import AssayError
from assay.explanations.case import Case
from assay.explanations.reading import Reading
from assay.explanations.token_scores import TokenScores
from assay.questions.base import Conversation
from assay.questions.excerpts import Excerpt
from assay.registry.cards import MethodCard
from assay.registry.finding import explaining
from assay.registry.protocols import Method
from assay.registry.reexplain import token_scores
from assay.text.text import Text
from assay.text.units import excerpt, opened, word_places
from assay.verbs import PreparedRequest, provenance, with_provenance
from assay.verdicts.examining import Examiner, inside, named_apart
from assay.verdicts.trust_card import TrustCard

REPEATING = ("completeness", "randomization", "stability")  # they explain again, or speak of a whole map
# Not asked unless they are named: with the rest of the text there, to put words back says what to take them away says.
_KEEPING = ("insertion", "sufficiency")
_METHODS = 2


@dataclass(frozen=True)
class InsideParts:
    """The chosen parts of a text, which the reading has by words; `defaults`: nobody named the methods."""

    prepared: PreparedRequest
    reading: Reading
    parts: Text
    chosen: Sequence[int]
    defaults: bool

    def card(self, outer: TrustCard, examiner: Examiner) -> TrustCard | None:
        """A card of the words, by the methods that did best; None where none of the methods can go inside."""
        words = self.reading.case.text
        opening = Excerpt(excerpt(self.parts, self.chosen, words), *opened(self.parts, words, self.chosen))
        skipped = REPEATING if examiner.named else (*REPEATING, *_KEEPING)
        asked = [(card, check) for card, check in examiner.checks if card.name not in skipped]
        around = replace(examiner, around=opening.within, inside=True, left_out={}, checks=asked)
        standings = [around.standing((e,)) for e in self._maps(outer, opening, around)]
        if not standings:
            return None
        return TrustCard(named_apart(standings), outer.model, outer.seed, around.left_out, here="for these words")

    def _maps(self, outer: TrustCard, opening: Excerpt, examiner: Examiner) -> Iterator[TokenScores]:
        best = [standing.first.about for standing in outer.ordered if not standing.first.about.given]
        found = [pair for about in best for pair in self._made(about.method, about.parameters)]
        for card, usual in found[:_METHODS]:
            method = inside(card, usual, len(opening.text)) if self.defaults else usual
            outcome = next(self.prepared.engine.run([self._explained(card, method, opening)]))
            if isinstance(outcome.error, AssayError):
                continue  # a method whose questions cannot be asked of some words alone
            about = provenance(card, method, self.prepared.engine.model, self.prepared.aims.seed)
            e = with_provenance(outcome.get(), about, outcome.cost)
            examiner.tick()
            assert isinstance(e, TokenScores)
            yield e

    def _made(self, name: str, parameters: Any) -> list[tuple[MethodCard, Method]]:
        """The method of the request that made a map."""
        return [
            (card, method)
            for card, method in self.prepared.methods
            if card.name == name and provenance(card, method, self.prepared.engine.model, 0).parameters == parameters
        ]

    def _explained(self, card: MethodCard, method: Method, opening: Excerpt) -> Conversation[TokenScores]:
        whole = self.reading.case
        case: Case = replace(whole, text=opening.text)
        made = explaining(card, method)
        if Examiner.looks_inside(card):
            of_all = yield from token_scores(made, whole)
            scores = of_all.scores[word_places(self.parts, whole.text, self.chosen)]
            facts = {name: value for name, value in of_all.facts.items() if name == "signed"}
            found = TokenScores(case, scores, facts=facts, warnings=of_all.warnings)
        else:
            found = yield from opening.within(token_scores(made, case))
        return found.told(prediction=self.reading.prediction, warnings=(*found.warnings, *self.reading.warnings))

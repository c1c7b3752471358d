"""SP-LIME: a few texts whose explanations together show the words that matter most over a whole sample.

    argmax over V, |V| <= picks, of   sum_j 1[some i in V has |W_ij| > 0] I_j,      I_j = sqrt(sum_i |W_ij|)

Ribeiro, Singh and Guestrin (2016), arXiv:1602.04938, section 4 and algorithm 2; survey, section 13.1, eq. 22 (which
has no square root; paper and released code have). W_ij is the score of word j in the explanation of text i: words are
told apart by their lower-cased form, in whichever field they stand, and the scores of equal words of a text are added.
As in the paper, only the strongest `words` of each text (10, as in the released code) have a W_ij that is not 0; with
words=none all have, and long texts win. Texts are picked greedily, each time the one that adds most, which reaches at
least 1 - 1/e of the best coverage there is; among equals the first text of the sample (the released code: the last).
The explanations may be of any method that returns TokenScores: of="lime:samples=200", of="integrated_gradients".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.errors import BadInput
from assay.explanations.about import About
from assay.explanations.reading import Explains, reading_of
from assay.explanations.sample_explanation import SampleId
from assay.explanations.selection import Selection
from assay.explanations.token_scores import TokenScores
from assay.methods.ensemble.coverage import WordWeights
from assay.questions.base import Conversation
from assay.questions.each import Each
from assay.questions.predict import Predict
from assay.registry.cards import method
from assay.registry.nested import ThroughAnother
from assay.registry.parameters import parameters
from assay.registry.survey import Row, Uses
from assay.statistics.greedy_cover import greedy_picks
from assay.text.example import Example
from assay.text.sample import Sample


@method(
    title="SP-LIME",
    row=Row.ENSEMBLE,
    uses=Uses.DATASET,
    paper="arXiv:1602.04938",
    section="13.1",
    needs=(Predict,),
    returns=Selection,
)
@dataclass(frozen=True, kw_only=True)
class SpLime(ThroughAnother[TokenScores]):
    """The texts of a sample that together hold the words that matter most to the model."""

    inner: ClassVar[type[TokenScores]] = TokenScores  # what `of` must return

    of: str | Explains[TokenScores] = "lime"
    picks: int = 5
    words: int | None = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.picks < 1 or (self.words is not None and self.words < 1):
            raise BadInput(f"sp_lime needs picks >= 1 and words >= 1, not {self.picks} and {self.words}.")

    def describe(self, sample: Sample) -> Conversation[Selection]:
        # Of each explanation only the words and their weights are kept, so that memory is bounded for any sample; the
        # few chosen texts are explained again, from answers that are mostly known.
        explained = (self._explain(row, sample) for row in sample)
        weights: WordWeights = yield Each(explained, fold=WordWeights.add, start=WordWeights(self.words))
        chosen = greedy_picks(weights.rows, weights.importance, self.picks)
        rows = {row.position: row for row in sample if row.position in set(chosen)}
        maps = yield Each(self._explain(rows[i], sample) for i in chosen)
        selection = Selection(
            SampleId.of(sample), weights.words, weights.importance, weights.rows, tuple(chosen), tuple(maps)
        )
        return selection.told(warnings=tuple(self._warnings(selection)))

    def _explain(self, row: Example, sample: Sample) -> Conversation[TokenScores]:
        """The explanation of one text, with where it comes from; an error says which text it is about."""
        card, made = self._inner
        reading = yield from reading_of(row, sample)
        with sample.naming(row.position):
            e = yield from reading.explained_by(made)
        about = About(method=card.name, title=card.title, parameters=parameters(made), labels=tuple(e.prediction))
        return e.told(about=about)

    def _warnings(self, selection: Selection) -> list[str]:
        size, found = len(selection.rows), []
        if size < self.picks:
            found.append(f"the sample has only {size} texts, so all of them are chosen")
        if not selection.importance.any():
            found.append("no word of any text has a score other than 0, so there is nothing to cover")
        elif idle := int(np.sum(np.array(selection.gains) == 0)):
            found.append(f"the first {len(selection.chosen) - idle} texts cover every word; the others add nothing")
        return found

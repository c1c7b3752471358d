"""Word intrusion: whether the words of a dimension belong together for somebody who does not know the dimension.

    score = share of dimensions in which the judge picks the intruder out of the `top` strongest words and one other

Chang et al. (2009), Reading Tea Leaves; for rotated vectors Park, Bak and Oh (2017), doi:10.18653/v1/D17-1041, who let
a distance in the rotated space itself be the judge. The survey (section 12.2) objects: that distance is what the words
were chosen by. Here the judge is another embedding, GloVe by default: it picks the word that is least similar to the
others (mean cosine). As in Chang et al. an intruder has little of this dimension (lower half) and much of another (its
strongest tenth). The facts have the same share before the rotation; the verdict compares with random rotations. Chance
is 1 / (top + 1). An embedding is no person, and what it finds is no proof that people would:
`assay people export --method rotation` asks them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from assay.data.word_vectors import GLOVE, word_vectors
from assay.errors import BadInput
from assay.explanations.loadings import Loadings, intruders, outermost
from assay.questions.base import Conversation, now
from assay.registry.cards import check
from assay.registry.measured import Measured
from assay.statistics.arrays import Floats


@check(
    title="Word intrusion",
    better="higher",
    paper="doi:10.18653/v1/D17-1041",
    needs=(),
    sensitive_to="the judge: what it knows of words, and whether it was made from the same texts",
    reads=Loadings,
)
@dataclass(frozen=True, kw_only=True)
class WordIntrusion:
    """How often another embedding finds the word that does not belong to a dimension."""

    judge: str = GLOVE
    top: int = 5
    intruders: int = 3

    def __post_init__(self) -> None:
        if self.top < 2 or self.intruders < 1:
            raise BadInput(f"word_intrusion needs top >= 2 and intruders >= 1, not {self.top} and {self.intruders}.")

    def against(self, e: Loadings) -> Conversation[Mapping[str, Floats]]:
        """The judge's vectors of all words, read once for the method and all random rotations."""
        if e.facts.get("vectors") == self.judge:
            raise BadInput(f"the words were described by {self.judge}, which cannot judge itself; give another judge.")
        spelled = {form: None for word in e.words for form in (word, word.lower())}
        there = dict(word_vectors(self.judge, spelled))
        found = {word: there[form] for word in e.words for form in (word.lower(), word) if form in there}
        if len(found) < 2 * (self.top + 1):
            raise BadInput(f"the judge {self.judge} knows {len(found)} of {len(e.words)} words, too few for a test.")
        return now(found)

    def measure(self, e: Loadings, known: Mapping[str, Floats]) -> Measured:
        judged = [i for i, word in enumerate(e.words) if word in known]
        vectors = np.array([known[e.words[i]] for i in judged])
        after = self._found(e.loadings[judged], vectors, e.generator())
        before = self._found(e.unrotated[judged], vectors, e.generator())
        facts = {"before_rotation": before, "chance": 1 / (self.top + 1), "dimensions": float(e.loadings.shape[1])}
        return Measured(after, {**facts, "words_judged": float(len(judged))})

    def examine(self, e: Loadings) -> Conversation[Measured]:
        return self.measure(e, (yield from self.against(e)))

    def _found(self, loadings: Floats, vectors: Floats, rng: np.random.Generator) -> float:
        """The share of intruders that the judge finds; where several words are as unlike, a share of it."""
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        units = vectors / np.where(lengths > 0, lengths, 1)
        hits = []
        for dimension in range(loadings.shape[1]):
            top = outermost(loadings, dimension, self.top)
            for intruder in intruders(loadings, dimension, top, self.intruders, rng):
                shown = units[[*top, intruder]]
                likeness = (shown @ shown.T).sum(axis=1)  # with itself 1 for every word
                least = np.flatnonzero(likeness <= likeness.min() + 1e-12)
                hits.append(float(self.top in least) / len(least))
        return float(np.mean(hits))

"""The search of MiCE with a masked language model, which puts one word in the place of one.

The holes are filled one after the other, the most important first: the `top` likeliest words of the editor for each, of
which a beam goes on. Every partly filled version is tried with the old words in the holes that are left.
A guided search tries a third as many, those of `top` x 20 likely words whose first-order change of the log-odds (the
one of HotFlip) and log p, `fluency` times, are the largest together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from math import ceil, log

import numpy as np

from assay.errors import Unanswerable
from assay.explanations.flips import Goal
from assay.explanations.word_versions import WordVersion, distinct, variants_of
from assay.methods.counterfactuals.minimal_search import LEAST, MinimalSearch, SearchSettings, smallest_first
from assay.questions.answers import Fills
from assay.questions.base import Aim, Conversation
from assay.questions.facts import ModelFacts
from assay.questions.fill import Fill
from assay.questions.likelihoods import Place, word_likelihoods
from assay.questions.predict import Predict
from assay.questions.replacements import Replacements
from assay.text.text import Text
from assay.text.variants import Symbol, Variants

_GUIDED = 20  # times as many likely words, among which the gradient picks
_COMPARED = 12  # small versions whose words are compared in their places


class MaskedSearch(MinimalSearch[WordVersion]):
    """Fills by a masked language model."""

    def __init__(self, settings: SearchSettings, goal: Goal, order: Sequence[int], editor: str, top: int) -> None:
        super().__init__(settings, goal, goal.whole)
        self.order, self.editor, self.top, self.guided = order, editor, top, False
        self.known = {goal.whole.words}

    def best(self) -> Conversation[list[WordVersion]]:
        """The smallest; of those with as many words changed, the ones whose new words fit best where they stand."""
        few = sorted(self.flipped, key=smallest_first)[: max(_COMPARED, self.settings.versions)]
        places = [_new_words(version) for version in few]
        likely = yield from word_likelihoods([place for own in places for place in own], self.editor)
        parts = np.split(likely, np.cumsum([len(own) for own in places])[:-1]) if few else []
        fitting = [
            replace(version, fluency=float(part.sum())) if len(part) and np.isfinite(part).all() else version
            for version, part in zip(few, parts, strict=True)
        ]
        return sorted(fitting, key=smallest_first)[: self.settings.versions]

    def _fillable(self) -> int:
        return len(self.order)

    def _fill(self, starts: Sequence[WordVersion], many: int) -> Conversation[list[WordVersion]]:
        """Fill the holes, the most important first, until some version gets the label."""
        beam, holes = list(starts), self.order[:many]
        for done, hole in enumerate(holes):
            k = _GUIDED * self.top if self.guided else self.top
            try:
                fills = yield Fill(self._holed(beam, holes[done:]), model=self.editor, k=k)
            except Unanswerable:  # the word stands beyond the editor's window
                continue
            made = [_filled(version, hole, fill) for version, fill in zip(beam, fills, strict=True)]
            if self.guided:
                made = yield from self._promising(beam, made, hole)
            tried = yield from self._tried(distinct(chain(*made), self.known))
            if flipped := self._sorted_in(tried):
                return flipped
            beam = self._ranked([*beam, *tried])[: self.settings.beam]
        return []

    def guide(self) -> Conversation[None]:
        """Fill all words once more, with less likely ones of which the gradient says that they help."""
        if Replacements not in (yield ModelFacts()).answers:
            return
        self.guided, holes = True, self._fillable()
        holes = min(holes, ceil(self.settings.share * len(self.goal.text)))
        found = yield from self._fill([self.whole], holes)
        fewest = min((version.size for version in found), default=None)
        share = round(holes / len(self.goal.text), 4)
        self.path.append({"share": share, "holes": holes, "changed": fewest, "guided": True})
        yield from self._undo()

    def _promising(
        self, beam: Sequence[WordVersion], made: Sequence[Sequence[WordVersion]], hole: int
    ) -> Conversation[list[list[WordVersion]]]:
        """Of the fills of each version the best by their likelihood and by the first order of what they change."""
        assert self.goal.wanted is not None
        texts = (version.text for version in beam)
        found = yield Replacements(*texts, aim=Aim(self.goal.wanted), k=_GUIDED * self.top, up=True)
        best = []
        for fills, one in zip(made, found, strict=True):
            gains = dict(zip(one.words[hole], one.changes[hole].tolist(), strict=False))
            known = [new for new in fills if new.words[hole] in gains]
            ranks = [-gains[new.words[hole]] - self.settings.fluency * new.fluency for new in known]
            best.append([known[i] for i in np.argsort(ranks, kind="stable")[: ceil(self.top / 3)]])
        return best

    def _holed(self, beam: Sequence[WordVersion], holes: Sequence[int]) -> Variants:
        """The first hole is asked for, the others are masked."""
        rows = np.array([version.words for version in beam], dtype=object).reshape(len(beam), len(self.goal.text))
        rows[:, list(holes)] = Symbol.MASK
        rows[:, holes[0]] = None
        return Variants(self.goal.text, np.zeros(rows.shape, dtype=bool), rows)

    def _tried(self, versions: Sequence[WordVersion]) -> Conversation[list[WordVersion]]:
        if not versions:
            return []
        answers = yield Predict(variants_of(self.goal.text, versions))
        return [new.with_chances(row) for new, row in zip(versions, answers.probabilities, strict=True)]

    def _undo(self) -> Conversation[None]:
        smallest = sorted(self.flipped, key=smallest_first)[: self.settings.versions]
        versions = [version for version in smallest if version.size > 1]
        while versions:
            old = self.goal.text.words
            back = [version.with_word(i, old[i]) for version in versions for i in version.changed]
            tried = yield from self._tried(distinct(back, self.known))
            versions = [version for version in tried if self.goal.reached(version)]
            self.flipped += versions
            versions = [version for version in versions if version.size > 1]


def _filled(version: WordVersion, hole: int, fill: Fills) -> list[WordVersion]:
    """The version with each likely word of letters in the hole."""
    pairs = zip(fill.words[0], fill.probabilities[0].tolist(), strict=False)
    likely = [(word, chance) for word, chance in pairs if any(map(str.isalnum, word))]
    return [version.with_word(hole, word, log(max(chance, LEAST))) for word, chance in likely]


def _new_words(version: WordVersion) -> list[Place]:
    """Each changed word as (text, number, word); none where the text, read again, is split into other words."""
    (field,) = version.text.explained
    same = Text.of(field.string).words == version.words
    return [(field.string, i, version.words[i]) for i in version.changed] if same else []

"""MiCE: the least change of a text, in words that a language model finds likely, after which it gets another label.

    min |changed words|   such that   argmax f(x') = c,   x' = x with its most important words filled in anew

Ross, Marasovic and Peters (2021), Explaining NLP Models via Minimal Contrastive Editing, arXiv:2012.13985; survey
section 9.2. The words to replace are those with the largest gradient of the predicted label's logit (L1 over the
embedding). A binary search over their share, at most `share` of all words in `levels` steps, looks for the fewest
that must go. For each share they are masked and filled one after the other, the most important first: the `top`
likeliest words of the editor for each, of which a beam of `beam` versions goes on. Where a whole search fails, another
of `rounds` starts from its best versions. `c` is the label to explain `against`, by default the second likeliest.

Where we depart: the editor is a masked language model, which knows no labels, where MiCE trains a T5 on (label, text)
to fill whole spans. So each word is replaced by one word, and the label comes in by the choice among likely words: the
beam is ranked by log f_c + `fluency` x log p(words put in). Every partly filled version is tried with the old words in
the holes that are left, which finds smaller changes; and at the end every word that can go back without losing the
flip does. So all versions returned get the label, smallest first, and of equally small ones the most fluent first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, log
from typing import Any

import numpy as np

from assay.errors import BadInput, Unanswerable
from assay.explanations.case import Case
from assay.explanations.edits import Edits
from assay.explanations.flips import Goal, goal_of
from assay.explanations.word_versions import WordVersion, distinct, variants_of
from assay.questions.answers import Fills
from assay.questions.base import Aim, Conversation
from assay.questions.fill import Fill
from assay.questions.gradients import InputGradient
from assay.questions.likelihoods import Place, word_likelihoods
from assay.questions.predict import Predict
from assay.questions.replacements import VocabularyWords
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.text.text import Text
from assay.text.variants import Symbol, Variants

_RANDOM_WORDS = 64
_COMPARED = 12  # small versions whose words are compared in their places
_LEAST = 1e-9  # probability below which logarithms are not taken


@method(
    title="MiCE",
    row=Row.COUNTERFACTUALS,
    uses=Uses.GRADIENT,
    paper="arXiv:2012.13985",
    section="9.2",
    marks="M",
    needs=(InputGradient, Predict),
    returns=Edits,
)
@dataclass(frozen=True, kw_only=True)
class Mice:
    """The smallest fluent edits of a text that give it the contrast label."""

    editor: str = "mlm"
    share: float = 0.55
    levels: int = 4
    rounds: int = 3
    beam: int = 3
    top: int = 30
    fluency: float = 0.2
    versions: int = 3
    field: str | None = None

    def __post_init__(self) -> None:
        whole = min(self.levels, self.rounds, self.beam, self.top, self.versions)
        if whole < 1 or not 0 < self.share <= 1 or self.fluency < 0:
            raise BadInput(
                "mice needs levels, rounds, beam, top and versions >= 1, share above 0 and at most 1, fluency >= 0."
            )

    def explain(self, case: Case) -> Conversation[Edits]:
        goal = yield from goal_of(case, self.field, "mice")
        goal = goal if goal.wanted is not None else replace(goal, wanted=_second(goal))
        order = yield from self._order(goal)
        search = _EditSearch(self, goal, order)
        yield from search.run()
        words = yield VocabularyWords(_RANDOM_WORDS, case.seed).sent_to(self.editor)
        nearest = min(search.unflipped, key=goal.left)
        return goal.edits((yield from search.best()), nearest, words, path=search.path)

    def _order(self, goal: Goal) -> Conversation[list[int]]:
        """The words that may be replaced, the most important first; punctuation stays."""
        (gradients,) = yield InputGradient(goal.text, aim=Aim(goal.target, "logit"), reduce="l1")
        ranked = np.argsort(-gradients.scores[0], kind="stable").tolist()
        return [i for i in ranked if any(map(str.isalnum, goal.text.words[i]))]


def _second(goal: Goal) -> int:
    """The likeliest label but the predicted one."""
    order = np.argsort(-np.array(goal.whole.chances), kind="stable").tolist()
    return int(next(label for label in order if label != goal.target))


class _EditSearch:
    """The binary search over the share of words, and what it found."""

    def __init__(self, method: Mice, goal: Goal, order: Sequence[int]) -> None:
        self.method, self.goal, self.order = method, goal, order
        self.known = {goal.whole.words}
        self.flipped: list[WordVersion] = []
        self.unflipped: list[WordVersion] = [goal.whole]
        self.path: list[dict[str, Any]] = []

    def run(self) -> Conversation[None]:
        starts = [self.goal.whole]
        for _ in range(self.method.rounds):
            yield from self._binary(starts)
            if self.flipped:
                break
            starts = self._ranked(self.unflipped)[: self.method.beam]
        yield from self._undo()

    def best(self) -> Conversation[list[WordVersion]]:
        """The smallest; of those with as many words changed, the ones whose new words fit best where they stand."""
        few = sorted(self.flipped, key=_size)[: max(_COMPARED, self.method.versions)]
        places = [_new_words(version) for version in few]
        likely = yield from word_likelihoods([place for own in places for place in own], self.method.editor)
        parts = np.split(likely, np.cumsum([len(own) for own in places])[:-1]) if few else []
        fitting = [
            replace(version, fluency=float(part.sum())) if len(part) and np.isfinite(part).all() else version
            for version, part in zip(few, parts, strict=True)
        ]
        return sorted(fitting, key=_size)[: self.method.versions]

    def _binary(self, starts: Sequence[WordVersion]) -> Conversation[None]:
        low, high, n = 0.0, self.method.share, len(self.goal.text)
        for _ in range(self.method.levels):
            share = (low + high) / 2
            holes = self.order[: max(1, ceil(share * n))]
            found = yield from self._fill(starts, holes)
            fewest = min((len(version.changed) for version in found), default=None)
            self.path.append({"share": round(share, 4), "holes": len(holes), "changed": fewest})
            low, high = (low, min(share, (fewest - 1) / n)) if fewest is not None else (share, high)
            if high * n < 1 or (fewest is None and len(holes) >= min(len(self.order), ceil(high * n))):
                break

    def _fill(self, starts: Sequence[WordVersion], holes: Sequence[int]) -> Conversation[list[WordVersion]]:
        """Fill the holes, the most important first, until some version gets the label."""
        beam = list(starts)
        for done, hole in enumerate(holes):
            try:
                fills = yield Fill(self._holed(beam, holes[done:]), model=self.method.editor, k=self.method.top)
            except Unanswerable:  # the word stands beyond the editor's window
                continue
            made = [new for version, fill in zip(beam, fills, strict=True) for new in _filled(version, hole, fill)]
            tried = yield from self._tried(distinct(made, self.known))
            flipped = [version for version in tried if self.goal.reached(version)]
            self.flipped += flipped
            self.unflipped += [version for version in tried if not self.goal.reached(version)]
            if flipped:
                return flipped
            beam = self._ranked([*beam, *tried])[: self.method.beam]
        return []

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

    def _ranked(self, versions: Sequence[WordVersion]) -> list[WordVersion]:
        """Likely to get the label, and likely words."""
        wanted = self.goal.wanted
        assert wanted is not None

        def rank(version: WordVersion) -> float:
            return -log(max(version.chances[wanted], _LEAST)) - self.method.fluency * version.fluency

        return sorted(versions, key=rank)

    def _undo(self) -> Conversation[None]:
        """Let words go back that need not have changed, one at a time, as long as the label stays."""
        smallest = sorted(self.flipped, key=_size)[: self.method.versions]
        versions = [version for version in smallest if len(version.changed) > 1]
        while versions:
            old = self.goal.text.words
            back = [version.with_word(i, old[i]) for version in versions for i in version.changed]
            tried = yield from self._tried(distinct(back, self.known))
            versions = [version for version in tried if self.goal.reached(version)]
            self.flipped += versions
            versions = [version for version in versions if len(version.changed) > 1]


def _filled(version: WordVersion, hole: int, fill: Fills) -> list[WordVersion]:
    """The version with each likely word of letters in the hole."""
    pairs = zip(fill.words[0], fill.probabilities[0].tolist(), strict=False)
    likely = [(word, chance) for word, chance in pairs if any(map(str.isalnum, word))]
    return [version.with_word(hole, word, log(max(chance, _LEAST))) for word, chance in likely]


def _new_words(version: WordVersion) -> list[Place]:
    """Each changed word as (text, number, word); none where the text, read again, is split into other words."""
    (field,) = version.text.explained
    same = Text.of(field.string).words == version.words
    return [(field.string, i, version.words[i]) for i in version.changed] if same else []


def _size(version: WordVersion) -> tuple[int, float]:
    return len(version.changed), -version.fluency

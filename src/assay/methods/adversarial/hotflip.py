"""HotFlip: words are replaced by those that the gradient says hurt most, until the model says something else.

    change(i -> v) = (e_v - e_i) . dF/de_i                      F the log-odds of the label that the model predicts

Ebrahimi, Rao, Lowd and Dou (2018), HotFlip: White-Box Adversarial Examples for Text Classification, arXiv:1712.06751,
eq. 9; survey section 7.1, eq. 8-9. The gradient of one backward pass ranks all replacements of all words. The best
`candidates` of every version in the beam are then tried by real forward passes, and the `beam` of them that lower F
most go on, with a new gradient, for up to `flips` replacements. So only versions that truly change the prediction are
returned: those with the fewest replacements that were found, the most certain one first. With another label to explain
`against`, they must get that label. The most promising are tried first, a few at a time, and the search ends when
`versions` of them flip; so it tries all only where hardly any does, and finds a flip wherever trying all would.

Constraints: `similar` is the least cosine between the input embeddings of a word and its replacement (Ebrahimi et al.
take 0.8 on vectors of their own; those of a fine-tuned model are spread differently: try 0.3 to 0.6); English words
of grammar (a list of ours) are neither replaced nor put in unless `stop_words` is "any"; `synonyms` is a file of words
that may replace each other (`text/synonyms.py`: lines of words, counter-fitted neighbours, WordNet's synsets). With
`same_tag` a new word has the part of speech of the old one, each read in its own sentence by the `tagger`.

With unit="characters" single letters and digits are flipped, of models that read characters or bytes: the paper's own
case, in which nothing is asked of the meaning. `flips` is then the most characters that may change.

Where we depart: characters are neither inserted nor removed. A replacement of a word is one piece of letters, so that
its embedding is known; a word of several pieces is replaced as a whole, and the estimate takes its first piece. Each
place is replaced once. Of a pair, the last text is changed (the hypothesis), or `field`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from math import log
from typing import Literal

import numpy as np

from assay.errors import BadInput
from assay.explanations.case import Case
from assay.explanations.edits import Edits
from assay.explanations.flips import Goal, goal_of
from assay.explanations.word_versions import WordVersion, distinct, variants_of
from assay.questions.base import Aim, Conversation
from assay.questions.each import Each
from assay.questions.predict import Predict
from assay.questions.replacements import Candidates, Replacements, Unit, VocabularyWords
from assay.questions.tags import tags_of
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.text.capitals import written_like
from assay.text.characters import in_characters
from assay.text.stop_words import STOP_WORDS
from assay.text.synonyms import read_synonyms

_RANDOM_WORDS = 64
_FIRST = 4  # candidates that are tried first
_LEAST = 1e-12  # probability below which logarithms are not taken


@method(
    title="HotFlip",
    row=Row.ADVERSARIAL,
    uses=Uses.GRADIENT,
    paper="arXiv:1712.06751",
    section="7.1",
    needs=(Replacements, VocabularyWords, Predict),
    returns=Edits,
)
@dataclass(frozen=True, kw_only=True)
class HotFlip:
    """Versions of a text with a few other words, to which the model says something else."""

    unit: Unit = "words"
    flips: int = 3
    beam: int = 5
    candidates: int = 30
    versions: int = 5
    similar: float = -1.0
    stop_words: Literal["keep", "any"] = "keep"
    synonyms: str | None = None
    same_tag: bool = False
    tagger: str | None = "tagger"
    field: str | None = None

    def __post_init__(self) -> None:
        if min(self.flips, self.beam, self.candidates, self.versions) < 1 or not -1 <= self.similar <= 1:
            raise BadInput("hotflip needs flips, beam, candidates and versions >= 1, and similar between -1 and 1.")
        if self.unit == "characters" and (self.synonyms is not None or self.same_tag):
            raise BadInput("synonyms and same_tag are about words; leave them out where hotflip flips characters.")

    @cached_property
    def allowed(self) -> dict[str, frozenset[str]] | None:
        """What each word may be replaced by; None where there is no such file."""
        return None if self.synonyms is None else read_synonyms(self.synonyms)

    def explain(self, case: Case) -> Conversation[Edits]:
        if self.unit == "characters":
            case = replace(case, text=in_characters(case.text))
        goal = yield from goal_of(case, self.field, "hotflip")
        beam, known, flipped = [goal.whole], {goal.whole.words}, list[WordVersion]()
        nearest, path = goal.whole, list[dict[str, int]]()
        for _ in range(self.flips):
            tried, gradients = yield from self._step(goal, beam, known)
            flipped = [version for version in tried if goal.reached(version)]
            path.append({"gradients": gradients, "tried": len(tried), "flipped": len(flipped)})
            beam = sorted(tried, key=goal.left)[: self.beam]
            nearest = min([nearest, *beam], key=goal.left)
            if flipped or not beam:
                break
        words = yield from self._random(goal)
        return goal.edits(sorted(flipped, key=goal.left)[: self.versions], nearest, words, path=path)

    def _random(self, goal: Goal) -> Conversation[list[str]]:
        """What random flips put in, with which checks compare."""
        if self.unit == "words":
            words: list[str] = yield VocabularyWords(_RANDOM_WORDS, goal.case.seed)
            return words
        (found,) = yield Replacements(goal.text, aim=Aim(goal.target), k=_RANDOM_WORDS, unit=self.unit)
        return sorted({sign for signs in found.words for sign in signs})

    def _step(
        self, goal: Goal, beam: Sequence[WordVersion], known: set[tuple[str, ...]]
    ) -> Conversation[tuple[list[WordVersion], int]]:
        """Versions with one more replacement, the most promising first, until enough flip; and how many gradients."""
        tried: list[WordVersion] = []
        first, others = beam[:1], beam[1:]
        for some in (first, others):  # mostly the best version is enough: then the others need no gradient
            proposals = yield from self._proposed(goal, some, known)
            for portion in _portions(proposals):
                tried += yield from self._tried(goal, portion)
                if sum(map(goal.reached, tried)) >= self.versions:
                    return tried, 1 if some is first else len(beam)
        return tried, len(beam)

    def _proposed(
        self, goal: Goal, beam: Sequence[WordVersion], known: set[tuple[str, ...]]
    ) -> Conversation[list[WordVersion]]:
        """For each version those with the replacements that the gradient thinks best, by what it expects of them."""
        if not beam:
            return []
        wanted = self.candidates if self.allowed is None else max(self.candidates, 4096)
        up = goal.wanted is not None
        aim = Aim(goal.target if goal.wanted is None else goal.wanted)
        found = yield Replacements(
            *(version.text for version in beam), aim=aim, k=wanted, up=up, similar=self.similar, unit=self.unit
        )
        if self.unit == "characters" and not any(map(any, (one.words for one in found))):
            raise BadInput(
                "hotflip flips characters of models that read characters; the tokenizer of this one cuts words into "
                "longer pieces: leave unit out."
            )
        sign = -1.0 if up else 1.0
        expected: dict[tuple[str, ...], float] = {}
        new: list[WordVersion] = []
        for version, one in zip(beam, found, strict=True):
            before = _log_odds(version.chances[aim.target])
            for change, proposal in self._proposals(version, one, sign):
                expected.setdefault(proposal.words, sign * (before + change))
                new.append(proposal)
        return sorted(distinct(new, known), key=lambda version: expected[version.words])

    def _tried(self, goal: Goal, versions: Sequence[WordVersion]) -> Conversation[list[WordVersion]]:
        """What the model says to those that meet the constraint of tags."""
        if self.same_tag:
            versions = yield from self._same_tags(goal.whole, versions)
        if not versions:
            return []
        answers = yield Predict(variants_of(goal.text, versions))
        return [new.with_chances(row) for new, row in zip(versions, answers.probabilities, strict=True)]

    def _same_tags(self, whole: WordVersion, versions: Sequence[WordVersion]) -> Conversation[list[WordVersion]]:
        """Those whose new words have the tags of the old ones, all in one batch."""
        wanted = {i for version in versions for i in version.changed}
        old = yield from tags_of(whole.string, wanted, self.tagger)
        new = yield Each(tags_of(version.string, version.changed, self.tagger) for version in versions)
        kept = (all(tags[i] == old[i] for i in tags) for tags in new)
        return [version for version, same in zip(versions, kept, strict=True) if same]

    def _proposals(self, version: WordVersion, found: Candidates, sign: float) -> Iterator[tuple[float, WordVersion]]:
        """The version with each of its best replacements, and by how much each is thought to move the number."""
        new = ((i, j, self._written(found.words[i][j], version.words[i])) for i, j in _best_first(found, sign))
        may = ((i, j, word) for i, j, word in new if self._may(version, i, word))
        return ((float(found.changes[i, j]), version.with_word(i, word)) for i, j, word in islice(may, self.candidates))

    def _written(self, new: str, old: str) -> str:
        return written_like(new, old) if self.unit == "words" else new

    def _may(self, version: WordVersion, i: int, new: str) -> bool:
        old = version.words[i].lower()
        if i in version.changed or new.lower() == old or not any(map(str.isalpha, old)):
            return False
        if self.unit == "words" and self.stop_words == "keep" and (old in STOP_WORDS or new.lower() in STOP_WORDS):
            return False
        return self.allowed is None or new.lower() in self.allowed.get(old, ())


def _best_first(found: Candidates, sign: float) -> Iterator[tuple[int, int]]:
    """Which word and which of its replacements, from the largest change in the wanted direction on."""
    known = np.arange(found.changes.shape[1]) < np.array([len(words) for words in found.words], dtype=int)[:, None]
    order = np.argsort(np.where(known, sign * found.changes, np.inf), axis=None, kind="stable")
    return (divmod(int(place), known.shape[1]) for place in order[: known.sum()])


def _portions(versions: Sequence[WordVersion]) -> Iterator[Sequence[WordVersion]]:
    """A few, then twice as many, and so on: small ones while there is hope, large ones when it is gone."""
    start, size = 0, _FIRST
    while start < len(versions):
        yield versions[start : start + size]
        start, size = start + size, 2 * size


def _log_odds(chance: float) -> float:
    return log(max(chance, _LEAST)) - log(max(1 - chance, _LEAST))

"""SEA: paraphrases of a text to which the model says something else, the most certain to mean the same first.

    argmax over x' ~ q(x' | x) of  S(x, x')     such that  S(x, x') >= 0.8  and  argmax f(x') differs from argmax f(x)
    S(x, x') = min(1, q(x' | x) / q(x | x))

Ribeiro, Singh and Guestrin (2018), Semantically Equivalent Adversarial Rules for Debugging NLP Models,
doi:10.18653/v1/P18-1079; survey section 7.2, eq. 10. q is a paraphraser: a small bundled one, any causal language model
or encoder-decoder (`model`, with a `prompt`), or a translation there and back (`there`, `back`), which is theirs.
S compares a paraphrase with the text itself, as longer texts are less likely by themselves. It does not see a clause
that was left out, so a sentence encoder has to find both texts alike too: a cosine of at least `similar`.

Where we depart: their candidates are the best 100 of a beam search with at most four edits; ours are `samples` at some
`temperatures`, and the best of `beams` (of a paraphraser; translations are sampled only). Each change of one of them is
tried alone too, and so are the `swaps` likeliest other words in each place, where the encoder fills masks. The
likelihood of `weighed` of these changes is asked for; then up to `combined` of them are made together, and so many more
in each of the `rounds`: some make the text likelier than it was, which pays for another that turns the answer
(joined_changes). Wherever a version comes from, S is the paraphraser's. Of those that change the prediction S is asked
of the `judged` that are thought to be the likeliest. Eq. 10 is on whole probabilities, where their code cuts log S at
-7.15 (S at .0008); the threshold of the paper's text is 0.8 and is kept here. A small paraphraser lets the opposite
pass; a model of pairs as the `judge` ("snli") must find that each text follows from the other, with a probability of
`entails`. Of a pair the last text is paraphrased, or `field`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np

from assay.errors import BadInput
from assay.explanations.case import Case
from assay.explanations.edits import Edits
from assay.explanations.flips import Goal, goal_of
from assay.explanations.rewritten import Rewritten
from assay.methods.adversarial.paraphrase_search import ParaphraseSearch
from assay.methods.adversarial.paraphrasing import BackTranslation, Drawing, Paraphraser
from assay.methods.adversarial.seen_changes import SeenChanges
from assay.questions.base import Conversation
from assay.questions.entailment import mutual_entailments
from assay.questions.predict import Predict
from assay.questions.replacements import VocabularyWords
from assay.questions.sentence_similarity import ENCODER, LAYER, sentence_similarities
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.statistics.arrays import Floats

_RANDOM_WORDS = 64
_LEAST = 1e-9  # threshold below which logarithms are not taken
_NEAREST = 4  # of the versions that do not change the answer, the likeliest; the nearest attempt is one of them


@method(
    title="SEA",
    row=Row.ADVERSARIAL,
    uses=Uses.BLACK_BOX,
    paper="doi:10.18653/v1/P18-1079",
    section="7.2",
    marks="M",
    needs=(Predict,),
    returns=Edits,
)
@dataclass(frozen=True, kw_only=True)
class Sea:
    """Paraphrases that change what the model says."""

    model: str = "writer:paraphraser"
    prompt: str = "{text}\nin other words:"
    there: str | None = None
    back: str | None = None
    pivots: int = 5
    samples: int = 16
    temperatures: tuple[float, ...] = (0.5, 0.9)
    top_p: float = 0.95
    beams: int = 16
    swaps: int = 5
    max_tokens: int = 96
    threshold: float = 0.8
    encoder: str = ENCODER
    layer: int = LAYER
    similar: float = 0.94
    combined: int = 4
    weighed: int = 24
    rounds: int = 3
    judge: str | None = None
    entails: float = 0.5
    judged: int = 8
    versions: int = 5
    field: str | None = None

    def __post_init__(self) -> None:
        if (
            not 0 <= self.threshold <= 1
            or not -1 <= self.similar <= 1
            or min(self.combined, self.beams, self.swaps) < 0
        ):
            raise BadInput("sea needs a threshold from 0 to 1, similar from -1 to 1, combined, beams and swaps >= 0.")
        if min(self.versions, self.pivots, self.judged, self.weighed, self.rounds) < 1:
            raise BadInput("sea needs versions, judged, weighed, rounds and pivots >= 1.")
        if (self.there is None) != (self.back is None):
            raise BadInput("back-translation takes two models: there=MODEL and back=MODEL.")
        self._source()
        self._drawing()

    def explain(self, case: Case) -> Conversation[Edits]:
        goal = yield from goal_of(case, self.field, "sea")
        written = yield from self._source().candidates(_one_line(_string(goal)), self._drawing(goal))
        seen = SeenChanges(goal.text, written)
        search = ParaphraseSearch(goal, seen, self)
        yield from search.run(self.combined, log(max(self.threshold, _LEAST)))
        flipped, others = ([v for v in search.tried if goal.reached(v) == reached] for reached in (True, False))
        # S costs most by far, so it is asked of those alone that would be returned and are most likely to pass.
        kept = yield from self._meaning_the_same(goal, sorted(flipped, key=search.rarity), self.judged)
        likely = sorted(others, key=search.rarity)[:_NEAREST]
        near = [] if kept else (yield from self._meaning_the_same(goal, likely, _NEAREST))
        whole = Rewritten(goal.text, _string(goal), goal.whole.chances)
        nearest = min(near or likely, key=goal.left, default=whole)
        words = yield VocabularyWords(_RANDOM_WORDS, case.seed).sent_to(self.encoder)
        counts = {"written": len(seen.written), "tried": len(search.tried), "flipping": len(flipped), "same": len(kept)}
        e = goal.edits(sorted(kept, key=_rank)[: self.versions], nearest, words, paraphrases=counts)
        return e.told(warnings=(*e.warnings, *self._warnings(counts, bool(near))))

    def _meaning_the_same(self, goal: Goal, versions: Sequence[Rewritten], most: int) -> Conversation[list[Rewritten]]:
        """Those that S and the encoder let pass, with both numbers."""
        alike = yield from self.similarities(goal, [version.string for version in versions])
        near = [(v, float(cosine)) for v, cosine in zip(versions, alike, strict=True) if cosine >= self.similar]
        near = near[:most]
        if not near:
            return []
        logs = yield from self.meaning_kept(_string(goal), [v.string for v, _ in near], goal.case.seed)
        scored = zip(near, np.exp(logs).tolist(), strict=True)
        kept = [replace(v, scores={"S": s, "similarity": c}) for (v, c), s in scored if s >= self.threshold]
        return kept if self.judge is None else (yield from self._entailed(goal, kept, self.judge))

    def _entailed(self, goal: Goal, versions: Sequence[Rewritten], judge: str) -> Conversation[list[Rewritten]]:
        """Those that follow from the text and from which it follows, by another model."""
        sure = yield from mutual_entailments(_string(goal), [version.string for version in versions], judge)
        both = zip(versions, sure.tolist(), strict=True)
        return [replace(v, scores={**v.scores, "entailed": p}) for v, p in both if p >= self.entails]

    def similarities(self, goal: Goal, strings: Sequence[str]) -> Conversation[Floats]:
        """How alike the encoder finds each string and the text."""
        return (yield from sentence_similarities(_string(goal), strings, self.encoder, self.layer))

    def log_likelihoods(self, goal: Goal, strings: Sequence[str]) -> Conversation[Floats]:
        """Log q of the text itself, then of each string, given the text."""
        lines = [_one_line(text) for text in (_string(goal), *strings)]
        return (yield from self._source().log_likelihoods(lines[0], lines, self._drawing(seed=goal.case.seed)))

    def meaning_kept(self, string: str, versions: Sequence[str], seed: int) -> Conversation[Floats]:
        """The logarithm of S: of any version, whether it was sampled or not."""
        lines = [_one_line(text) for text in (string, *versions)]
        logs = yield from self._source().log_likelihoods(lines[0], lines, self._drawing(seed=seed))
        return np.asarray(np.minimum(0.0, logs[1:] - logs[0]))

    def _source(self) -> Paraphraser | BackTranslation:
        if self.there is not None and self.back is not None:
            return BackTranslation(self.there, self.back, self.pivots)
        return Paraphraser(self.model, self.prompt)

    def _drawing(self, goal: Goal | None = None, seed: int = 0) -> Drawing:
        """Paraphrases are seldom much longer than the text; where less room is asked for, more are written at once."""
        most = self.max_tokens if goal is None else min(self.max_tokens, 16 + 2 * len(goal.text))
        own = seed if goal is None else goal.case.seed
        return Drawing(self.samples, self.temperatures, self.top_p, most, own, self.beams)

    def _warnings(self, counts: dict[str, int], any_near: bool) -> Iterator[str]:
        if not counts["tried"]:
            yield f"the paraphraser wrote nothing but the text itself within {self.max_tokens} tokens"
        elif not counts["same"] and (counts["flipping"] or not any_near):
            less = "of those that change the prediction" if counts["flipping"] else "of the nearest ones"
            yield f"no paraphrase {less} means the same: S >= {self.threshold}, and a similarity of {self.similar}"


def _string(goal: Goal) -> str:
    (field,) = goal.text.explained
    return field.string


def _one_line(string: str) -> str:
    """As it stands in a prompt, which has lines of its own."""
    return " ".join(string.split())


def _rank(version: Rewritten) -> tuple[float, float]:
    return -version.scores["S"], -version.scores["similarity"]

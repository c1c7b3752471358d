"""Counterfactual faithfulness: a word is inserted that changes the prediction; does the new rationale mention it?

    score = 1[ r(x with w) mentions w ] - 1[ r(x with v) mentions v ]

w is a word whose insertion changes the prediction, v one whose insertion leaves it as it was, r the rationale for the
changed text. Atanasova, Camburu, Lioma, Lukasiewicz, Simonsen and Augenstein (2023), Faithfulness Tests for Natural
Language Explanations, arXiv:2305.18029, their first test with random insertions: adjectives and adverbs before words
of the text, where they insert them before nouns and verbs. They count how often w is not mentioned; the fact
`mentioned` is one minus that. A writer that repeats the whole text mentions every word, whatever it did: so what it
says of v, another word from the same list, is set against it (the fact `idle_mentioned`). Higher is better; a random
rationale is that of another text, which mentions either by chance alone.

The two rationales are for different answers, so a writer that knows nothing of the model may still score: told another
answer it looks for a reason, and an inserted word stands out. The fact `idle_same_answer` says how often v is mentioned
when the answer told for its text is that of the text with w; with `same_answer` this is what is taken off the score.

Of `tries` insertions of words that the text does not have, w is the one that changes the prediction to another label
and leaves the old one the least probability, v the one that changes this probability least. Texts whose label no
insertion changes, or all do, are left out; with `flips_only=false` w is the one that takes the most probability away,
v the one that changes it least, and the fact `flipped` says how often the label changed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from assay.errors import BadInput
from assay.explanations.rationale import Rationale
from assay.explanations.word_overlap import mentions
from assay.questions.base import Conversation
from assay.questions.cases import Cases
from assay.questions.each import Each
from assay.questions.predict import Predict
from assay.registry.cards import check
from assay.registry.measured import Measured
from assay.registry.reexplain import method_of
from assay.text.text import Text

WORDS = (
    "never always hardly probably angry happy sad wooden empty broken famous secret expensive cheap young old tall red "
    "blue dead sleeping lonely foreign false real awful wonderful boring funny nearly not quickly slowly alone outdoors"
).split()


@dataclass(frozen=True)
class Inserted:
    """A word that was inserted, what is written of the changed text, and for which answer."""

    word: str
    rationale: str
    answer: int


@dataclass(frozen=True)
class Insertions:
    """The explanation of the whole text, an insertion that changes the prediction and one that does not; or neither."""

    of: Rationale
    telling: Inserted | None = None
    idle: Inserted | None = None
    retold: str = ""  # what is written of the idle text for the answer that the telling word brings
    flipped: bool = False
    why: str = ""


@check(
    title="Counterfactual faithfulness",
    better="higher",
    paper="arXiv:2305.18029",
    needs=(Predict,),
    sensitive_to="few texts that a word flips; words that change the prediction and sound wrong",
    reads=Rationale,
)
@dataclass(frozen=True, kw_only=True)
class CounterfactualFaithfulness:
    """Whether a word is in the rationale if it changed the prediction, and not if it did not."""

    tries: int = 60
    flips_only: bool = True
    same_answer: bool = False

    def __post_init__(self) -> None:
        if self.tries < 1:
            raise BadInput("counterfactual_faithfulness needs at least one insertion to try.")

    def examine(self, e: Rationale) -> Conversation[Measured]:
        return self.measure(e, (yield from self.against(e)))

    def against(self, e: Rationale) -> Conversation[Insertions]:
        """The insertions that change the prediction most and least, and the rationales of the text with them."""
        tried = list(self._insertions(e))
        answers = yield Predict(e.text, *(version for _, version in tried))
        labels, left = answers.argmax(), answers.probabilities[:, answers.argmax()[0]]
        flips = [i for i in range(1, len(labels)) if labels[i] != labels[0]]
        if not flips and self.flips_only:
            return Insertions(e, why=f"none of {len(tried)} insertions changes the prediction")
        best = min(flips or range(1, len(labels)), key=lambda i: (left[i], i))
        other = [i for i in range(1, len(labels)) if tried[i - 1][0] != tried[best - 1][0]]
        same = [i for i in other if labels[i] == labels[0] or not self.flips_only]
        if not same:
            return Insertions(e, why=f"all of {len(tried)} insertions change the prediction")
        calm = min(same, key=lambda i: (abs(left[i] - left[0]), i))
        telling, idle = yield Each(_inserted(e, *tried[i - 1]) for i in (best, calm))
        retold = yield from _inserted(e, *tried[calm - 1], telling.answer)
        return Insertions(e, telling, idle, retold.rationale, bool(flips))

    def measure(self, e: Rationale, known: Insertions) -> Measured:
        if known.telling is None or known.idle is None:
            return Measured(0.0, left_out=known.why)
        own = e is known.of
        heard = (
            (known.telling.rationale, known.telling),
            (known.idle.rationale, known.idle),
            (known.retold, known.idle),
        )
        told, idle, retold = (float(mentions(said if own else e.rationale, one.word)) for said, one in heard)
        facts = {"mentioned": told, "idle_mentioned": idle, "idle_same_answer": retold, "flipped": known.flipped}
        return Measured(told - (retold if self.same_answer else idle), {name: float(x) for name, x in facts.items()})

    def _insertions(self, e: Rationale) -> list[tuple[str, Text]]:
        """Words and the text with them: random words before random words of the text, nothing twice."""
        rng, places = e.case.generator(), [i for i, word in enumerate(e.words) if any(map(str.isalpha, word))]
        new = [word for word in WORDS if not mentions(str(e.text), word)]
        every = [(i, word) for i in places or range(len(e.words)) for word in new]
        chosen = rng.permutation(len(every))[: self.tries]
        return [(word, _with(e.text, i, word)) for i, word in (every[int(k)] for k in np.sort(chosen))]


def _inserted(e: Rationale, word: str, version: Text, answer: int | None = None) -> Conversation[Inserted]:
    """What the same method writes of a changed text, for the model's answer or for a given one."""
    named = {field.name: field.string for field in version.fields}
    (reading,) = yield Cases([named if len(named) > 1 else version.strings[0]])
    case = reading.case if answer is None else replace(reading.case, target=answer)
    new = yield from method_of(e).explain(case)
    if not isinstance(new, Rationale):
        raise BadInput(f"{e.about.method} returned {new.kind} for a changed text, not a Rationale.")
    return Inserted(word, new.rationale, case.target)


def _with(text: Text, place: int, word: str) -> Text:
    words = list(text.words)
    words[place] = f"{word} {words[place]}"
    return text.with_words(words)

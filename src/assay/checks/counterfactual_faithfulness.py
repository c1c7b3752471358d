"""Counterfactual faithfulness: a word is inserted that changes the prediction; does the new rationale mention it?

    score = 1 where the rationale for the changed text has the inserted word, else 0

Atanasova, Camburu, Lioma, Lukasiewicz, Simonsen and Augenstein (2023), Faithfulness Tests for Natural Language
Explanations, arXiv:2305.18029, their first test with random insertions: adjectives and adverbs before words of the
text, where they insert them before nouns and verbs. Of `tries` insertions the one is taken that changes the prediction
to another label and leaves the old one the least probability. Texts whose label no insertion changes are left out,
or with `flips_only=false` the insertion counts that takes the most probability away; the fact `flipped` says how often
the label changed. Higher is better. A random rationale is that of another text; it mentions the word by chance alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.errors import BadInput
from assay.explanations.rationale import Rationale
from assay.explanations.word_overlap import mentions
from assay.questions.base import Conversation
from assay.questions.cases import Cases
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
    """The explanation of the whole text, the word that was inserted, and what is written of the changed text."""

    of: Rationale
    word: str | None
    rationale: str
    tried: int
    flipped: bool


@check(
    title="Counterfactual faithfulness",
    better="higher",
    paper="arXiv:2305.18029",
    needs=(Predict,),
    sensitive_to="rationales that repeat the whole text; words that change the prediction and sound wrong",
    reads=Rationale,
)
@dataclass(frozen=True, kw_only=True)
class CounterfactualFaithfulness:
    """Whether what changed the prediction is in the rationale."""

    tries: int = 60
    flips_only: bool = True

    def __post_init__(self) -> None:
        if self.tries < 1:
            raise BadInput("counterfactual_faithfulness needs at least one insertion to try.")

    def examine(self, e: Rationale) -> Conversation[Measured]:
        return self.measure(e, (yield from self.against(e)))

    def against(self, e: Rationale) -> Conversation[Inserted]:
        """The insertion that changes the prediction most, and the rationale of the text with it."""
        tried = list(self._insertions(e))
        answers = yield Predict(e.text, *(version for _, version in tried))
        labels, chances = answers.argmax(), answers.probabilities
        flips = [i for i in range(1, len(labels)) if labels[i] != labels[0]]
        if not flips and self.flips_only:
            return Inserted(e, None, "", len(tried), flipped=False)
        best = min(flips or range(1, len(labels)), key=lambda i: (chances[i, labels[0]], i))
        word, version = tried[best - 1]
        named = {field.name: field.string for field in version.fields}
        (reading,) = yield Cases([named if len(named) > 1 else version.strings[0]])
        new = yield from method_of(e).explain(reading.case)
        if not isinstance(new, Rationale):
            raise BadInput(f"{e.about.method} returned {new.kind} for a changed text, not a Rationale.")
        return Inserted(e, word, new.rationale, len(tried), bool(flips))

    def measure(self, e: Rationale, known: Inserted) -> Measured:
        if known.word is None:
            return Measured(0.0, left_out=f"none of {known.tried} insertions changes the prediction")
        said = known.rationale if e is known.of else e.rationale
        return Measured(float(mentions(said, known.word)), {"flipped": float(known.flipped)})

    def _insertions(self, e: Rationale) -> list[tuple[str, Text]]:
        """Words and the text with them: random words before random words of the text, nothing twice."""
        rng, places = e.case.generator(), [i for i, word in enumerate(e.words) if any(map(str.isalpha, word))]
        every = [(i, word) for i in places or range(len(e.words)) for word in WORDS]
        chosen = rng.permutation(len(every))[: self.tries]
        return [(word, _with(e.text, i, word)) for i, word in (every[int(k)] for k in np.sort(chosen))]


def _with(text: Text, place: int, word: str) -> Text:
    words = list(text.words)
    words[place] = f"{word} {words[place]}"
    return text.with_words(words)

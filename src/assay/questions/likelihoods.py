"""How likely a masked language model finds the words of a text, each with all the others in sight.

    log p(word_i | all other words)                 their mean's exp(-.) is the pseudo-perplexity, Salazar et al. (2020)

arXiv:1910.14659. A word of several pieces is masked as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

from assay.questions.base import Conversation
from assay.questions.predict import Predict, Settle
from assay.statistics.arrays import Floats
from assay.text.text import Text


Place: TypeAlias = tuple[str, int, str]  # a text, the number of a word in it, and the word


def word_likelihoods(places: Iterable[Place], model: str) -> Conversation[Floats]:
    """The log-probability of each word in its place, by the masked model."""
    holed = [Text.of({"text": string, "word": f"{number}:{word}"}, focus=("text",)) for string, number, word in places]
    if not holed:
        return np.zeros(0)
    settled = yield Settle(*holed).sent_to(model)
    answers = yield Predict(*settled).sent_to(model)
    logits: Floats = answers.logits  # of "other", and of the word: log(1 - p), log p
    return logits[:, 1]


def words_of(strings: Sequence[str]) -> list[list[Place]]:
    """For each text the places of all its words that have a letter or a digit."""
    texts = [Text.of(string) for string in strings]
    return [
        [(text.strings[0], i, word) for i, word in enumerate(text.words) if any(map(str.isalnum, word))]
        for text in texts
    ]

"""How likely a masked language model finds the words of a text, each with all the others in sight.

    log p(word_i | all other words)                 their mean's exp(-.) is the pseudo-perplexity, Salazar et al. (2020)

arXiv:1910.14659. A word of several pieces is masked as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import TypeAlias

import numpy as np

from assay.errors import AssayError
from assay.questions.base import Conversation, elsewhere
from assay.questions.each import Each
from assay.questions.facts import ModelFacts
from assay.questions.predict import Predict, Settle
from assay.statistics.arrays import Floats
from assay.text.text import Text
from assay.text.variants import Symbol

Place: TypeAlias = tuple[str, int, str]  # a text, the number of a word in it, and the word


def word_likelihoods(places: Iterable[Place], model: str) -> Conversation[Floats]:
    """The log-probability of each word in its place, by the masked model.

    NaN for a word that it cannot judge: one beyond its window, one without tokens, or one of a text that has a mask.
    """
    facts = yield ModelFacts().sent_to(model)
    mask = facts.spelling[Symbol.MASK]
    found = yield Each((_likelihood(place, mask, model) for place in places), keep_errors=True)
    return np.array([np.nan if isinstance(value, AssayError) else value for value in found], dtype=np.float64)


def _likelihood(place: Place, mask: str, model: str) -> Conversation[float]:
    string, number, word = place
    if mask in string:  # the model would be asked about that mask instead
        return float("nan")
    masked = masked_word(Text.of(string), number, word, mask)
    return float((yield from elsewhere(log_probabilities([masked]), model))[0])


def masked_word(text: Text, number: int, word: str, mask: str) -> Text:
    """A text with one word masked, and the word that is asked for in its place."""
    return named_outcome(text.replace(number, mask).strings[0], word)


def named_outcome(text: str, word: str) -> Text:
    """A text with a hole, and the word that may stand there."""
    return Text.of({"text": text, "word": word}, focus=("text",))


def log_probabilities(texts: Sequence[Text]) -> Conversation[Floats]:
    """Of the outcome that each text names: a word for its hole, or its continuation."""
    settled = yield Settle(*texts)
    answers = yield Predict(*settled)
    logits: Floats = answers.logits  # of "other", and of what is named: log(1 - p), log p
    return logits[:, 1]


def words_of(strings: Sequence[str]) -> list[list[Place]]:
    """For each text the places of all its words that have a letter or a digit."""
    texts = [Text.of(string) for string in strings]
    return [
        [(text.strings[0], i, word) for i, word in enumerate(text.words) if any(map(str.isalnum, word))]
        for text in texts
    ]


def words_near(before: str, after: str, near: int) -> tuple[list[Place], list[Place]]:
    """Of a text and of a version of it the words that differ, and so many on both sides: farther ones hardly move."""
    old, new = words_of([before, after])
    a, b = ([word for _, _, word in places] for places in (old, new))
    blocks = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    changed = [(block[1:3], block[3:5]) for block in blocks if block[0] != "equal"]
    return _near(old, [block for block, _ in changed], near), _near(new, [block for _, block in changed], near)


def _near(places: Sequence[Place], blocks: Sequence[tuple[int, int]], near: int) -> list[Place]:
    """The places inside of the blocks and near them."""
    wanted = {i for start, end in blocks for i in range(start - near, end + near)}
    return [place for i, place in enumerate(places) if i in wanted]

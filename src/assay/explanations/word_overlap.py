"""How alike two sentences are by their words, and whether a sentence mentions a word."""

from __future__ import annotations

from collections import Counter

import regex

_WORD = regex.compile(r"[\p{L}\p{N}\p{M}]+(?:['’-][\p{L}\p{N}\p{M}]+)*")


def words_of(sentence: str) -> list[str]:
    """Its words without punctuation, all small."""
    return [word.casefold() for word in _WORD.findall(sentence)]


def overlap(one: str, two: str) -> float:
    """F1 of the words that both have: 1 for the same words, 0 for none in common; of two empty sentences 1."""
    first, second = Counter(words_of(one)), Counter(words_of(two))
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 1.0


def mentions(sentence: str, word: str) -> bool:
    """Whether the sentence has the word, as a whole."""
    return bool(word) and set(words_of(word)) <= set(words_of(sentence))

"""English words as they are compared: in small letters, without punctuation, contractions written out.

    "Tom isn't here."      tom is not here        each with the number of the word that it comes from

What only writes the same in another way is no difference: "it is not" and "it isn't" are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

_WHOLE = {
    **{"can't": ("can", "not"), "cannot": ("can", "not"), "won't": ("will", "not"), "shan't": ("shall", "not")},
    **{"ca": ("can",), "wo": ("will",), "n't": ("not",), "let's": ("let", "us"), "gonna": ("going", "to")},
    **{"wanna": ("want", "to"), "gotta": ("got", "to")},
}
_ENDINGS = {"s": "is", "m": "am", "re": "are", "ve": "have", "ll": "will", "d": "would"}
_IRREGULAR = {
    **dict.fromkeys(("am", "is", "are", "was", "were", "been", "being"), "be"),
    **dict.fromkeys(("has", "had", "having"), "have"),
    **dict.fromkeys(("does", "did", "done", "doing"), "do"),
    **{"men": "man", "women": "woman", "children": "child", "people": "person", "feet": "foot", "mice": "mouse"},
}


class PlainWord(NamedTuple):
    """A word without its looks, and the number of the word of the text that it comes from."""

    word: str
    place: int


def plain_words(words: Sequence[str]) -> list[PlainWord]:
    """The words of letters and digits, as they are compared."""
    return [PlainWord(word, i) for i, shown in enumerate(words) for word in _written_out(shown)]


def _written_out(shown: str) -> Iterator[str]:
    word = shown.lower().replace("’", "'")
    if not any(map(str.isalnum, word)):
        return
    if word in _WHOLE:
        yield from _WHOLE[word]
    elif word.endswith("n't"):
        yield from (word.removesuffix("n't"), "not")
    elif word in _ENDINGS and shown == word:  # "it 's" is split into it, ', s
        yield _ENDINGS[word]
    else:
        begin, mark, end = word.rpartition("'")
        yield from (begin, _ENDINGS[end]) if mark and begin and end in _ENDINGS else (word,)


def stem(word: str) -> str:
    """The word without its plural or its third person: a rough guess that makes equals of what agrees with a number."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word

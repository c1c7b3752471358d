"""Changes of a text that leave its meaning as it is, and which of its words stay.

    case           all letters small; where they are, the first one capital
    punctuation    the mark at the end goes; where there is none, a full stop comes
    synonym        English words of a short list give way to their synonyms
    seed           nothing but the seed of the explanation

A change that would leave the text as it is, or without words, is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from assay.explanations.case import Case
from assay.text.text import Field, Text

Change = Literal["case", "punctuation", "synonym", "seed"]

_ENDS = frozenset(".!?…。！？।؟")
_FULL_STOP_OF_ITS_OWN = ("\u3040", "\u9fff")  # from Hiragana to the Han characters
# One way only where the other word has a second meaning of its own.
_SYNONYMS = dict(
    pair.split()
    for pair in (
        "film movie|movie film|films movies|movies films|big large|large big|quickly rapidly|begins starts|clever smart"
        "|amusing funny|unhappy sad|dull boring|boring dull|terrible awful|awful terrible|marvelous wonderful"
        "|children kids|child kid|automobile car|sofa couch|couch sofa|nearly almost|almost nearly|maybe perhaps"
        "|perhaps maybe|often frequently|frequently often|entire whole|wealthy rich|purchase buy|weird strange"
        "|strange weird|beautiful lovely|mistake error|author writer|difficult hard|afraid scared|forest woods"
    ).split("|")
)


@dataclass(frozen=True)
class Edited:
    """A changed case, and for each word that stayed its place before and after."""

    kind: str
    case: Case
    before: Sequence[int]
    after: Sequence[int]


def edited(case: Case, kinds: Sequence[Change]) -> list[Edited]:
    """The case after each of these changes, as far as they change anything."""
    return [change for kind in kinds for change in _CHANGES[kind](case)]


def dropped(case: Case, count: int) -> list[Edited]:
    """The case without one word, for so many words in random order; a word that stands alone stays."""
    n = len(case.text)
    words = case.generator().permutation(n)[:count].tolist() if n > 1 else []
    return [_dropped(case, i, "drop") for i in words]


def _dropped(case: Case, i: int, kind: str) -> Edited:
    places = [j for j in range(len(case.text)) if j != i]
    return Edited(kind, replace(case, text=case.text.without(i)), places, range(len(places)))


def _case(case: Case) -> Iterator[Edited]:
    words = case.text.words
    small = [word.lower() for word in words]
    yield from _replaced(case, "case", small if small != list(words) else _capital(words), same=range(len(words)))


def _capital(words: Sequence[str]) -> list[str]:
    """The first word that can begin with a capital does."""
    first = next((i for i, word in enumerate(words) if word[:1].upper() != word[:1]), 0)
    return [word[:1].upper() + word[1:] if i == first else word for i, word in enumerate(words)]


def _synonym(case: Case) -> Iterator[Edited]:
    words = case.text.words
    new = [_like(word, _SYNONYMS.get(word.lower(), word)) for word in words]
    same = [i for i, (old, word) in enumerate(zip(words, new, strict=True)) if old == word]
    yield from _replaced(case, "synonym", new, same)


def _like(old: str, new: str) -> str:
    return new if old == old.lower() or new == old else new.capitalize() if old != old.upper() else new.upper()


def _replaced(case: Case, kind: str, words: Sequence[str], same: Sequence[int]) -> Iterator[Edited]:
    """Other words in the same places; where no word stays there is nothing to compare."""
    if same and list(words) != list(case.text.words):
        yield Edited(kind, replace(case, text=case.text.with_words(words)), same, same)


def _punctuation(case: Case) -> Iterator[Edited]:
    last = len(case.text) - 1
    if case.text.words[last] not in _ENDS:
        # The new mark is the last word of all, so the others stay where they were.
        yield Edited("punctuation", replace(case, text=_with_stop(case.text)), range(last + 1), range(last + 1))
    elif last:
        yield _dropped(case, last, "punctuation")


def _with_stop(text: Text) -> Text:
    """A full stop right after the last word, in the script of that word."""
    name = text.where[-1]
    return Text(tuple(_stopped(field) if field.name == name else field for field in text.fields), text.focus)


def _stopped(field: Field) -> Field:
    end = field.spans[-1][1]
    low, high = _FULL_STOP_OF_ITS_OWN
    stop = "。" if low <= field.string[end - 1] <= high else "."
    return Field(field.name, field.string[:end] + stop + field.string[end:], (*field.spans, (end, end + len(stop))))


def _seed(case: Case) -> Iterator[Edited]:
    places = range(len(case.text))
    yield Edited("seed", replace(case, seed=case.seed + 1), places, places)


_CHANGES = {"case": _case, "punctuation": _punctuation, "synonym": _synonym, "seed": _seed}

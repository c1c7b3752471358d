"""Scores of somebody else's tokens as scores of our words.

Other libraries cut a text in their own way: word pieces ("##ing", "▁the", "Ġfilm"), words with their blanks, lower
case, or a list of distinct words without order. Tokens are found in the text by their characters, apart from case,
accents and blanks, and the score of a token goes to the word that it stands in; one that reaches over two words is
split evenly between them, and the pieces of a word add up.

    in order     the tokens follow each other in the text; special tokens ([CLS], </s>) stand nowhere
    as a bag     each token is a word of the text, once for all its places, as LIME lists them

Nothing is lost in silence: what stands in no word is returned with its score.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import regex

from assay.errors import BadInput
from assay.statistics.arrays import Floats
from assay.text.splitting import Span
from assay.text.text import Text

_SPECIAL = regex.compile(r"\[[A-Z]+\d*\]|<[^<>\s]*>|<\|[^|]*\|>")
_MARKS = regex.compile(r"^(?:##|[\u2581\u0120\u010a ])+|(?:</w>|@@)$")  # how tokenizers mark pieces inside, or words
_MOST_LOST = 0.1  # share of the absolute score that may stand in no word


@dataclass(frozen=True)
class Alignment:
    """One score a word, the tokens that stand in no word, and whether a token counts for several places."""

    scores: Floats
    lost: tuple[str, ...] = ()
    lost_share: float = 0.0
    shared: tuple[str, ...] = ()  # words of a bag that stand in several places


def align(text: Text, tokens: Sequence[str], scores: Floats) -> Alignment:
    """The scores of the explained words; an error where the tokens are not those of this text."""
    if len(tokens) != len(scores):
        raise BadInput(f"{len(tokens)} tokens need as many scores, not {len(scores)}.")
    if (bag := _as_bag(text, tokens, scores)) is not None:
        return bag
    found = [_in_order(text, tokens, scores, places) for places in _ways(text, tokens)]
    best = min(found, key=lambda one: one.lost_share)  # the first of equals
    strangers = [token for token in best.lost if not _SPECIAL.fullmatch(token.strip()) and _plain(_bare(token))]
    if strangers and (best.lost_share > _MOST_LOST or 2 * len(strangers) > len(tokens)):
        shown = ", ".join(map(repr, strangers[:5]))
        raise BadInput(f"the scores do not fit the text {str(text)[:40]!r}: it has no {shown} in this order.")
    return best


def _in_order(text: Text, tokens: Sequence[str], scores: Floats, places: Sequence[range]) -> Alignment:
    """What each word has, where the places of the tokens are known."""
    found, lost, missing = np.zeros(len(text)), [], 0.0
    for token, score, words in zip(tokens, scores.tolist(), places, strict=True):
        if words:
            found[words.start : words.stop] += score / len(words)
        elif token.strip():
            lost.append(token)
            missing += abs(score)
    total = float(np.abs(scores).sum())
    return Alignment(found, tuple(lost), missing / total if total else 0.0)


def _ways(text: Text, tokens: Sequence[str]) -> Iterator[Sequence[range]]:
    """For each token the words that it stands in (none, where the range is empty), found in several ways."""
    if (exact := _byte_places(text, tokens)) is not None:
        yield exact
        return
    yield list(_places(_Letters.of(text, _plain), tokens))
    yield list(_places(_Letters.of(text, _without_marks), tokens))  # some tokenizers strip the marks of every script


def _as_bag(text: Text, tokens: Sequence[str], scores: Floats) -> Alignment | None:
    """Distinct words, fewer than the text has, of which one stands in several places or all stand out of order."""
    words = [_plain(word) for word in text.words]
    given = [_plain(token) for token in tokens]
    if len(set(given)) < len(given) or not set(given) <= set(words):
        return None
    repeated = [token for token, word in zip(tokens, given, strict=True) if words.count(word) > 1]
    places = [words.index(word) for word in given]
    if not repeated and places == sorted(places):
        return None
    score = dict(zip(given, scores.tolist(), strict=True))
    return Alignment(np.array([score.get(word, 0.0) for word in words]), shared=tuple(repeated))


def _places(letters: _Letters, tokens: Sequence[str]) -> Iterator[range]:
    """The words of each token, one token after the other."""
    at = 0
    for token in tokens:
        start, size = letters.find(token, at)
        yield letters.words(start, start + size)
        at = max(at, start + size)


@dataclass(frozen=True)
class _Letters:
    """The letters of all explained fields one behind the other, and the words that they belong to."""

    string: str
    place: tuple[int, ...]  # of each letter in the strings, one behind the other
    spans: tuple[Span, ...]  # of the words, counted in the same way
    plain: Callable[[str], str]  # how a string is made comparable

    @classmethod
    def of(cls, text: Text, plain: Callable[[str], str]) -> _Letters:
        letters: list[tuple[str, int]] = []
        spans: list[Span] = []
        offset = 0
        for field in text.explained:
            letters += [(c, offset + i) for i, character in enumerate(field.string) for c in plain(character)]
            spans += [(start + offset, end + offset) for start, end in field.spans]
            offset += len(field.string)
        return cls("".join(c for c, _ in letters), tuple(i for _, i in letters), tuple(spans), plain)

    @cached_property
    def whole(self) -> list[tuple[int, str]]:
        """Where each word begins among the letters, and its letters."""
        edges = [(bisect_left(self.place, start), bisect_left(self.place, end)) for start, end in self.spans]
        return [(start, self.string[start:end]) for start, end in edges]

    def find(self, token: str, at: int) -> tuple[int, int]:
        """Where a token comes next, from a place on, and how many letters it has; none where it is not found.

        It may be spelled as in the text or as a tokenizer spells it. Between it and the token before may stand
        punctuation; words only where the token is a whole word itself. A piece that is not in the text must not be
        found in a later place, where it would take the tokens that follow with it.
        """
        for spelled in dict.fromkeys(map(self.plain, _spellings(token))):
            found = self.string.find(spelled, at) if spelled else -1
            if found >= 0 and not any(letter.isalnum() for letter in self.string[at:found]):
                return found, len(spelled)
            for start, word in self.whole:
                if start >= at and word == spelled:
                    return start, len(spelled)
        return at, 0

    def words(self, start: int, end: int) -> range:
        """The words that have some of these letters."""
        if start == end:
            return range(0)
        starts, ends = self._edges
        return range(bisect_right(ends, self.place[start]), bisect_left(starts, self.place[end - 1] + 1))

    @cached_property
    def _edges(self) -> tuple[list[int], list[int]]:
        return [start for start, _ in self.spans], [end for _, end in self.spans]


def _spellings(token: str) -> Iterator[str]:
    """A token as it is, without the marks of a tokenizer, and from the alphabet that byte-level tokenizers write in."""
    yield token
    yield _bare(token)
    if (spelled := _as_bytes(token)) is not None:
        yield spelled.decode(errors="ignore")


def _bare(token: str) -> str:
    return str(_MARKS.sub("", token.strip()))


def _byte_places(text: Text, tokens: Sequence[str]) -> list[range] | None:
    """The words of byte-level tokens, of which one may be a part of a character; None where they are none of these."""
    if all(token.isascii() for token in tokens):
        return None
    coded = [b"" if _SPECIAL.fullmatch(token) else _as_bytes(token) for token in tokens]
    owners = [
        (byte, word) for character, word in _characters(text) for byte in character.encode() if not character.isspace()
    ]
    if any(code is None for code in coded):
        return None
    letters = [code.replace(b" ", b"") for code in coded if code is not None]
    if b"".join(letters) != bytes(byte for byte, _ in owners):
        return None
    places, at = [], 0
    for code in letters:
        words = [word for _, word in owners[at : at + len(code)] if word is not None]
        places.append(range(words[0], words[-1] + 1) if words else range(0))
        at += len(code)
    return places


def _characters(text: Text) -> Iterator[tuple[str, int | None]]:
    """The characters of the explained fields, each with the word that it stands in."""
    before = 0
    for field in text.explained:
        ends = [end for _, end in field.spans]
        for i, character in enumerate(field.string):
            word = bisect_right(ends, i)
            inside = word < len(ends) and field.spans[word][0] <= i
            yield character, before + word if inside else None
        before += len(ends)


def _as_bytes(token: str) -> bytes | None:
    codes = [_BYTES[character] for character in token if character in _BYTES]
    return bytes(codes) if len(codes) == len(token) else None


def _byte_alphabet() -> dict[str, int]:
    """Byte-level tokenizers write printable bytes as themselves and the others as the characters from 256 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(others)}


_BYTES = _byte_alphabet()


def _plain(string: str) -> str:
    """Without case, accents and blanks, as many tokenizers make it."""
    apart = unicodedata.normalize("NFKD", string).casefold()
    return "".join(c for c in apart if not c.isspace() and not "\u0300" <= c <= "\u036f")


def _without_marks(string: str) -> str:
    """The same without the marks of all scripts, vowel signs among them."""
    return "".join(c for c in _plain(string) if unicodedata.category(c) != "Mn")

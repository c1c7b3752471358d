"""Reading what chat models reply: lists of words in any shape, a passage with words blacked out, an edited passage.

Small models number their lists or not, quote or not, begin with "Sure! Here are ...", and name words that the text does
not have. What is read here is what is certainly there; what is left over is returned too, so that it can be said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

import regex

from assay.explanations.edits import Operation
from assay.explanations.word_overlap import words_of

_LONGEST = 4  # words of one item of a list; what is longer, and no part of the text, is prose
_BULLET = regex.compile(r"^\s*(?:\(?\d{1,3}[.):]|[-*•–·+])\s*")
_QUOTED = regex.compile(r"""["“„«]([^"“”„«»]+)["”“»]|(?<!\w)['‘`]([^'‘’`]+)['’`](?!\w)""")
_EXPLAINED = regex.compile(r"\s+[-–—]\s+.*|\s*\(.*|:\s.*|:$")
_BETWEEN = regex.compile(r"[,;|/\t]|\s+and\s+|\s+&\s+")
_HEADER = regex.compile(r"(?i)^[^,;\n]{0,200}?\bwords?\b[^,;\n:]{0,80}:\s*")
_TITLE = regex.compile(
    r"(?i)^\W{0,3}(?:(?:the|an?|edited|revised|redacted|new|modified|rewritten)\s+){0,3}"
    r"(?:text|paragraph|sentence|version|review|answer|edit)\b[^\w\n]{0,3}:\s*"
)
_GIVEN = regex.compile(
    r"""(?i)\b(?:edited|revised|new|modified|rewritten)\s+(?:text|paragraph|sentence|version|review)\b[^"“„«.\n]{0,20}"""
    r"""["“„«]([^"“”„«»]+)["”“»]"""
)
_BLACKED = regex.compile(
    r"(?i)\[\s*(?:redacted|removed|masked|blank)[^\]\n]{0,20}\]|\bREDACTED\b|_{3,}|█+|\[\s*\.{3}\s*\]"
)
_BLACK = "\ufdd1"  # stands for a word that was blacked out: a character that no text has


class Named(NamedTuple):
    """The places of the words of the text that a reply names, and the items that the text does not have."""

    places: tuple[int, ...]
    strange: tuple[str, ...]


def named_words(reply: str, words: Sequence[str]) -> Named:
    """The words of the text that a list names, wherever they stand in it."""
    plain = [_plain(word) for word in words]
    places: set[int] = set()
    strange: list[str] = []
    for item in _items(reply):
        wanted = [part for part in map(_plain, item.split()) if part]
        found = _standing(wanted, plain)
        if not found and len(wanted) <= _LONGEST:
            for part in wanted:
                alone = _standing([part], plain)
                found |= alone
                strange += [] if alone else [part]
        places |= found
    return Named(tuple(sorted(places)), tuple(dict.fromkeys(strange)))


def blacked_out(reply: str, words: Sequence[str]) -> tuple[int, ...]:
    """The places of the words for which a redacted version has a mark; none where it is no version of the text."""
    passage = _BLACKED.sub(f" {_BLACK} ", edited_passage(reply))
    after = [_plain(word) for word in passage.split()]
    before = [_plain(word) for word in words]
    codes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    same = sum(b - a for kind, a, b, _, _ in codes if kind == "equal")
    if 2 * same < len(after) - after.count(_BLACK):
        return ()
    blocks = [range(a, b) for kind, a, b, c, d in codes if kind == "replace" and _BLACK in after[c:d]]
    return tuple(i for block in blocks for i in block if any(map(str.isalnum, words[i])))


def edited_passage(reply: str) -> str:
    """The passage that a reply gives, without what stands before and after it, and without quotes around it."""
    blocks = [block.strip() for block in regex.split(r"\n\s*\n", reply.strip()) if block.strip()]
    while len(blocks) > 1 and blocks[0].endswith(":"):
        blocks = blocks[1:]
    lines = blocks[0].splitlines() if blocks else [""]
    if len(lines) > 1 and lines[0].rstrip().endswith(":"):
        lines = lines[1:]
    passage = _TITLE.sub("", " ".join(line.strip() for line in lines)).strip()
    given = _GIVEN.search(passage)
    if given:  # in the midst of other sentences
        return str(given[1]).strip()
    whole = _QUOTED.fullmatch(passage)
    return str(next(part for part in whole.groups() if part)).strip() if whole else passage.strip('"“”`*')


def operations_between(before: Sequence[str], after: Sequence[str]) -> tuple[Operation, ...]:
    """What was done to the words, at places of the text before."""
    done: list[Operation] = []
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        pairs = min(b - a, d - c)
        done += [("replace", a + i, before[a + i], after[c + i]) for i in range(pairs)]
        done += [("remove", i, before[i]) for i in range(a + pairs, b)]
        done += [("insert", min(b, len(before) - 1), after[j]) for j in range(c + pairs, d)]
    return tuple(done)


def _items(reply: str) -> Iterator[str]:
    """What a reply lists, one item after the other."""
    for line in reply.splitlines():
        line = _HEADER.sub("", _BULLET.sub("", line.strip()))
        quoted = [one or two for one, two in _QUOTED.findall(line)]
        if quoted:
            yield from quoted
        elif line and not line.endswith(":"):
            parts = (_EXPLAINED.sub("", _BULLET.sub("", part)) for part in _BETWEEN.split(line))
            yield from (part for part in parts if part.strip())


def _plain(word: str) -> str:
    """A word as it is compared: small, without marks around it; a mark alone stays."""
    return " ".join(words_of(word)) or word.strip()


def _standing(wanted: Sequence[str], words: Sequence[str]) -> set[int]:
    """The places of these words where they follow each other, every time they do."""
    starts = range(len(words) - len(wanted) + 1) if wanted and any(any(map(str.isalnum, w)) for w in wanted) else ()
    return {i + j for i in starts if list(words[i : i + len(wanted)]) == list(wanted) for j in range(len(wanted))}

"""Sentences to be changed in a way that a control code names, as an editor reads them, and the fills that it writes.

    own grammar                                  as published for Polyjuice
    It is great for kids                         It is great for kids <|perturb|> [negation] It is [BLANK]great for ...
    negation: It is [BLANK] great for [BLANK]
    fills: not | children                        not [ANSWER] children [ANSWER]

A blank stands for some words of the sentence, or between two words. [EMPTY] is the fill of a blank that goes away. Wu,
Ribeiro, Heer and Weld (2021), Polyjuice, arXiv:2101.00288; the published grammar is that of their released code, so
that a checkpoint trained with it can be used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from assay.text.blanks import BETWEEN, BLANK, read_fills
from assay.text.text import Text

EMPTY = "[EMPTY]"
PERTURB, SEPARATOR, ANSWER = "<|perturb|>", "[SEP]", "[ANSWER]"
Grammar: TypeAlias = Literal["own", "polyjuice"]
_WIDENED = 0.3  # of the blanks of training pairs hide a neighbour too, on either side
_WIDENED_BY = 3  # words at most


class Blank(NamedTuple):
    """The words from `start` to before `end`; where both are equal, the place before that word."""

    start: int
    end: int


def coded_prompt(original: str, code: str, shown: str, grammar: Grammar = "own") -> str:
    """What an editor goes on with."""
    original, shown = one_line(original), one_line(shown)
    if grammar == "polyjuice":
        return f"{original} {PERTURB} [{code}] {shown} {SEPARATOR}"
    return f"{original}\n{code}: {shown}\nfills:"


def coded_answer(fills: Iterable[str]) -> str:
    """What it shall write after the prompt, in our grammar."""
    return " " + BETWEEN.join(fill or EMPTY for fill in fills)


def read_coded_fills(written: str, blanks: int, grammar: Grammar = "own") -> list[str] | None:
    """The fills that were written, "" where a blank goes; None where there are more or fewer than blanks."""
    if grammar == "polyjuice":
        *parts, rest = [" ".join(part.split()) for part in written.split(ANSWER)]
        whole = [*parts, rest] if rest and len(parts) < blanks else parts
        fills = whole if len(whole) == blanks and all(whole) and BLANK not in written else None
    else:
        fills = read_fills(written, blanks)
    return None if fills is None else ["" if fill == EMPTY else fill for fill in fills]


def one_line(string: str) -> str:
    """As it stands in a prompt, which has lines of its own."""
    return " ".join(string.split())


def with_fills(text: Text, blanks: Sequence[Blank], fills: Sequence[str]) -> str:
    """The string of the one field in focus with fills for its blanks, from left to right; "" takes words away."""
    (field,) = text.explained
    string, at, parts = field.string, 0, list[str]()
    for blank, fill in zip(blanks, fills, strict=True):
        start, end = _place(text, blank)
        before, at = string[at:start], end
        if blank.start == blank.end and fill:
            fill = f"{fill} " if blank.start < len(text) else f" {fill}"
        elif start < end and not fill:  # one blank goes with the words, that before them or else that behind them
            before, at = (before[:-1], at) if before[-1:].isspace() else (before, end + string[end : end + 1].isspace())
        parts += [before, fill]
    return "".join([*parts, string[at:]])


def _place(text: Text, blank: Blank) -> tuple[int, int]:
    """Where the words of a blank stand in the string; nothing stands between two words."""
    start = text.spans[blank.start][0] if blank.start < len(text) else text.spans[-1][1]
    return start, text.spans[blank.end - 1][1] if blank.start < blank.end else start


def with_coded_blanks(text: Text, blanks: Sequence[Blank]) -> str:
    """The string with [BLANK] in all of these places."""
    return with_fills(text, blanks, [BLANK] * len(blanks))


def coded_training_pair(old: str, new: str, code: str, rng: np.random.Generator) -> tuple[str, str] | None:
    """The prompt that leads from one sentence to the other, and the fills; some blanks are wider than the change."""
    text = Text.of(new)
    blanks = apart([_widened(blank, len(text), rng) for blank in differing(Text.of(old).words, text.words)])
    if not blanks or blanks == [Blank(0, len(text))]:
        return None
    fills = [new[slice(*_place(text, blank))] for blank in blanks]
    shown = with_coded_blanks(text, blanks)
    if shown.count(BLANK) != len(blanks) or "|" in new:
        return None
    return coded_prompt(old, code, shown), coded_answer(map(one_line, fills))


def differing(old: Sequence[str], new: Sequence[str]) -> list[Blank]:
    """Where the new words differ from the old ones; at a place between two words where some only went."""
    before, after = ([word.lower() for word in words] for words in (old, new))
    codes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [Blank(c, d) for kind, _, _, c, d in codes if kind != "equal"]


def changed_stretches(old: Text, new: Text, beside: int = 1) -> tuple[str, str]:
    """From the first word that differs to the last, in both strings, with so many words beside it."""
    pairs = min(len(old), len(new))
    left = next((i for i in range(pairs) if old.words[i] != new.words[i]), pairs)
    right = next((i for i in range(pairs - left) if old.words[-1 - i] != new.words[-1 - i]), pairs - left)
    return _part(old, left - beside, len(old) - right + beside), _part(new, left - beside, len(new) - right + beside)


def apart(blanks: Sequence[Blank]) -> list[Blank]:
    """Blanks that meet, or have one word between them, as one."""
    found: list[Blank] = []
    for blank in blanks:
        if found and blank.start <= found[-1].end + 1:
            found[-1] = Blank(found[-1].start, max(blank.end, found[-1].end))
        else:
            found.append(blank)
    return found


def _widened(blank: Blank, size: int, rng: np.random.Generator) -> Blank:
    left, right = (int(rng.integers(1, _WIDENED_BY + 1)) if rng.random() < _WIDENED else 0 for _ in range(2))
    return Blank(max(0, blank.start - left), min(size, blank.end + right))


def _part(text: Text, start: int, end: int) -> str:
    (field,) = text.explained
    return field.string[text.spans[max(0, start)][0] : text.spans[min(end, len(text)) - 1][1]]

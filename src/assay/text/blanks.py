"""Texts with blanks, as an editor reads them, and the fills that it writes.

    positive: a [BLANK] film that [BLANK]
    fills: funny | moves

The label stands before the text, as in Ross, Marasovic and Peters (2021), MiCE, arXiv:2012.13985; words that are hidden
next to each other are one blank, and its fill may have more words than stood there, or fewer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

Beside: TypeAlias = tuple[str | None, str | None]  # the other text of a pair: before the text with blanks, or behind it

NOTHING: Beside = (None, None)
BLANK, BETWEEN = "[BLANK]", " | "
SHORTEST, LONGEST_SPAN = 5, 4  # words of a text, and of a span, that an editor is trained on
LEAST, MOST = 0.1, 0.6  # of the words that are hidden


def editor_prompt(label: str, shown: str, beside: Beside = NOTHING) -> str:
    """What an editor goes on with; the other text of a pair stands on its own side of the text with blanks."""
    parts = [" ".join(part.split()) for part in (beside[0], shown, beside[1]) if part]
    return f"{label}: {BETWEEN.join(parts)}\nfills:"


def editor_answer(fills: Iterable[str]) -> str:
    """What it shall write after the prompt."""
    return " " + BETWEEN.join(fills)


def read_fills(written: str, blanks: int) -> list[str] | None:
    """The fills that were written, one for each blank; None where there are more or fewer, or an empty one."""
    parts = [" ".join(part.split()) for part in written.split("|")]
    return parts if len(parts) == blanks and all(parts) and BLANK not in written else None


def with_blanks(words: Sequence[str], hidden: Sequence[bool]) -> tuple[list[str], list[list[str]]]:
    """The words with a blank for each run of hidden ones, and these runs."""
    shown: list[str] = []
    fills: list[list[str]] = []
    for i, word in enumerate(words):
        if not hidden[i]:
            shown.append(word)
        elif i and hidden[i - 1]:
            fills[-1].append(word)
        else:
            shown.append(BLANK)
            fills.append([word])
    return shown, fills


def training_pair(text: str, label: str, rng: np.random.Generator, beside: Beside = NOTHING) -> tuple[str, str]:
    """A prompt with some random spans of a text hidden, and what stood there."""
    words = text.split()
    hidden = np.zeros(len(words), bool)
    wanted = max(1, round(rng.uniform(LEAST, MOST) * len(words)))
    while hidden.sum() < wanted:
        start = int(rng.integers(len(words)))
        hidden[start : start + int(rng.integers(1, LONGEST_SPAN + 1))] = True
    shown, fills = with_blanks(words, hidden.tolist())
    return editor_prompt(label, " ".join(shown), beside), editor_answer(map(" ".join, fills))


def training_pairs(texts: Iterable[tuple[str, str]], seed: int) -> list[tuple[str, str]]:
    """Every long enough text with its label once, with blanks of its own."""
    rng = np.random.default_rng(seed)
    return [training_pair(text, label, rng) for text, label in texts if len(text.split()) >= SHORTEST]

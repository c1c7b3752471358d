"""Short phrases of an English sentence, cut by its words of grammar: what stands in the place of a parser's subtrees.

    a small dog | is barking | at the man | in the red hat |.

A phrase begins with words of grammar and ends before the next ones; a sign stands alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.text.stop_words import STOP_WORDS


def chunks(words: Sequence[str]) -> list[range]:
    """The phrases as runs of words, which cover all of them."""
    starts = [i for i in range(len(words)) if not i or _begins(words[i - 1], words[i])]
    return [range(start, end) for start, end in zip(starts, [*starts[1:], len(words)], strict=True)]


def _begins(before: str, word: str) -> bool:
    if _is_sign(before) or _is_sign(word):
        return True
    return word.lower() in STOP_WORDS and before.lower() not in STOP_WORDS


def _is_sign(word: str) -> bool:
    return not any(map(str.isalnum, word))

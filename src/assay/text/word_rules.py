"""Rules that change words: some words, perhaps beside a word or a part of speech, give way to others.

    film -> movie              wherever the word stands, in any case
    DET film -> DET movie      behind a word whose part of speech is DET
    very good -> very fine     behind the word "very"
    really ->                  the word goes

What matches is changed everywhere in a text, from left to right, and nothing else of the text is. Parts of speech are
not known here: a rule says which it needs (`tagged`), and is told them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.errors import BadInput
from assay.text.capitals import written_like
from assay.text.text import Text


@dataclass(frozen=True)
class Beside:
    """What has to stand beside the words: a word in small letters, or a part of speech."""

    value: str
    is_tag: bool = False

    def __str__(self) -> str:
        return self.value

    def to_dict(self) -> dict[str, str]:
        return {"tag" if self.is_tag else "word": self.value}

    @classmethod
    def of(cls, data: Mapping[str, str] | None) -> Beside | None:
        if data is None:
            return None
        ((kind, value),) = data.items()
        if kind not in ("tag", "word") or not isinstance(value, str):
            raise BadInput(f"a rule has a word or a tag beside it, not {dict(data)!r:.60}.")
        return cls(value, kind == "tag")


@dataclass(frozen=True)
class WordRule:
    """Words in small letters, what replaces them, and what stands on their left or right and stays."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    left: Beside | None = None
    right: Beside | None = None

    def __post_init__(self) -> None:
        if not self.old or not all(word and word == word.lower() for word in self.old) or self.old == self.new:
            raise BadInput(f"a rule replaces words in small letters by others, not {self.old} by {self.new}.")

    def __str__(self) -> str:
        around = [str(self.left)] if self.left else [], [str(self.right)] if self.right else []
        old, new = (" ".join([*around[0], *words, *around[1]]) for words in (self.old, self.new))
        return f"{old} → {new or '(nothing)'}"

    @property
    def needs_tags(self) -> bool:
        return any(one is not None and one.is_tag for one in (self.left, self.right))

    def to_dict(self) -> dict[str, Any]:
        beside = {name: one and one.to_dict() for name, one in (("left", self.left), ("right", self.right))}
        return {"old": list(self.old), "new": list(self.new), **beside}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> WordRule:
        """What `to_dict` wrote."""
        try:
            old, new = (tuple(map(_string, data[name])) for name in ("old", "new"))
            return cls(old, new, Beside.of(data.get("left")), Beside.of(data.get("right")))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadInput(f"this is no rule that changes words: {error!r:.80}.") from error

    def possible(self, words: Sequence[str]) -> list[int]:
        """Where its words stand, with the words beside them; parts of speech are yet to be looked at."""
        small, size = [word.lower() for word in words], len(self.old)
        starts = (i for i in range(len(small) - size + 1) if tuple(small[i : i + size]) == self.old)
        return [i for i in starts if all(_fits(small, at, one) for at, one in self._around(i))]

    def tagged(self, start: int) -> Iterator[tuple[int, str]]:
        """For a place, the words whose part of speech is asked for, and which it has to be."""
        return ((at, one.value) for at, one in self._around(start) if one.is_tag)

    def places(self, words: Sequence[str], tags: Mapping[int, str]) -> list[int]:
        """Where it changes something; `tags` are the parts of speech by the numbers of the words."""
        found: list[int] = []
        for start in self.possible(words):
            free = not found or start >= found[-1] + len(self.old)
            if free and all(tags.get(at) == tag for at, tag in self.tagged(start)):
                found.append(start)
        return found

    def applied(self, text: Text, places: Sequence[int]) -> Text:
        """The text with the words at these places changed."""
        words: list[str | None] = list(text.words)
        for start in places:
            for i in range(len(self.old)):
                words[start + i] = None
            if self.new:
                first = written_like(self.new[0], text.words[start])
                words[start] = " ".join([first, *self.new[1:]])
        return text.with_words(words)

    def _around(self, start: int) -> Iterator[tuple[int, Beside]]:
        if self.left is not None:
            yield start - 1, self.left
        if self.right is not None:
            yield start + len(self.old), self.right


def _fits(words: Sequence[str], at: int, beside: Beside) -> bool:
    """Whether there is a word, and where a word is asked for, that one."""
    return 0 <= at < len(words) and (beside.is_tag or words[at] == beside.value)


def _string(word: Any) -> str:
    if not isinstance(word, str):
        raise TypeError(f"{word!r:.40} is no word")
    return word

"""One named string of a text, the spans of its words, and the string again with words left out or replaced.

Nothing of the string is lost: gap 0, word 0, gap 1, ..., word n-1, gap n is the string again. A word taken away takes
one neighbouring gap with it, so that "a fine film" without its second word is "a film"; which gap remains is a rule
that does not depend on the order of removals (`join`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress, pairwise, repeat
from typing import Any, Literal, TypeAlias

import numpy as np
import regex

from assay.text.splitting import Span, Splitter, joined

Masks: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
Part = Literal["own", "first", "middle", "last", "note"]

_BLANK = regex.compile(r"\s")


@dataclass(frozen=True)
class Field:
    """One named string and the spans of its words.

    `part` says how models read it: a text of its own, the first, a middle or the last part of a string that stands in
    several fields, or a note that says what is explained and that no model reads.
    """

    name: str
    string: str
    spans: tuple[Span, ...]
    part: Part = "own"

    @cached_property
    def words(self) -> tuple[str, ...]:
        string = self.string
        return tuple([string[start:end] for start, end in self.spans])

    @cached_property
    def gaps(self) -> tuple[str, ...]:
        """What stands before, between and after the words: one more than there are words."""
        string, starts, ends = self.string, [a for a, _ in self.spans], [b for _, b in self.spans]
        return tuple([string[start:end] for start, end in zip([0, *ends], [*starts, len(string)], strict=True)])

    @cached_property
    def plain(self) -> bool:
        """All words one blank apart and nothing around them: the usual case, joined without looking at gaps."""
        return self._bare and self._spaced

    @cached_property
    def _spaced(self) -> bool:
        """Words one blank apart, in a string of their own."""
        return self._alone and set(self.gaps[1:-1]) <= {" "}

    @property
    def _alone(self) -> bool:
        return self.part in ("own", "note") and bool(self.spans)

    @cached_property
    def _bare(self) -> bool:
        """Nothing around the words, neither gaps nor other parts of the string."""
        return self.part in ("own", "note") and not self.gaps[0] and not self.gaps[-1]

    def join(self, words: Sequence[str | None]) -> str:
        """The string with these words in place of its own; None leaves a word out."""
        if self.plain:
            return " ".join([word for word in words if word is not None])
        kept = [i for i, word in enumerate(words) if word is not None]
        if not kept:
            return self._emptied() if words else self.string
        start, end = self._edges(kept)
        gaps, parts = self.gaps, [start, words[kept[0]] or ""]
        for before, i in pairwise(kept):
            parts += (gaps[i] if i == before + 1 else self._between(before + 1, i), words[i] or "")
        return "".join([*parts, end])

    def versions(self, keep: Masks, fill: str | None) -> list[str]:
        """`join` for many rows at once: words where the mask is true; elsewhere `fill`, or nothing."""
        if fill is not None:
            return _picked(
                (*zip(self.gaps, self.words, repeat(fill), strict=False), self.gaps[-1:]), self._filled(keep)
            )
        if self._spaced:
            found = [" ".join(compress(self.words, kept)) for kept in keep.tolist()]
        elif self._simple:
            picked = _picked(zip(repeat(" "), self.words, strict=False), self._led(keep))
            found = [string[1:] for string in picked]
        else:
            rows = ([w if k else None for w, k in zip(self.words, kept, strict=True)] for kept in keep.tolist())
            return [self.join(row) for row in rows]
        return found if self._bare else [f"{self.gaps[0]}{one}{self.gaps[-1]}" if one else "" for one in found]

    def _filled(self, keep: Masks) -> Masks:
        """Which of gap, word, fill, gap, word, fill, ..., gap make each string."""
        always = np.ones_like(keep)
        threes = np.stack([always, keep, ~keep], axis=2).reshape(len(keep), 3 * keep.shape[1])
        return np.concatenate([threes, np.ones((len(keep), 1), dtype=bool)], axis=1)

    def _led(self, keep: Masks) -> Masks:
        """Which of blank, word, blank, word, ... make each string: a blank where one stood since the word before."""
        blanks = np.cumsum([gap == " " for gap in self.gaps[:-1]])
        last = np.maximum.accumulate(np.where(keep, blanks, -1), axis=1)
        before = np.concatenate([np.full((len(keep), 1), -1), last[:, :-1]], axis=1)
        return np.stack([keep & (before != blanks), keep], axis=2).reshape(len(keep), 2 * keep.shape[1])

    @cached_property
    def _simple(self) -> bool:
        """Words one blank apart or not at all, in a string of their own."""
        return self._alone and all(gap in ("", " ") for gap in self.gaps[1:-1])

    @cached_property
    def _nearest(self) -> tuple[list[int], list[int]]:
        """From each gap on, the first that has white space, and the first that is not empty."""
        blank, filled = [len(self.gaps)], [len(self.gaps)]
        for i in reversed(range(len(self.gaps))):
            blank.append(i if _BLANK.search(self.gaps[i]) else blank[-1])
            filled.append(i if self.gaps[i] else filled[-1])
        return blank[::-1], filled[::-1]

    def _between(self, first: int, last: int) -> str:
        """One gap for a run of them: the first with white space, else the first that is not empty, else none."""
        blank, filled = self._nearest
        at = blank[first] if blank[first] <= last else filled[first]
        return self.gaps[at] if at <= last else ""

    def with_words(self, words: Sequence[str | None]) -> Field:
        """The field itself with these words, each still one word with its exact span."""
        string, spans, at = self.join(words), [], 0
        kept = [i for i, word in enumerate(words) if word is not None]
        for before, i in zip([None, *kept], kept, strict=False):
            word = words[i] or ""
            at += len(self._edges(kept)[0] if before is None else self._between(before + 1, i))
            spans.append((at, at + len(word)))
            at += len(word)
        return Field(self.name, string, tuple(spans), self.part)

    def _edges(self, kept: Sequence[int]) -> tuple[str, str]:
        """What stands before the first kept word and behind the last; inside a string, one gap of the run there."""
        return (
            self._between(0, kept[0]) if self.part in ("middle", "last") else self.gaps[0],
            self._between(kept[-1] + 1, len(self.spans)) if self.part in ("first", "middle") else self.gaps[-1],
        )

    def _emptied(self) -> str:
        """What remains without any word: the edge of the string, where other parts of it have words."""
        return {"first": self.gaps[0], "last": self.gaps[-1]}.get(self.part, "")

    def joined(self, splitter: Splitter) -> Field:
        """The same string in coarser units: its words, joined where the splitter does not part them."""
        edges = [start for start, _ in splitter(self.string)]
        return Field(self.name, self.string, tuple(joined(self.spans, edges)), self.part)


def _picked(parts: Iterable[Sequence[str]], picks: Masks) -> list[str]:
    flat = list(chain.from_iterable(parts))
    return ["".join(compress(flat, pick)) for pick in picks.tolist()]

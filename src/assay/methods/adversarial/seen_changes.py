"""What sampled paraphrases do to a text: their changes one by one, how often each came, and new texts made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import log

from assay.explanations.rewritten import Rewritten, WordChange, with_changes, word_changes
from assay.text.text import Text


class SeenChanges:
    """Paraphrases of a text, as often as each was sampled."""

    def __init__(self, text: Text, sampled: Sequence[str]) -> None:
        self.text, self._samples = text, max(1, len(sampled))
        self.written = Counter(string for string in sampled if self._is_other(string))
        self.counts: Counter[WordChange] = Counter()
        for string, often in self.written.items():
            self.counts.update(dict.fromkeys(self._changes(string), often))
        self._known = set(self.written)

    def new(self, combinations: Iterable[Sequence[WordChange]]) -> list[str]:
        """The text after each of these changes, where that has words and was not made before."""
        strings = dict.fromkeys(with_changes(self.text, changes) for changes in combinations)
        made = [string for string in strings if string not in self._known and self._is_other(string)]
        self._known.update(made)
        return made

    def rarity(self, version: Rewritten) -> float:
        """A guess of -log q: as if each change came by itself, as often as it did in the samples."""
        often = (self.counts.get(change, 0.5) for change in self._changes(version.string))
        return min(-sum(log(count / self._samples) for count in often), -log(self._share(version.string)))

    def _share(self, string: str) -> float:
        return max(self.written.get(string, 0), 1e-9) / self._samples

    def _changes(self, string: str) -> list[WordChange]:
        return word_changes(self.text.words, Text.of(string).words)

    def _is_other(self, string: str) -> bool:
        """Whether a string has words, and not just those of the text."""
        words = Text.of(string).words
        return bool(words) and words != self.text.words

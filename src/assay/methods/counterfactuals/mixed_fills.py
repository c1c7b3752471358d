"""The search of MiCE with two editors: a masked language model finds how few words are enough, and a writer competes.

The masked model is quick where few words are enough, so its search goes first, for up to 12 words (masked_fills): it
fills word by word, and what it costs grows with each. The writer is then asked once, for as many words as the smallest
version of the masked model changes and for a share more; of what it writes, changes go back as ever (written_fills).
Where the first step of the masked model finds nothing, it fills up to 12 words once more, with less likely words of
which the gradient says that they help: of news, no likely word is of another topic. Where that finds nothing either,
the writer fills large shares at once, and goes on from its best versions: a text that a dozen words do not turn took
minutes when each editor went through all steps of its search.

Both editors' versions are ordered by size. Of equally small ones those come first whose words near the edit are the
likeliest beside those that stood there, by the masked model (the measure of the check `fluency`): the likelihoods that
the editors themselves have are of different things, of a word in a hole and of all fills of a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np

from assay.explanations.flips import FoundVersion, Goal
from assay.explanations.word_versions import WordVersion
from assay.methods.counterfactuals.masked_fills import MaskedSearch
from assay.methods.counterfactuals.minimal_search import SizedVersion, V, smallest_first
from assay.methods.counterfactuals.written_fills import FilledText, WrittenSearch
from assay.questions.base import Conversation
from assay.questions.likelihoods import word_likelihoods, words_near

_COMPARED = 12  # small versions of each editor whose fluency is compared
_NEAR = 3  # words on both sides of an edit
_FEW_TOKENS = 4  # for a hidden word, where the writer is asked once: longer fills are larger changes
MOST_HOLES = 12  # words that the masked model fills
_PATIENCE = 1  # steps of it that find nothing


class MixedSearch:
    """Two searches for the same goal, the second of which begins where the first one came to."""

    def __init__(self, masked: MaskedSearch, written: WrittenSearch) -> None:
        self.masked, self.written = masked, written

    def run(self) -> Conversation[None]:
        self.masked.patience = _PATIENCE
        yield from self.masked.run()
        if not self.masked.flipped:
            yield from self.masked.guide()
        if self.masked.flipped:
            fewest = min(version.size for version in self.masked.flipped)
            yield from self.written.fill_once(self._holes(fewest), _FEW_TOKENS)
        else:
            yield from self.written.fill_widely(_FEW_TOKENS)

    def best(self) -> Conversation[tuple[list[FoundVersion], list[str]]]:
        """The versions to return, best first, and the editor of each."""
        known = {version.string for version in self.masked.flipped}
        new = [version for version in self.written.flipped if version.string not in known]
        small, few = self._small(self.masked.flipped), self._small(new)
        found: list[WordVersion | FilledText] = [*small, *few]
        editors = [self.masked.editor] * len(small) + [self.written.writing.editor] * len(few)
        many = self.masked.settings.versions
        most = max(sorted(version.size for version in found)[:many], default=0)
        asked = [i for i, version in enumerate(found) if version.size <= most]  # larger ones could not be returned
        fluent = yield from self._fluency([found[i] for i in asked])
        ranks = zip((found[i].size for i in asked), (-value for value in fluent), asked, strict=True)
        order = [i for _, _, i in sorted(ranks)][:many]
        return [found[i] for i in order], [editors[i] for i in order]

    def _small(self, versions: Sequence[V]) -> list[V]:
        return sorted(versions, key=smallest_first)[: max(_COMPARED, self.masked.settings.versions)]

    @property
    def goal(self) -> Goal:
        return self.masked.goal

    @property
    def nearest(self) -> FoundVersion:
        tried: list[FoundVersion] = [*self.masked.unflipped, *self.written.unflipped]
        return min(tried, key=self.goal.left)

    @property
    def path(self) -> list[dict[str, Any]]:
        """The steps of both, each with its editor."""
        named = ((self.masked.editor, self.masked.path), (self.written.writing.editor, self.written.path))
        return [step | {"by": name} for name, steps in named for step in steps]

    def _holes(self, fewest: int) -> list[int]:
        """So many words that are surely enough, and as many more as a step of the binary search is."""
        settings, n = self.written.settings, len(self.goal.text)
        return [fewest, fewest + max(1, ceil(settings.share * n / 2**settings.levels))]

    def _fluency(self, versions: Sequence[SizedVersion]) -> Conversation[list[float]]:
        """How much likelier the words near each edit are than those that stood there; 0 where nobody can tell."""
        (field,) = self.goal.text.explained
        pairs = [words_near(field.string, version.string, _NEAR) for version in versions]
        asked = [place for pair in pairs for places in pair for place in places]
        likely = yield from word_likelihoods(asked, self.masked.editor)
        sizes = [len(places) for pair in pairs for places in pair]
        parts = np.split(likely, np.cumsum(sizes)[:-1]) if sizes else []
        means = [float(part[np.isfinite(part)].mean()) if np.isfinite(part).any() else np.nan for part in parts]
        changes = [new - old for old, new in zip(means[::2], means[1::2], strict=True)]
        return [change if np.isfinite(change) else 0.0 for change in changes]

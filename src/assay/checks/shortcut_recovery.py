"""Shortcut recovery: whether the explanation finds the words that were planted as the reason for the label.

    precision@k = planted words among the k words with the highest scores / k,   k = the number of planted words

Bastings et al. (2021), arXiv:2111.07367. Ground truth, if the model uses the shortcut: see that it does
first (assay.data.shortcuts.followed). Texts in which another label is explained than the shortcut says are left out,
as the model did not follow it there, and so are texts without a planted word. Facts: recall among those k words, and
`depth`, how far down the ranking one has to go to have found them all. With `absolute` the size of a score counts and
not its sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.data.highlights import Given, Highlights, Marked
from assay.errors import BadInput
from assay.explanations.token_scores import TokenScores
from assay.questions.base import Conversation, now
from assay.registry.cards import check
from assay.registry.measured import Measured


@check(
    title="Shortcut recovery",
    better="higher",
    paper="arXiv:2111.07367",
    needs=(),
    sensitive_to="whether the model really uses the shortcut; words beside it that also matter",
)
@dataclass(frozen=True, kw_only=True)
class ShortcutRecovery:
    """The share of planted words among the best."""

    planted: str | Highlights = ""
    k: int | None = None
    absolute: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "planted", Given.of(self.planted))
        if self.k is not None and self.k < 1:
            raise BadInput(f"k is how many words are looked at, 1 or more, not {self.k}.")

    def prepare(self, explanations: Sequence[TokenScores]) -> Searched:
        """Find what was planted in these texts."""
        return Searched(self, Given.of(self.planted).open("planted").among(explanations))

    def examine(self, e: TokenScores) -> Conversation[Measured]:
        return self.prepare([e]).examine(e)


@dataclass(frozen=True)
class Searched:
    """The check, and what was planted in the texts."""

    check: ShortcutRecovery
    marked: Marked

    def left_out(self, e: TokenScores) -> str | None:
        if e in self.marked:
            return None if self.marked[e].any() else "nothing is planted in it"
        return self.marked.missing[e.text, e.target]

    def examine(self, e: TokenScores) -> Conversation[Measured]:
        if why := self.left_out(e):
            raise BadInput(f"the text {str(e.text)[:40]!r} cannot be measured: {why}; leave it out.")
        scores = np.abs(e.scores) if self.check.absolute else e.scores
        found = self.marked[e][np.argsort(-scores, kind="stable")]
        k = min(self.check.k or int(found.sum()), len(found))
        depth = float(np.flatnonzero(found)[-1] + 1)
        facts = {"recall": float(found[:k].sum() / found.sum()), "depth": depth, "planted": float(found.mean())}
        return now(Measured(float(found[:k].mean()), facts))

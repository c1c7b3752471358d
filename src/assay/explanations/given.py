"""Scores that were made elsewhere, as an explanation that every check can test.

Scores come for tokens, for our words, for words between blanks, or for the pieces of the model's own tokenizer. They
are brought to our words (`text/alignment.py`); what stands in no word is said in a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.errors import BadInput
from assay.explanations.case import Case
from assay.explanations.foreign import ForeignScores, Label, foreign_scores
from assay.explanations.token_scores import TokenScores
from assay.questions.answers import PieceWords
from assay.questions.base import Conversation, now
from assay.statistics.arrays import Floats
from assay.text.alignment import Alignment, align
from assay.text.text import Text


@dataclass(frozen=True)
class GivenScores:
    """Explains one text by scores that are there already; what it needs to know of the model, it is given.

    `text` is the text before it was cut to the model's window, `pieces` says which pieces the model reads of a text.
    """

    source: Any
    text: Text
    labels: tuple[str, ...]
    pieces: Callable[[Text], PieceWords | None]

    def explain(self, case: Case) -> Conversation[TokenScores]:
        name = self.labels[case.target]
        others = tuple(label for label in self.labels if label != name)
        foreign = foreign_scores(self.source, Label(case.target, name, others))
        whole = self._aligned(foreign)
        scores, cut = _seen(whole.scores, self.text, case.text)
        return now(
            TokenScores(
                case,
                scores,
                facts={"signed": bool((scores < 0).any())},
                warnings=(*foreign.warnings, *_warnings(whole), *cut),
            )
        )

    def _aligned(self, foreign: ForeignScores) -> Alignment:
        if foreign.tokens is not None:
            return align(self.text, foreign.tokens, foreign.scores)
        return self._counted(foreign.scores)

    def _counted(self, scores: Floats) -> Alignment:
        """Numbers without tokens belong to whatever there are as many of: words, chunks between blanks, pieces."""
        if len(scores) == len(self.text):
            return Alignment(scores)
        chunks = [chunk for field in self.text.explained for chunk in field.string.split()]
        if len(scores) == len(chunks):
            return align(self.text, chunks, scores)
        owners = self.pieces(self.text)
        if owners is None:
            raise BadInput(f"{_counts(scores, self.text, chunks)}; give pairs (word, score) instead.")
        owned = np.unique(owners.piece)
        if len(scores) == len(owned):  # the pieces of the text alone, without the special tokens around them
            by_piece = np.zeros(owners.pieces)
            by_piece[owned] = scores
        elif len(scores) == owners.pieces:
            by_piece = scores
        else:
            pieces = f"{len(owned)} pieces, {owners.pieces} with special tokens"
            raise BadInput(f"{_counts(scores, self.text, chunks)} and {pieces}; give pairs (word, score) instead.")
        return _by_pieces(by_piece, owners, owned)


def _by_pieces(scores: Floats, owners: PieceWords, owned: np.ndarray[Any, Any]) -> Alignment:
    total = float(np.abs(scores).sum())
    lost = 1 - float(np.abs(scores[owned]).sum()) / total if total else 0.0
    unowned = owners.pieces - len(owned)
    return Alignment(owners.per_word(scores), ("special tokens",) if unowned and lost > 0 else (), lost)


def _counts(scores: Floats, text: Text, chunks: list[str]) -> str:
    start = f"{len(scores)} scores were given for {str(text)[:40]!r}"
    return f"{start}, which has {len(text)} words, {len(chunks)} between blanks"


def _seen(scores: Floats, whole: Text, seen: Text) -> tuple[Floats, tuple[str, ...]]:
    """The scores of the words that the model saw, which may be the first or the last of the text."""
    n = len(seen)
    if seen.words == whole.words:
        return scores, ()
    note = (f"given scores of {len(whole) - n} words beyond the model's window were left out",)
    if seen.words == whole.words[:n]:
        return scores[:n], note
    if seen.words == whole.words[-n:]:
        return scores[-n:], note
    return align(seen, whole.words, scores).scores, ()


def _warnings(found: Alignment) -> Iterator[str]:
    if found.lost and found.lost_share >= 0.005:
        names = ", ".join(dict.fromkeys(found.lost[:4]))
        yield f"not aligned: {100 * found.lost_share:.0f} % of the given score belongs to no word ({names})"
    if found.shared:
        names = ", ".join(found.shared[:4])
        yield f"given once for all places of a word: {names}"

"""A text whose pieces are looked at one by one: what handlers of attention and hidden states encode."""

from __future__ import annotations

from dataclasses import dataclass

from assay.models.transformers.tokens import Pieces
from assay.questions.answers import PieceWords


@dataclass(frozen=True)
class Inside:
    """A text to look into."""

    words: int
    pieces: Pieces
    readers: tuple[int, ...] | None = None  # the pieces whose states become the answer, where that is known

    def __len__(self) -> int:
        return len(self.pieces)

    @property
    def owners(self) -> PieceWords:
        return PieceWords(len(self.pieces), self.words, self.pieces.piece, self.pieces.word, self.pieces.share)

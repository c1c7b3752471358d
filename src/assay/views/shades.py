"""The words of a text with the shade that each one's score gives it; nothing here knows HTML or terminals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.explanations.base import Explanation
from assay.explanations.edits import Edits
from assay.explanations.examples import Examples
from assay.explanations.rationale import Rationale
from assay.explanations.token_scores import TokenScores
from assay.text.text import Field, Span

# Below this share of the strongest score a word is left unmarked: a page full of faint arrows says nothing.
FAINT = 0.1
# Scores below this are what is left of sums that cancel: where no word moves the answer, some methods give 1e-16.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Piece:
    """A word, or what stands between two words (`score` is None)."""

    text: str
    score: float | None = None
    share: float = 0.0
    unseen: bool = False
    signed: bool = True

    @property
    def sign(self) -> str:
        """What shape marks the word: for, against, or plain; `some` where the method gives no direction."""
        if self.score is None or self.share < FAINT:
            return "plain"
        return ("for" if self.score > 0 else "against") if self.signed else "some"

    @property
    def level(self) -> int:
        """1 to 3, from weak to strong; 0 unmarked."""
        return 0 if self.sign == "plain" else 1 + (self.share > 1 / 3) + (self.share > 2 / 3)


@dataclass(frozen=True)
class Shaded:
    """One field of a text, in pieces."""

    name: str
    pieces: tuple[Piece, ...]
    explained: bool


def shaded(e: TokenScores) -> list[Shaded]:
    """All fields; those out of focus come as one plain piece."""
    scores, strongest = iter(e.scores.tolist()), 0.0 if is_flat(e) else max(abs(e.scores), default=0.0)
    known = has_signs(e)
    unseen = e.unseen if len(e.text.explained) == 1 else ()
    return [
        Shaded(f.name, (*_pieces(f, scores, float(strongest), known), *_rest(f, given, unseen)), True)
        if f.name in e.text.focus
        else Shaded(f.name, (Piece(given),), False)
        for f, given in zip(e.text.fields, e.strings, strict=True)
    ]


def is_flat(e: TokenScores) -> bool:
    """Whether every score is zero, or nothing but rounding."""
    return bool(e.scores.size and max(abs(e.scores)) < _ROUNDING)


def has_signs(e: Explanation) -> bool:
    """Whether the scores say which way a word pulls; a method of norms says `signed: False` among its facts."""
    return bool(e.facts.get("signed", True))


def is_shaded(e: Explanation) -> bool:
    """Whether its view shades words by scores: not where texts are shown as diffs or as they are."""
    return not isinstance(e, Examples | Rationale) and not (isinstance(e, Edits) and e.form == "versions")


def _pieces(field: Field, scores: Iterator[float], strongest: float, known: bool) -> Iterator[Piece]:
    for gap, word in zip(field.gaps, field.words, strict=False):
        score = next(scores)
        yield Piece(gap)
        yield Piece(word, score, abs(score) / strongest if strongest else 0.0, signed=known)


def _rest(field: Field, given: str, unseen: tuple[Span, ...]) -> Iterator[Piece]:
    """What follows the last word in the string as it was given, with the words beyond the window."""
    at = field.spans[-1][1] if field.spans else 0
    for start, end in unseen:
        if at <= start and end <= len(given):
            yield Piece(given[at:start])
            yield Piece(given[start:end], unseen=True)
            at = end
    yield Piece(given[at:])
